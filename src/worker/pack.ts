/**
 * A session on its way out, as lines (pack-format.ts): for an export, and for a fork, which is the same with its secrets.
 *
 * K1  It is made as it is read: of a log and of files of any size a page is held at a time; memories are loaded whole.
 * K2  It holds the log and the memories as they stood at a resting point; settings and files as they are now.
 */
import type { Event } from "../core/events.ts";
import { type Rest, restOf } from "../core/rest.ts";
import { newSession } from "../core/session.ts";
import type { Engine } from "./engine.ts";
import { FORMAT, type Line } from "./pack-format.ts";
import { type Answer, no, yes } from "./problem.ts";
import { withoutSecrets } from "./secrets.ts";

/** Bytes of a file in one line: one row of its contents. */
const CHUNK = 1024 * 1024;

const BUSY = no(
  409,
  "busy",
  "The session is in a turn. Fork it when the turn has ended, or name an earlier event with `after_seq`.",
);

/** Where a fork begins: the last end of a turn at or before an event. */
export function restingPoint({ store }: Engine, after: number | undefined): Answer<Rest> {
  const s = store.session();
  // Its files are changing: no copy of them would fit any resting point.
  if (s.status === "running") return BUSY;
  if (after === undefined || after >= s.seq) {
    if (s.status === "waiting" && after === undefined) return BUSY;
    if (after !== undefined && after > s.seq) {
      return no(400, "invalid_request", `after_seq: the newest event is ${s.seq}.`);
    }
    if (s.status !== "waiting") return yes(restOf(s));
  }
  const rest = store.restBefore(after ?? s.seq);
  if (rest) return yes(rest);
  const first = store.firstRest();
  if (s.run > 0 && first?.run !== 1 && !(s.run === 1 && s.status === "waiting")) {
    return no(
      409,
      "no_resting_point",
      "This part of the session was made by an older version, which kept no resting points. Fork it as it is now.",
    );
  }
  const { id, owner, epoch, mode, settings, host } = s;
  const like = { id, owner, epoch, mode, settings, host };
  const blank = { ...like, title: "", ephemeral: false, at: 0 };
  return yes(restOf(newSession(blank)));
}

const text = (line: Line): string => JSON.stringify(line);

function* events({ store }: Engine, rest: Rest): Generator<string> {
  for (let after = 0; after < rest.upto; ) {
    const page: Event[] = [];
    for (const events of store.events(after)) {
      page.push(...events);
      if (page.length >= 100) break;
    }
    if (page.length === 0) return;
    for (const event of page.filter((e) => e.seq <= rest.upto)) {
      yield JSON.stringify(event);
      const ended = event.event === "status_update" && store.restAt(event.seq);
      if (ended) yield text({ type: "rest", rest: ended });
    }
    after = (page.at(-1) as Event).seq;
  }
}

function* memories({ store }: Engine, rest: Rest): Generator<string> {
  for (const { id, memory, kind, json } of store.rowsUpTo(rest.row)) {
    yield `{"type":"memory","id":${id},"memory":"${memory}","kind":"${kind}","message":${json}}`;
  }
}

function* files({ files: store }: Engine): Generator<string> {
  for (const { path, kind, size, mode, modified } of store.nodes()) {
    yield text({ type: "file", path, kind, size, mode, modified });
    for (let at = 0; at < size; at += CHUNK) {
      const bytes = store.read(path, { start: at, end: at + CHUNK });
      if (bytes) yield text({ type: "chunk", data: bytes.toBase64() });
    }
  }
}

function* lines(engine: Engine, rest: Rest, secrets: boolean): Generator<string> {
  const { id, settings } = engine.store.session();
  const own = secrets ? settings : withoutSecrets(settings);
  yield JSON.stringify({ type: "header", dormouse: FORMAT, session: { id, settings: own, rest } });
  yield* events(engine, rest);
  yield* memories(engine, rest);
  yield* files(engine);
  yield text({ type: "end" });
}

/** Characters that are joined before they are handed on. */
const PIECE = 256 * 1024;

/** Throws, before anything is handed out, when rows of the session are damaged. */
export function pack(engine: Engine, rest: Rest, secrets: boolean): ReadableStream<Uint8Array> {
  engine.store.verify();
  const source = lines(engine, rest, secrets);
  const encoder = new TextEncoder();
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      let piece = "";
      for (;;) {
        const next = source.next();
        if (!next.done) piece += `${next.value}\n`;
        if (next.done || piece.length >= PIECE) {
          if (piece !== "") controller.enqueue(encoder.encode(piece));
          if (next.done) controller.close();
          return;
        }
      }
    },
  });
}
