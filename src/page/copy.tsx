/** Puts a text on the clipboard and says so. */
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";
import { t } from "./strings.ts";

const SAID_MS = 1_600;

/** Without https there is no clipboard API; the old way still works then. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = document.createElement("textarea");
    box.value = text;
    box.className = "sr-only";
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done;
  }
}

export function CopyButton({ text, label = t("copy") }: { text: string; label?: string }) {
  const [said, setSaid] = useState<"copied" | "notCopied" | null>(null);
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(null), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () => void copyText(text).then((done) => setSaid(done ? "copied" : "notCopied"));
  const words = said ? t(said) : label;
  return (
    <button type="button" class="icon-button small" onClick={copy} title={words}>
      <Icon name={said === "copied" ? "check" : "copy"} />
      <span class="sr-only" role="status">
        {words}
      </span>
    </button>
  );
}
