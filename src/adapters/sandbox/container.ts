/**
 * The container sandbox on @cloudflare/sandbox. Every call of the SDK stands in this file; what is done with them is
 * the machine's business.
 *
 * N1  Without a session: the SDK's default one is a single shell that a timeout, an `exit` or an open quote breaks.
 * N2  Every call is raced with our own clock: the SDK's may stand still, or never begin.
 * N3  Errors lose their class on the way between objects: what they are is read from `errorResponse.code`.
 * N4  The SDK is loaded with the first call, and a namespace is touched by calls alone.
 */
import type { Sandbox } from "@cloudflare/sandbox";
import { LIMITS } from "../../core/limits.ts";
import type { Box } from "../../tools/box.ts";
import type { FileStore } from "../files/store.ts";
import { toBase64 } from "./base64.ts";
import type { Link, Reply } from "./link.ts";
import type { MachineParts } from "./machine.ts";
import { machineBox } from "./machine-box.ts";

/** How much longer than a call's own time we wait for it. */
const GRACE_MS = 15_000;
const PUT_MS = 60_000;
const DESTROY_MS = 20_000;
/** Between two looks at a container that is coming up. */
const STARTING_MS = 1_000;

/** The call was lost on its way; it may have been carried out. */
const INTERRUPTED = new Set([
  "OPERATION_INTERRUPTED",
  "RPC_TRANSPORT_ERROR",
  "SESSION_TERMINATED",
  "RESOURCE_BUSY",
]);
/** Nothing was carried out, and a moment later it may be. */
const STARTING = new Set(["container_starting", "container_unhealthy", "container_replaced"]);

export interface ContainerParts extends Omit<MachineParts, "link" | "places"> {
  namespace: DurableObjectNamespace<Sandbox>;
  /** The session's: lower-case letters and digits, at most 63. */
  id: string;
  /** For tests of N2: how much of its time our clock waits. */
  patience?: number;
}

/** Costs nothing until the first command. */
export const containerBox = (files: FileStore, parts: ContainerParts): Box =>
  machineBox(files, {
    link: new SdkLink(parts.namespace, parts.id, parts.patience ?? 1),
    keeper: parts.keeper,
    notice: parts.notice,
  });

type Client = ReturnType<typeof import("@cloudflare/sandbox").getSandbox>;
const LATE = Symbol("late");

class SdkLink implements Link {
  readonly #namespace: DurableObjectNamespace<Sandbox>;
  readonly #id: string;
  readonly #patience: number;

  constructor(namespace: DurableObjectNamespace<Sandbox>, id: string, patience: number) {
    this.#namespace = namespace;
    this.#id = id.toLowerCase();
    this.#patience = patience;
  }

  exec(line: string, timeoutMs: number): Promise<Reply> {
    return this.#call(timeoutMs, async (client) => {
      const { exitCode, stdout } = await client.exec(line, { timeout: timeoutMs, cwd: "/" });
      if (Number.isInteger(exitCode)) return { ok: true, exitCode, stdout };
      return { ok: false, why: "interrupted", message: "The sandbox gave no exit code." };
    });
  }

  put(path: string, bytes: Uint8Array): Promise<Reply> {
    return this.#call(PUT_MS, async (client) => {
      await client.writeFile(path, toBase64(bytes), { encoding: "base64" });
      return { ok: true, exitCode: 0, stdout: "" };
    });
  }

  async destroy(): Promise<boolean> {
    const reply = await this.#call(DESTROY_MS, async (client) => {
      await client.destroy();
      return { ok: true, exitCode: 0, stdout: "" };
    });
    return reply.ok;
  }

  async #call(ms: number, act: (client: Client) => Promise<Reply>): Promise<Reply> {
    const until = Date.now() + LIMITS.boxStartMs;
    for (;;) {
      const reply = await this.#once(ms, act);
      if (reply !== "starting") return reply;
      if (Date.now() > until) return unavailable("it did not come up in time");
      await new Promise((resolve) => setTimeout(resolve, STARTING_MS));
    }
  }

  async #once(ms: number, act: (client: Client) => Promise<Reply>): Promise<Reply | "starting"> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<typeof LATE>((resolve) => {
      timer = setTimeout(() => resolve(LATE), (ms + GRACE_MS) * this.#patience);
    });
    try {
      const reply = await Promise.race([this.#begin(act), late]);
      if (reply !== LATE) return reply;
      return { ok: false, why: "hung", message: "The sandbox does not answer." };
    } catch (error) {
      return failureOf(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A new stub each time: one whose object went away stays broken. */
  async #begin(act: (client: Client) => Promise<Reply>): Promise<Reply> {
    const { getSandbox } = await import("@cloudflare/sandbox");
    const client = getSandbox(this.#namespace, this.#id, {
      enableDefaultSession: false,
      transport: "rpc",
      sleepAfter: `${LIMITS.boxSleepS}s`,
    });
    return act(client);
  }
}

const unavailable = (why: string): Reply => ({
  ok: false,
  why: "unavailable",
  message: `The container sandbox cannot be used: ${why}. Nothing was run in its place.`,
});

interface SdkError {
  message?: string;
  errorResponse?: { code?: string; message?: string; context?: { reason?: string } };
}

function failureOf(error: unknown): Reply | "starting" {
  const { errorResponse, message } = (error ?? {}) as SdkError;
  const { code = "", context } = errorResponse ?? {};
  const why = errorResponse?.message ?? message ?? String(error);
  if (INTERRUPTED.has(code)) return { ok: false, why: "interrupted", message: why };
  if (code === "CONTAINER_UNAVAILABLE" && STARTING.has(context?.reason ?? "")) return "starting";
  return unavailable(code === "" ? why : `${why} (${code})`);
}
