/** Which lines have changed, with a few of their surroundings. */
import { diffLines } from "diff";

export interface Line {
  kind: "added" | "removed" | "same" | "gap";
  text: string;
}
export interface LineChanges {
  lines: Line[];
  added: number;
  removed: number;
}

const AROUND = 3;
/** A comparison that takes longer holds up the page. */
const MOST_MS = 300;

/** null: too different to be compared line by line. */
export function lineChanges(before: string, after: string): LineChanges | null {
  const parts = diffLines(before, after, { timeout: MOST_MS });
  if (!parts) return null;
  const lines: Line[] = [];
  let added = 0;
  let removed = 0;
  parts.forEach((part, i) => {
    const texts = part.value.replace(/\n$/, "").split("\n");
    const kind = part.added ? "added" : part.removed ? "removed" : "same";
    if (kind === "added") added += texts.length;
    if (kind === "removed") removed += texts.length;
    const shown = kind === "same" ? shortened(texts, i === 0, i === parts.length - 1) : texts;
    for (const text of shown) lines.push(text === null ? GAP : { kind, text });
  });
  return { lines, added, removed };
}
const GAP: Line = { kind: "gap", text: "" };

/** What did not change, near what did. null stands for what is left out. */
function shortened(texts: string[], first: boolean, last: boolean): (string | null)[] {
  const head = first ? 0 : AROUND;
  const tail = last ? 0 : AROUND;
  if (texts.length <= head + tail + 1) return texts;
  return [...texts.slice(0, head), null, ...(tail > 0 ? texts.slice(-tail) : [])];
}
