/** A sandbox for tests: files in a map, commands answered by a script, and every way of misbehaving. */
import {
  type Box,
  type BoxFile,
  BoxUnavailable,
  type ExecRequest,
  type ExecResult,
} from "../../src/tools/box.ts";

type Answer = (
  request: ExecRequest,
  live: (text: string) => void,
  signal: AbortSignal,
) => Promise<Partial<ExecResult>>;

export class FakeBox implements Box {
  readonly kind = "embedded";
  readonly about = "A fake.";
  readonly files = new Map<string, Uint8Array>();
  readonly requests: ExecRequest[] = [];
  /** What the next commands do; by default they print nothing and succeed. */
  answer: Answer = async () => ({});
  /** Set: every write is refused with this. */
  full: string | null = null;
  /** Set: nothing works at all. */
  unavailable: string | null = null;

  async exec(
    request: ExecRequest,
    live: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    this.#demand();
    this.requests.push(request);
    const answer = await this.answer(request, live, signal);
    return { output: "", exitCode: 0, timedOut: false, ...answer };
  }

  async read(path: string): Promise<Uint8Array | null> {
    this.#demand();
    return this.files.get(path) ?? null;
  }

  async write(path: string, bytes: Uint8Array) {
    this.#demand();
    if (this.full) return { ok: false as const, error: this.full };
    this.files.set(path, bytes);
    return { ok: true as const };
  }

  async list(folder: string): Promise<BoxFile[]> {
    this.#demand();
    return [...this.files]
      .filter(([path]) => path === folder || path.startsWith(`${folder}/`))
      .map(([path, bytes]) => ({ path, size: bytes.byteLength }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  outside(): void {}
  /** Told with the next result. */
  told: string | null = null;
  news(): string | null {
    const { told } = this;
    this.told = null;
    return told;
  }

  async rest(): Promise<void> {}
  async destroy(): Promise<void> {}

  put(path: string, content: string | Uint8Array): this {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.files.set(path, bytes);
    return this;
  }

  text(path: string): string | null {
    const bytes = this.files.get(path);
    return bytes ? new TextDecoder().decode(bytes) : null;
  }

  #demand(): void {
    if (this.unavailable) throw new BoxUnavailable(this.unavailable);
  }
}

/** Never settles, whatever happens. */
export const hangs: Answer = () => new Promise(() => {});
