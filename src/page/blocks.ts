/** Where paragraphs and code blocks begin and end, and which addresses are safe. The rules stand in text.tsx. */

export type Block = { type: "code"; text: string } | { type: "text"; text: string };

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Splits at fences; one that is never closed runs to the end. */
export function blocks(source: string): Block[] {
  const out: Block[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const flush = (type: Block["type"]) => {
    const text = type === "code" ? lines.join("\n") : lines.join("\n").trim();
    lines = [];
    if (type === "code" || text !== "") out.push({ type, text });
  };
  for (const line of source.split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    const closes = fence !== null && mark?.startsWith(fence) && line.trim() === mark;
    if (fence === null && mark) {
      flush("text");
      fence = mark;
    } else if (closes) {
      flush("code");
      fence = null;
    } else if (fence === null && line.trim() === "") flush("text");
    else lines.push(line);
  }
  flush(fence === null ? "text" : "code");
  return out;
}

export function safeUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return /^(?:https?|mailto):$/.test(url.protocol) ? url.href : null;
}
