/** One session, awake: its store and sockets joined to the core's drive. Made anew each time it wakes. */
import { fileUrl } from "../adapters/files/info.ts";
import { FileStore } from "../adapters/files/store.ts";
import { createModelPort } from "../adapters/model/providers.ts";
import { createDrive, type Drive } from "../core/drive.ts";
import type { FileInfo } from "../core/events.ts";
import { hookedModel, hookedTools } from "../core/hooked.ts";
import type { Clock } from "../core/ports.ts";
import type { Box } from "../tools/box.ts";
import type { Bindings } from "./env.ts";
import { errandsPort } from "./errands.ts";
import { HOOKS } from "./hooks.ts";
import { kitOf } from "./kit.ts";
import { observe, turnOf } from "./observe.ts";
import { outsideOf, toolsPort } from "./outside.ts";
import type { Sockets } from "./sockets.ts";
import type { SessionStore } from "./store.ts";

export interface Engine {
  store: SessionStore;
  files: FileStore;
  box: Box;
  drive: Drive;
  /** Nothing is going to run for a while: what costs is released. */
  rest(): Promise<void>;
  /** The session is about to be deleted. */
  destroy(): Promise<void>;
  fileInfo(path: string): FileInfo | null;
}

export interface EngineParts {
  ctx: DurableObjectState;
  env: Bindings;
  store: SessionStore;
  sockets: Sockets;
  wake(at: number | null): void;
  broken(error: unknown): void;
}

const clock: Clock = { now: () => Date.now() };

export function createEngine({ ctx, env, store, sockets, wake, broken }: EngineParts): Engine {
  const observer = observe(env, (work) => ctx.waitUntil(work));
  const files = new FileStore(ctx.storage.sql, clock);
  const fileInfo = (path: string): FileInfo | null =>
    files.info(path, (p) => fileUrl(store.session().id, p));
  // What is outside tells the drive, which is made of it.
  const later: { drive?: Drive } = {};
  const outside = outsideOf({
    ...{ ctx, env, store, files, fileInfo, header: observer.header },
    notice: (code) => later.drive?.keep({ type: "noticed", code }),
  });
  const { box, servers } = outside;
  const drive = createDrive(
    {
      store,
      clock,
      model: hookedModel(createModelPort({ ...env }), HOOKS),
      tools: hookedTools(toolsPort(outside), HOOKS),
      trace: HOOKS.trace,
      tell: observer.tell,
      traceparent: (s, key) => observer.header(turnOf(s), key),
      servers,
      errands: errandsPort(env, () => store.session()),
      attended: () => sockets.attended,
      live: (frame) => sockets.live(frame),
      wake,
      broken,
    },
    kitOf(env, box, store.session().parent !== ""),
  );
  later.drive = drive;
  const { rest, destroy } = outside;
  return { store, files, box, drive, rest, destroy, fileInfo };
}
