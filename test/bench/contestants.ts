/**
 * What the benchmark compares, each in a workerd process of its own with its real bundle: the floor, Dormouse, and, when
 * they are installed, its peers.
 *
 * C1  A run is one session from its creation to its end. Nobody listens while it works, so that no frames are counted.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { FloorRun } from "./floor.ts";
import type { InstantModel } from "./instant-model.ts";
import { ask, bundle, json, type Program, type Served, serve } from "./workerd.ts";

/** Tool calls of a session, and pieces of text before each. */
export interface Length {
  steps: number;
  deltas?: number;
}

export interface Contestant {
  name: string;
  served: Served;
  /** Runs one session of that length. */
  run(length: Length): Promise<void>;
}

let runs = 0;
export const nameOf = ({ steps, deltas = 0 }: Length, kind = "full") =>
  `bench-${++runs}-${steps}-${deltas}-${kind}`;

export const NOTES = "one\ntwo\nthree\n";
/** What `file_read` says of it; the floor stores and sends the same. */
export const RESULT = "one\ntwo\nthree\n\n[lines 1 to 3 of 3]";

/** Bundles and places to work in, below one folder. */
export class Programs {
  readonly #folder: string;
  readonly #model: Pick<InstantModel, "url">;

  constructor(folder: string, model: Pick<InstantModel, "url">) {
    this.#folder = folder;
    this.#model = model;
  }

  async #make(name: string, entry: string, program: Pick<Program, "objects" | "vars">) {
    const dir = join(this.#folder, name);
    const start = await bundle(fileURLToPath(new URL(entry, import.meta.url)), dir);
    return { dir, start, state: this.state(name), ...program };
  }

  /** Others of the same names, beside these. */
  apart(name: string): Programs {
    return new Programs(this.state(name), this.#model);
  }

  /** An empty folder for storage, by its name. */
  state(name: string): string {
    const dir = join(this.#folder, `state-${name}`);
    mkdirSync(dir, { recursive: true });
    return dir;
  }

  dormouse(entry = "../../src/index.ts"): Promise<Program> {
    return this.#make("dormouse", entry, {
      objects: { SESSION: "SessionObject", DIRECTORY: "DirectoryObject", Sandbox: "Sandbox" },
      vars: {
        PROVIDER: "custom",
        CUSTOM_BASE_URL: this.#model.url,
        CUSTOM_API_KEY: "none",
        SANDBOX: "embedded",
      },
    });
  }

  floor(entry = "floor.ts"): Promise<Program> {
    const [objects, vars] = [{ FLOOR: "Floor" }, { MODEL_URL: this.#model.url }];
    return this.#make("floor", entry, { objects, vars });
  }

  peer(name: PeerName, entry = `peers/${name}.js`): Promise<Program> {
    const [objects, vars] = [{ PEER: "Peer" }, { MODEL_URL: this.#model.url }];
    return this.#make(name, entry, { objects, vars });
  }

  /** With the meter of what is billed on its object. */
  countedPeer(name: PeerName): Promise<Program> {
    const from = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));
    const entry = join(this.state(`counted-${name}`), "entry.js");
    writeFileSync(
      entry,
      `import worker, { Peer as Bare } from ${from(`peers/${name}.js`)};
import { meter, readMeter } from ${from("../worker/support/meter.ts")};
export class Peer extends Bare {
  constructor(ctx, env) {
    meter("peer", ctx);
    super(ctx, env);
  }
}
export default { fetch: (request, env) => readMeter(request) ?? worker.fetch(request, env) };
`,
    );
    return this.peer(name, pathToFileURL(entry).href);
  }
}

/** A new session at rest, with a file to read; `name` is a run of the instant model. */
export async function newSession(served: Served, name: string): Promise<string> {
  const settings = {
    provider: "custom",
    model: name,
    limits: { maxIterations: 1_000_000, maxContextTokens: 1_000_000_000 },
  };
  const { id } = await ask<{ id: string }>(served, "/api/sessions", json({ settings }));
  const base = `/api/sessions/${id}`;
  await ask(served, `${base}/files/notes.txt`, { method: "PUT", body: NOTES });
  return base;
}

/** One turn of a session, to its end. */
export async function work(
  served: Served,
  base: string,
  model: InstantModel,
  name: string,
): Promise<void> {
  await ask(served, `${base}/messages`, json({ text: "Read it" }));
  await model.finished(name);
  // The last reply is out: the end is a matter of milliseconds.
  for (let tries = 0; tries < 1_000; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const view = await ask<{ status: string; usage: { tool_calls: number } }>(served, base);
    if (view.status === "running") continue;
    if (view.status === "completed" && view.usage.tool_calls === Number(name.split("-")[2])) return;
    throw new Error(`it ended ${view.status} after ${view.usage.tool_calls} calls`);
  }
  throw new Error("the session did not end");
}

export const startDormouse = async (programs: Programs, model: InstantModel): Promise<Contestant> =>
  dormouse(await serve(await programs.dormouse()), model);

function dormouse(served: Served, model: InstantModel): Contestant {
  return {
    name: "dormouse",
    served,
    async run(length) {
      const name = nameOf(length);
      await work(served, await newSession(served, name), model, name);
    },
  };
}

/** `like`: a request of Dormouse's executor; the floor begins with the same fields and messages. */
export const startFloor = async (programs: Programs, like: string): Promise<Contestant> =>
  bare("floor", "floor", await serve(await programs.floor()), like);

export const PEERS = ["think", "ai", "openai-agents", "langgraph"] as const;
export type PeerName = (typeof PEERS)[number];

/** A peer is given the same: its file stands in peers/, its package must be installed there. */
export const startPeer = async (
  programs: Programs,
  name: PeerName,
  like: string,
): Promise<Contestant> => bare(name, "peer", await serve(await programs.peer(name)), like);

/** All of them with the meter on their objects. */
export async function startCounted(
  programs: Programs,
  model: InstantModel,
  like: string,
  peers: readonly PeerName[],
): Promise<Contestant[]> {
  const floor = await serve(await programs.floor("../worker/support/counted-floor.ts"));
  const ours = await serve(await programs.dormouse("../worker/support/counted.ts"));
  const all = [bare("floor", "floor", floor, like), dormouse(ours, model)];
  for (const name of peers)
    all.push(bare(name, "peer", await serve(await programs.countedPeer(name)), like));
  return all;
}

function bare(name: string, kind: string, served: Served, like: string): Contestant {
  const { model: _, messages, ...fields } = JSON.parse(like) as FloorRun["fields"];
  return {
    name,
    served,
    async run(length) {
      const model = nameOf(length, kind);
      const run: FloorRun = { model, fields, messages: messages as unknown[], result: RESULT };
      const done = await ask<{ steps: number }>(served, `/${model}`, json(run));
      if (done.steps !== length.steps)
        throw new Error(`${name} made ${done.steps} steps instead of ${length.steps}`);
    },
  };
}

/** A short session whose first work request shows what Dormouse sends. */
export async function sampleRequest(model: InstantModel, dormouse: Contestant): Promise<string> {
  await dormouse.run({ steps: 1 });
  return model.firstWork(`bench-${runs}-1-0-full`);
}
