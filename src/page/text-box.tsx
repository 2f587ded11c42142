/** A text box that grows with its text, and in which only a plain Enter sends. */
import { useEffect, useRef } from "preact/hooks";
import { filesOf } from "./files/drop.tsx";
import { type EnterGuard, enterGuard } from "./ime.ts";

interface Props {
  label: string;
  placeholder: string;
  value: string;
  /** Rises when the box should take the focus. */
  focus?: number;
  onInput(text: string): void;
  onSend(): void;
  /** Files that were pasted. */
  onFiles?(files: File[]): void;
}

export function TextBox(props: Props) {
  const { label, placeholder, value, focus = 0, onInput, onSend, onFiles } = props;
  const box = useRef<HTMLTextAreaElement>(null);
  const guard = useRef<EnterGuard | null>(null);
  guard.current ??= enterGuard();
  useEffect(() => {
    if (box.current) grow(box.current);
  }, [value]);
  useEffect(() => {
    if (focus > 0) box.current?.focus();
  }, [focus]);
  return (
    <textarea
      ref={box}
      rows={1}
      aria-label={label}
      placeholder={placeholder}
      value={value}
      dir="auto"
      enterkeyhint="send"
      onPaste={(e) => {
        const files = onFiles ? filesOf(e.clipboardData) : [];
        if (files.length === 0) return;
        e.preventDefault();
        onFiles?.(files);
      }}
      onInput={(e) => onInput(e.currentTarget.value)}
      onCompositionStart={() => guard.current?.started()}
      onCompositionEnd={() => guard.current?.ended()}
      onKeyDown={(e) => {
        if (!guard.current?.sends(e)) return;
        e.preventDefault();
        onSend();
      }}
    />
  );
}

function grow(box: HTMLTextAreaElement): void {
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight + 2, 240)}px`;
}
