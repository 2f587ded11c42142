/** Where people write. While it works, Stop stands where Send was, until something is written. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Delivery } from "../core/events.ts";
import { Icon } from "./icons.tsx";
import { keepDraft, readDraft } from "./storage.ts";
import { type StringKey, t } from "./strings.ts";
import { TextBox } from "./text-box.tsx";

export interface ComposerState {
  /** idle: the next task · running: a message joins it · held: an approval or budget waits. */
  mode: "idle" | "running" | "held";
  delivery: Delivery;
}
interface Props extends ComposerState {
  /** Drafts are kept under it. */
  name: string;
  placeholder: string;
  disabled?: boolean;
  /** Put into the box from outside, e.g. an example; rises with each. */
  offer?: { text: string; count: number };
  children?: ComponentChildren;
  onSend(text: string): void;
  onStop?(): void;
}
const WILL: Record<Delivery, StringKey> = {
  steer: "willSteer",
  follow_up: "willFollow",
  replan: "willReplan",
  reject: "willReject",
};

export function useDraft(name: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => readDraft(name));
  useEffect(() => setText(readDraft(name)), [name]);
  const change = (next: string) => {
    keepDraft(name, next);
    setText(next);
  };
  return [text, change];
}

export function Composer(props: Props) {
  const { name, mode, placeholder, offer, disabled = false, onSend, onStop } = props;
  const [text, setText] = useDraft(name);
  useEffect(() => {
    if (offer && offer.count > 0) setText(offer.text);
  }, [offer?.count]);
  const empty = text.trim() === "";
  const send = () => {
    if (empty || disabled) return;
    setText("");
    onSend(text.trim());
  };
  return (
    <form
      class="composer"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      <TextBox
        label={t("message")}
        placeholder={placeholder}
        value={text}
        focus={offer?.count ?? 0}
        onInput={setText}
        onSend={send}
      />
      <div class="composer-foot">
        {props.children}
        <Hint mode={mode} delivery={props.delivery} empty={empty} />
        {onStop && <StopButton onStop={onStop} />}
        {(!onStop || !empty) && <SendButton disabled={empty || disabled} />}
      </div>
    </form>
  );
}

function SendButton({ disabled }: { disabled: boolean }) {
  return (
    <button type="submit" class="button primary" disabled={disabled}>
      {t("send")} <Icon name="up" />
    </button>
  );
}

export function StopButton({ onStop }: { onStop(): void }) {
  return (
    <button type="button" class="button stop" onClick={onStop}>
      <Icon name="square" /> {t("stop")}
    </button>
  );
}

function Hint({ mode, delivery, empty }: ComposerState & { empty: boolean }) {
  if (mode === "held" && !empty) return <p class="hint strong">{t("willQueue")}</p>;
  if (mode === "running" && !empty) return <p class="hint strong">{t(WILL[delivery])}</p>;
  return <p class="hint">{t("keys")}</p>;
}
