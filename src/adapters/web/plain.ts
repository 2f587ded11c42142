/** HTML as bare text, by a scanner that reads it once: for what the real reader cannot take. */

const SILENT = ["script", "style", "template", "noscript", "svg"];
const BLOCK = /^\/?(p|div|br|li|tr|h[1-6]|ul|ol|table|section|article|header|footer|pre|hr|dt|dd)$/;
const ENTITIES: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

export function plainText(html: string): string {
  const lower = html.toLowerCase();
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open < 0) break;
    parts.push(html.slice(at, open));
    const close = html.indexOf(">", open);
    if (close < 0) return tidy(parts);
    const name = /^\/?[a-z][a-z0-9]*/.exec(lower.slice(open + 1, open + 20))?.[0] ?? "";
    at = close + 1;
    if (BLOCK.test(name)) parts.push("\n");
    if (SILENT.includes(name)) {
      const end = lower.indexOf(`</${name}`, at);
      if (end < 0) return tidy(parts);
      at = end;
    }
  }
  parts.push(html.slice(at));
  return tidy(parts);
}

const tidy = (parts: string[]): string =>
  parts
    .join("")
    .replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: string) => ENTITIES[name] ?? "")
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "")
    .join("\n");
