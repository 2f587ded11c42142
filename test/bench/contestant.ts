/**
 * What the benchmark compares, each in a workerd process of its own with its real bundle: the floor, Dormouse, and, when
 * they are installed, its peers.
 *
 * C1  A run is one session from its creation to its end. Nobody listens while it works, so that no frames are counted.
 */
import { fileURLToPath } from "node:url";
import { unstable_startWorker } from "wrangler";
import { cpuMs, descendants } from "./cpu.ts";
import type { FloorRun } from "./floor.ts";
import type { InstantModel } from "./instant-model.ts";

export interface Contestant {
  name: string;
  /** Runs one session of so many tool calls. */
  run(steps: number): Promise<void>;
  /** CPU milliseconds of its process so far. */
  cpu(): number;
  close(): Promise<void>;
}

export interface Served {
  url: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  cpu(): number;
  close(): Promise<void>;
}

export async function serve(
  config: URL,
  vars: Record<string, string>,
  entrypoint?: URL,
): Promise<Served> {
  const before = new Set(descendants("workerd"));
  // Not `createTestHarness`: it sends every outgoing request through Node, which costs more than what is measured.
  const worker = await unstable_startWorker({
    config: fileURLToPath(config),
    ...(entrypoint ? { entrypoint: fileURLToPath(entrypoint) } : {}),
    bindings: Object.fromEntries(
      Object.entries(vars).map(([name, value]) => [name, { type: "plain_text", value }]),
    ),
    dev: {
      server: { hostname: "127.0.0.1", port: 0 },
      logLevel: "none",
      watch: false,
      persist: false,
      inspector: false,
    },
  });
  await worker.ready;
  const url = await worker.url;
  // The proxy is there before the Worker itself; an answer means that both are.
  await (await fetch(url)).text();
  const pids = descendants("workerd").filter((pid) => !before.has(pid));
  if (pids.length === 0) throw new Error("workerd was not found among the processes");
  return {
    url: url.origin,
    fetch: (path, init) => fetch(new URL(path, url), init),
    cpu: () => cpuMs(pids),
    close: () => worker.dispose(),
  };
}

let runs = 0;
const nameOf = (steps: number, kind = "full") => `bench-${++runs}-${steps}-${kind}`;

const json = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

async function ok(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
}

export const NOTES = "one\ntwo\nthree\n";
/** What `file_read` says of it; the floor stores and sends the same. */
export const RESULT = "one\ntwo\nthree\n\n[lines 1 to 3 of 3]";

export async function startDormouse(model: InstantModel): Promise<Contestant> {
  const served = await serve(new URL("../../wrangler.toml", import.meta.url), {
    PROVIDER: "custom",
    CUSTOM_BASE_URL: model.url,
    CUSTOM_API_KEY: "none",
  });
  const session = async (name: string): Promise<string> => {
    const settings = {
      provider: "custom",
      model: name,
      limits: { maxIterations: 1_000_000, maxContextTokens: 1_000_000_000 },
    };
    const made = await ok(await served.fetch("/api/sessions", json({ settings })));
    return ((await made.json()) as { id: string }).id;
  };
  return {
    name: "dormouse",
    cpu: served.cpu,
    close: served.close,
    async run(steps) {
      const name = nameOf(steps);
      const base = `/api/sessions/${await session(name)}`;
      const file = { method: "PUT", body: NOTES };
      await ok(await served.fetch(`${base}/files/notes.txt`, file));
      await ok(await served.fetch(`${base}/messages`, json({ text: "Read it" })));
      await model.finished(name);
      await ended(served, base, steps);
    },
  };
}

/** The last reply is out: the end is a matter of milliseconds. */
async function ended(served: Served, base: string, steps: number): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const view = (await (await ok(await served.fetch(base))).json()) as {
      status: string;
      usage: { tool_calls: number };
    };
    if (view.status === "running") continue;
    if (view.status === "completed" && view.usage.tool_calls === steps) return;
    throw new Error(`the session ended ${view.status} after ${view.usage.tool_calls} calls`);
  }
  throw new Error("the session did not end");
}

/** `like`: a request of Dormouse's executor; the floor begins with the same fields and messages. */
export async function startFloor(model: InstantModel, like: string): Promise<Contestant> {
  const served = await serve(new URL("floor.toml", import.meta.url), { MODEL_URL: model.url });
  return bare("floor", "floor", served, like);
}

export const PEERS = ["think", "ai", "openai-agents", "langgraph"] as const;
export type PeerName = (typeof PEERS)[number];

/** A peer is given the same: its file stands in peers/, its package must be installed there. */
export async function startPeer(
  name: PeerName,
  model: InstantModel,
  like: string,
): Promise<Contestant> {
  const at = (file: string) => new URL(`peers/${file}`, import.meta.url);
  const served = await serve(at("peer.toml"), { MODEL_URL: model.url }, at(`${name}.js`));
  return bare(name, "peer", served, like);
}

function bare(name: string, kind: string, served: Served, like: string): Contestant {
  const { model: _, messages, ...fields } = JSON.parse(like) as FloorRun["fields"];
  return {
    name,
    cpu: served.cpu,
    close: served.close,
    async run(steps) {
      const model = nameOf(steps, kind);
      const run: FloorRun = { model, fields, messages: messages as unknown[], result: RESULT };
      const response = await ok(await served.fetch(`/${model}`, json(run)));
      const done = ((await response.json()) as { steps: number }).steps;
      if (done !== steps) throw new Error(`${name} made ${done} steps instead of ${steps}`);
    },
  };
}

/** A short session whose first work request shows what Dormouse sends. */
export async function sampleRequest(model: InstantModel, dormouse: Contestant): Promise<string> {
  await dormouse.run(1);
  return model.firstWork(`bench-${runs}-1-full`);
}
