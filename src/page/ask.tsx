/**
 * The loudest thing on the page: it waits for you.
 *
 * Q1  It takes the focus, but never with a button: an Enter that was meant for something else answers nothing.
 *     Who is writing to the session keeps the focus.
 * Q2  Digits choose an option only while nobody is typing: not in a field, not in the first moment, not right
 *     after another key.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Receipt } from "../client/index.ts";
import type { Wait } from "../core/events.ts";
import { wordsFor } from "./api.ts";
import { StopButton, useDraft } from "./composer.tsx";
import { Chips } from "./files/chips.tsx";
import { DropHint, PickFiles, useDrop } from "./files/drop.tsx";
import type { Uploads } from "./files/use-uploads.ts";
import { Icon, Sleeper } from "./icons.tsx";
import { singleKeys } from "./storage.ts";
import { t } from "./strings.ts";
import { Rich } from "./text.tsx";
import { TextBox } from "./text-box.tsx";
import type { Attached } from "./use-outbox.ts";
import { plainText } from "./viewers/terminal.ts";

interface Props {
  wait: Wait;
  onAnswer(given: { text?: string; approved?: boolean }): Promise<Receipt>;
  /** An answer with files is a message: the server takes it for the answer while a question waits. */
  onMessage(text: string, files: Attached[]): void;
  /** What goes with an answer; may have been begun before the question opened. */
  uploads: Uploads;
  onStop(): void;
}
const SETTLE_MS = 600;
const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);

export function Ask({ wait, onAnswer, onMessage, uploads, onStop }: Props) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const box = useTakesFocus();
  const give = (given: { text?: string; approved?: boolean }) => {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    void onAnswer(given).then((receipt) => {
      setBusy(false);
      if (!receipt.ok) setProblem(wordsFor(receipt.code, receipt.message));
    });
  };
  return (
    <section class="ask" ref={box} tabIndex={-1} aria-labelledby="ask-title" data-testid="question">
      <h2 id="ask-title">
        <Icon name="dot" /> {t(wait.kind)}
      </h2>
      <div class="ask-text">
        <Rich text={wait.text} />
      </div>
      {wait.tool && <WhatRuns tool={wait.tool} />}
      {wait.kind === "question" ? (
        <Question
          wait={wait}
          busy={busy}
          give={give}
          onMessage={onMessage}
          uploads={uploads}
          onStop={onStop}
        />
      ) : (
        <Decision busy={busy} give={give} onStop={onStop} />
      )}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="asleep">
        <Sleeper /> {t("asleep")}
      </p>
    </section>
  );
}

function useTakesFocus() {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const held = document.activeElement;
    const writing = held instanceof HTMLTextAreaElement && held.value !== "";
    if (!writing && !box.current?.contains(held)) box.current?.focus();
  }, []);
  return box;
}

interface PartProps {
  busy: boolean;
  give(given: { text?: string; approved?: boolean }): void;
  onStop(): void;
}

type QuestionProps = PartProps & Pick<Props, "wait" | "onMessage" | "uploads">;

function Question({ wait, busy, give, onMessage, uploads, onStop }: QuestionProps) {
  const [text, setText] = useDraft(`answer-${wait.wait_id}`);
  const form = useRef<HTMLFormElement>(null);
  const over = useDrop(form, uploads.add);
  const options = wait.options ?? [];
  const choose = (option: string) => give({ text: option });
  useDigits(options, choose);
  const send = () => {
    if (text.trim() === "" || busy || uploads.busy) return;
    const files = uploads.take();
    if (files.length === 0) return give({ text: text.trim() });
    setText("");
    onMessage(text.trim(), files);
  };
  return (
    <>
      <Options options={options} busy={busy} onChoose={choose} />
      <Chips uploads={uploads} />
      {over && <DropHint />}
      <form
        ref={form}
        class="answer"
        onSubmit={(e) => {
          e.preventDefault();
          send();
        }}
      >
        <TextBox
          label={t("yourAnswer")}
          placeholder={t(options.length > 0 ? "orType" : "typeAnswer")}
          value={text}
          focus={options.length > 0 ? 0 : 1}
          onInput={setText}
          onSend={send}
          onFiles={uploads.add}
        />
        <PickFiles onFiles={uploads.add} />
        <button
          type="submit"
          class="button needs"
          disabled={busy || uploads.busy || text.trim() === ""}
        >
          {t("answer")}
        </button>
        <StopButton onStop={onStop} />
      </form>
    </>
  );
}

function Options(props: { options: string[]; busy: boolean; onChoose(option: string): void }) {
  return (
    <div class="options">
      {props.options.map((option, i) => (
        <button
          key={option}
          type="button"
          class="option"
          disabled={props.busy}
          onClick={() => props.onChoose(option)}
        >
          {i < 9 && <kbd>{i + 1}</kbd>} <span dir="auto">{option}</span>
        </button>
      ))}
    </div>
  );
}

function useDigits(options: readonly string[], choose: (option: string) => void): void {
  const latest = useRef(choose);
  latest.current = choose;
  useEffect(() => {
    let quietSince = Date.now();
    const press = (event: KeyboardEvent) => {
      const settled = Date.now() - quietSince >= SETTLE_MS;
      quietSince = Date.now();
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
      if (!plain || !settled || isField(event.target) || !singleKeys()) return;
      const option = /^[1-9]$/.test(event.key) ? options[Number(event.key) - 1] : undefined;
      if (option !== undefined) latest.current(option);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function Decision({ busy, give, onStop }: PartProps) {
  return (
    <div class="decision">
      <button
        type="button"
        class="button"
        disabled={busy}
        onClick={() => give({ approved: false })}
      >
        <Icon name="cross" /> {t("decline")}
      </button>
      <button
        type="button"
        class="button needs"
        disabled={busy}
        onClick={() => give({ approved: true })}
      >
        <Icon name="check" /> {t("approve")}
      </button>
      <StopButton onStop={onStop} />
    </div>
  );
}

/** Exactly what will run, whole. */
function WhatRuns({ tool }: { tool: NonNullable<Wait["tool"]> }) {
  return (
    <div class="what-runs">
      <p class="mono">{tool.function}</p>
      {Object.entries(tool.args).map(([name, value]) => (
        <div key={name} class="argument">
          <span class="muted">{name}</span>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long command is scrolled by keys. */}
          <pre tabIndex={0}>
            {plainText(typeof value === "string" ? value : JSON.stringify(value, null, 2))}
          </pre>
        </div>
      ))}
    </div>
  );
}
