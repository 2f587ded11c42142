/**
 * Tar archives (GNU flavour: names of any length and script), as far as a workspace needs them: regular files.
 *
 * T1  Written piece by piece and read chunk by chunk: memory holds one file at a time, never the archive.
 * T2  A reader believes nothing: what is no regular file, or larger than allowed, is skipped; a broken archive throws.
 */
const BLOCK = 512;
const NAME = 100;
const LONG_NAME = "L";
const FILE = "0";

export interface TarEntry {
  /** Relative, with `/`. */
  path: string;
  mode: number;
  /** Milliseconds since the epoch; an archive keeps seconds. */
  modified: number;
  size: number;
}

const encoder = new TextEncoder();
const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function header(name: Uint8Array, type: string, entry: Omit<TarEntry, "path">): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => block.set(encoder.encode(text), at);
  const octal = (at: number, digits: number, value: number) =>
    put(at, `${value.toString(8).padStart(digits, "0")}\0`);
  block.set(name.subarray(0, NAME));
  octal(100, 7, entry.mode);
  octal(108, 7, 0);
  octal(116, 7, 0);
  octal(124, 11, entry.size);
  octal(136, 11, Math.max(0, Math.floor(entry.modified / 1000)));
  put(148, " ".repeat(8));
  put(156, type);
  put(257, "ustar  \0");
  put(148, `${checksum(block).toString(8).padStart(6, "0")}\0 `);
  return block;
}

const checksum = (block: Uint8Array): number => block.reduce((sum, byte) => sum + byte, 0);

/** What stands before a file's bytes; `padAfter` zeros stand behind them. */
export function tarHeader(entry: TarEntry): Uint8Array {
  const name = encoder.encode(entry.path);
  const own = header(name, FILE, entry);
  if (name.byteLength <= NAME) return own;
  const size = name.byteLength + 1;
  const long = header(encoder.encode("././@LongLink"), LONG_NAME, { mode: 0, modified: 0, size });
  const out = new Uint8Array(BLOCK + size + padding(size) + BLOCK);
  out.set(long);
  out.set(name, BLOCK);
  out.set(own, out.byteLength - BLOCK);
  return out;
}
export const padAfter = (size: number): Uint8Array => new Uint8Array(padding(size));
export const TAR_END = new Uint8Array(2 * BLOCK);

interface Reading extends TarEntry {
  type: string;
  bytes: Uint8Array | null;
  at: number;
}

/** Takes an archive in chunks of any size and hands over each file when it is whole. */
export function tarReader(
  maxBytes: number,
  onFile: (entry: TarEntry, bytes: Uint8Array) => void,
): (chunk: Uint8Array) => void {
  const block = new Uint8Array(BLOCK);
  let filled = 0;
  let open: Reading | null = null;
  let skip = 0;
  let longName: string | null = null;

  const close = (done: Reading): void => {
    open = null;
    skip = padding(done.size);
    if (done.type === LONG_NAME && done.bytes) longName = text(done.bytes);
    else if (done.type === FILE && done.bytes) onFile(done, done.bytes);
  };
  const begin = (): void => {
    if (block.every((byte) => byte === 0)) return;
    const next = parse(block);
    if (next.type !== LONG_NAME && longName !== null) {
      next.path = longName;
      longName = null;
    }
    const wanted = next.type === FILE || next.type === LONG_NAME;
    open = {
      ...next,
      at: 0,
      bytes: wanted && next.size <= maxBytes ? new Uint8Array(next.size) : null,
    };
    if (next.size === 0) close(open);
  };

  return (chunk) => {
    let at = 0;
    while (at < chunk.byteLength) {
      if (open) {
        const part = chunk.subarray(at, at + open.size - open.at);
        open.bytes?.set(part, open.at);
        open.at += part.byteLength;
        at += part.byteLength;
        if (open.at === open.size) close(open);
      } else if (skip > 0) {
        const part = Math.min(skip, chunk.byteLength - at);
        skip -= part;
        at += part;
      } else {
        const part = chunk.subarray(at, at + BLOCK - filled);
        block.set(part, filled);
        filled = (filled + part.byteLength) % BLOCK;
        at += part.byteLength;
        if (filled === 0) begin();
      }
    }
  };
}

const text = (bytes: Uint8Array): string => {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end));
};

function parse(block: Uint8Array): TarEntry & { type: string } {
  const field = (at: number, length: number): string =>
    text(block.subarray(at, at + length)).trim();
  const blank = block.slice().fill(32, 148, 156);
  if (Number.parseInt(field(148, 8), 8) !== checksum(blank)) {
    throw new Error("the archive of changed files is broken");
  }
  return {
    path: text(block.subarray(0, NAME)),
    mode: Number.parseInt(field(100, 8), 8) & 0o777,
    size: Number.parseInt(field(124, 12), 8),
    modified: Number.parseInt(field(136, 12), 8) * 1000,
    type: field(156, 1) || FILE,
  };
}
