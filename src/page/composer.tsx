/** Where people write. While it works, Stop stands where Send was, until something is written. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Delivery } from "../core/events.ts";
import { Chips } from "./files/chips.tsx";
import { DropHint, PickFiles, useDrop } from "./files/drop.tsx";
import type { Uploads } from "./files/use-uploads.ts";
import { Icon } from "./icons.tsx";
import { keepDraft, readDraft } from "./storage.ts";
import { type StringKey, t } from "./strings.ts";
import { TextBox } from "./text-box.tsx";
import type { Attached } from "./use-outbox.ts";

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
  /** What goes with the message. */
  uploads: Uploads;
  /** There is nothing to send in it; the files stay. */
  isNothing?(text: string): boolean;
  onSend(text: string, files: Attached[]): void;
  onStop?(): void;
}
export const WILL: Record<Delivery, StringKey> = {
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
  const { name, mode, placeholder, offer, disabled = false, uploads, onSend, onStop } = props;
  const form = useRef<HTMLFormElement>(null);
  const [text, setText] = useDraft(name);
  const over = useDrop(form, uploads.add);
  useEffect(() => {
    if (offer && offer.count > 0) setText(offer.text);
  }, [offer?.count]);
  const empty = text.trim() === "";
  const ready = !empty && !disabled && !uploads.busy;
  const send = () => {
    if (!ready) return;
    setText("");
    if (!props.isNothing?.(text.trim())) onSend(text.trim(), uploads.take());
  };
  return (
    <form
      ref={form}
      class="composer"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      {over && <DropHint />}
      <Chips uploads={uploads} />
      <TextBox
        label={t("message")}
        placeholder={placeholder}
        value={text}
        focus={offer?.count ?? 0}
        onInput={setText}
        onSend={send}
        onFiles={uploads.add}
      />
      <div class="composer-foot">
        <PickFiles onFiles={uploads.add} />
        {props.children}
        <Hint mode={mode} delivery={props.delivery} empty={empty} files={uploads.list.length} />
        {onStop && <StopButton onStop={onStop} />}
        {(!onStop || !empty) && <SendButton disabled={!ready} />}
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

function Hint(props: ComposerState & { empty: boolean; files: number }) {
  const { mode, delivery, empty, files } = props;
  if (mode === "held" && !empty) return <p class="hint strong">{t("willQueue")}</p>;
  if (mode === "running" && !empty) return <p class="hint strong">{t(WILL[delivery])}</p>;
  if (empty && files > 0) return <p class="hint strong">{t("sayWhat")}</p>;
  return <p class="hint">{t("keys")}</p>;
}
