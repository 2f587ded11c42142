/** Bytes of the web as text: the charset by byte order mark, header or the page's own word, else UTF-8. */

/** How far into a page its own word on its charset is looked for. */
const META_BYTES = 1024;
const META =
  /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]+)|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]+)/i;

export function charsetOf(contentType: string, bytes: Uint8Array): string {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  const header = /charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType)?.[1];
  if (header) return header;
  let start = "";
  for (const byte of bytes.subarray(0, META_BYTES)) start += String.fromCharCode(byte);
  const meta = META.exec(start);
  const named = meta?.[1] ?? meta?.[2] ?? "utf-8";
  // A page that says UTF-16 in bytes that could be read as ASCII is not.
  return /^utf-?16/i.test(named) ? "utf-8" : named;
}

/** A label that nobody knows counts as UTF-8. */
export function decode(bytes: Uint8Array, label: string): string {
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
