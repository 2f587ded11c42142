/**
 * What people ask of a session: say, answer, stop, read the log. Each is checked first (without a pass: nothing happens,
 * and it says what there must be room for), then kept.
 *
 * A1  A client's id is taken in once: the same id again is acknowledged and changes nothing.
 * A2  A refused request has stored nothing.
 */
import { routeIn } from "../core/command.ts";
import type { FileInfo, Wait } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import type { ClientMark } from "../core/ports.ts";
import { queuedMessage } from "../core/queue.ts";
import type { Route } from "../core/route.ts";
import type { Session } from "../core/session.ts";
import type { SettingsLayer } from "../core/settings.ts";
import { mergeSettings } from "../core/settings-merge.ts";
import type { PatchBody } from "../core/settings-patch.ts";
import type { AnswerBody, MessageBody, QueueBody } from "../core/wire.ts";
import { resolvePath } from "../tools/paths.ts";
import { eventsIn } from "./damage.ts";
import type { Engine } from "./engine.ts";
import type { Pass } from "./link.ts";
import { type Answer, no, yes } from "./problem.ts";
import type { QuotaName } from "./quotas.ts";
import { kept, patchedLayer } from "./secrets.ts";
import type { SessionStore } from "./store.ts";
import { transcript } from "./transcript.ts";

export interface Ack {
  id: string;
  seq: number;
  duplicate: boolean;
  delivery: ClientMark["as"];
  /** First event of the turn that took it in, as far as that is the newest turn. */
  from: number;
  /** Of a dry run: what there must be room for. */
  needs?: QuotaName[];
}

const ackOf = ({ store }: Engine, { id, seq, as }: ClientMark, duplicate: boolean): Answer<Ack> => {
  const { turnSeq } = store.session();
  return yes({ id, seq, duplicate, delivery: as, from: turnSeq <= seq ? turnSeq : seq });
};

/** A dry run's answer: whatever it says, nothing has happened. */
const fine = (id: string, needs: QuotaName[]): Answer<Ack> =>
  yes({ id, seq: 0, duplicate: false, delivery: "steer", from: 0, needs });

/** What a message needs: a turn that begins needs everything, an answer and a command line at rest just run. */
function needsOf(s: Session, route: Route): QuotaName[] {
  const asked = s.status === "waiting" && s.wait?.kind === "question";
  if (s.status === "running" || (s.status === "waiting" && !asked)) return [];
  if (route.type === "shell") return asked ? [] : ["storedBytes", "runningTurns"];
  if (route.type !== "task") return [];
  return asked ? ["runningTurns"] : ["storedBytes", "runningTurns", "tokensPerDay"];
}

function keep(engine: Engine, outcome: Parameters<Engine["drive"]["keep"]>[0]): Answer<Ack> {
  const { client } = engine.drive.keep(outcome);
  return client
    ? ackOf(engine, client, false)
    : no(
        409,
        "busy",
        "The session changed meanwhile and the request no longer applies. Look at it and send again.",
      );
}

function filesOf(engine: Engine, paths: string[]): Answer<FileInfo[]> {
  const found: FileInfo[] = [];
  for (const path of paths) {
    const resolved = resolvePath(path);
    if (!resolved.ok) return no(400, "invalid_request", `attachments: ${resolved.error}`);
    const info = engine.fileInfo(resolved.path);
    if (!info) {
      return no(
        400,
        "invalid_request",
        `attachments: there is no file ${resolved.path}. Upload it first with PUT …/files/.`,
      );
    }
    found.push(info);
  }
  return yes(found);
}

/** A message on its way in, and the `traceparent` of whoever sends it. */
export type Message = MessageBody & { id: string; trace?: string | undefined };

export function say(
  engine: Engine,
  layers: (SettingsLayer | undefined)[],
  body: Message,
  pass: Pass | null,
): Answer<Ack> {
  const known = engine.store.client(body.id);
  if (known) return ackOf(engine, known, true);
  const s = engine.store.session();
  const attachments = filesOf(engine, body.attachments ?? []);
  if (!attachments.ok) return attachments;
  const settings = mergeSettings([...layers, s.settings, kept(body.settings ?? {})]);
  const delivery = body.delivery ?? settings.onBusyMessage;
  const route = routeIn(s, body.text, body.route === "task");
  const open = s.status === "running" || (s.status === "waiting" && s.wait?.kind !== "question");
  // A command waits for nothing: it is answered at once.
  const busy = open && route.type === "task";
  if (busy && delivery === "reject") {
    return no(
      409,
      "busy",
      "The session is working and the message was not to wait. Send it again later, or as steer or follow_up.",
    );
  }
  const queued = JSON.stringify([s.queue, body.text, body.attachments]).length;
  if (busy && (s.queue.length >= LIMITS.queueLength || queued > LIMITS.queueChars)) {
    return no(
      429,
      "queue_full",
      `At most ${LIMITS.queueLength} messages (${LIMITS.queueChars} characters) may wait. Let the session read some first.`,
    );
  }
  if (!pass) return fine(body.id, needsOf(s, route));
  return keep(engine, {
    ...pass,
    type: "said",
    clientId: body.id,
    text: body.text,
    attachments: attachments.value,
    delivery,
    settings,
    plain: body.route === "task",
    ...(body.trace ? { trace: body.trace } : {}),
    // Read from the whole log, so only where a mode may change.
    ...(route.type === "command" && route.name === "mode" && route.arg !== ""
      ? { before: transcript(engine.store) }
      : {}),
  });
}

export function answer(
  engine: Engine,
  body: AnswerBody & { id: string },
  pass: Pass | null,
): Answer<Ack> {
  const known = engine.store.client(body.id);
  if (known) return ackOf(engine, known, true);
  const { wait } = engine.store.session();
  if (wait?.wait_id !== body.wait_id) {
    return wasAsked(engine.store, body.wait_id)
      ? no(409, "already_answered", "This question was already answered, or its turn was stopped.")
      : no(
          404,
          "wait_not_found",
          "There is no such question. The session's `wait` names the one that is open.",
        );
  }
  const wrong = wrongKind(wait, body);
  if (wrong) return no(400, "invalid_request", wrong);
  const { id: clientId, approved } = body;
  if (!pass) {
    const more: QuotaName[] = wait.kind === "budget" ? ["tokensPerDay"] : [];
    const stops = wait.kind === "budget" && approved === false;
    return fine(clientId, stops ? [] : ["runningTurns", ...more]);
  }
  if (approved !== undefined) return keep(engine, { ...pass, type: "decided", clientId, approved });
  return keep(engine, { ...pass, type: "answered", clientId, text: body.text ?? "" });
}

/** A question wants words, an approval a yes or no; anything else leaves the wait as it is. */
function wrongKind(wait: Wait, { text, approved }: AnswerBody): string | null {
  if (wait.kind === "question") {
    if (text === undefined)
      return "text: this wait is a question; answer it with `text`. It is still waiting.";
    return approved === undefined
      ? null
      : "approved: this wait is a question; it takes `text` alone.";
  }
  return approved === undefined
    ? "approved: this wait needs `approved`, true or false. It is still waiting."
    : null;
}

/** Wait ids are numbered by turn; only the log knows for sure, and only a late answer asks it. */
function wasAsked(store: SessionStore, waitId: string): boolean {
  const mark = `"wait_id":${JSON.stringify(waitId)}`;
  for (const { json } of store.log(0)) if (json.includes(mark)) return true;
  return false;
}

/** Title, pin and the session's own settings; refused when the settings would grow beyond their bound. */
export function patch(
  engine: Engine,
  { settings, ...change }: Omit<PatchBody, "key">,
): Answer<null> {
  const layer = settings && patchedLayer(engine.store.session().settings, settings);
  if (layer && !layer.ok) return layer;
  engine.drive.keep({ type: "patched", ...change, ...(layer ? { settings: layer.value } : {}) });
  return yes(null);
}

const NOT_QUEUED = no(
  404,
  "message_not_found",
  "No such message is waiting: it was read already, or taken back. The session's `queue` names those that wait.",
);

/** Changes a message that waits, or takes it back (null); one that was read stays as it was said. */
export function requeue(engine: Engine, id: string, change: QueueBody | null): Answer<null> {
  const { queue } = engine.store.session();
  const held = queuedMessage(engine.store.session(), id);
  if (!held) return NOT_QUEUED;
  const texts = queue.map((q) => (q === held ? (change?.text ?? q.text) : q.text));
  if (change && JSON.stringify(texts).length > LIMITS.queueChars) {
    return no(
      429,
      "queue_full",
      `At most ${LIMITS.queueChars} characters may wait. Let the session read some first.`,
    );
  }
  engine.drive.keep(change ? { type: "edited", id, ...change } : { type: "removed", id });
  return yes(null);
}

export function stop(engine: Engine, id: string, dry: boolean): Answer<Ack> {
  const known = engine.store.client(id);
  if (known) return ackOf(engine, known, true);
  if (dry) return fine(id, []);
  return keep(engine, { type: "stopped", clientId: id });
}

export interface Page {
  /** The events' JSON texts, joined by commas. */
  events: string;
  last_seq: number;
  epoch: string;
  reset: boolean;
}

/** At most `limit` events after a cursor; a cursor that cannot be served starts over and says `reset`. */
export function page(store: SessionStore, after: number, epoch: string, limit: number): Page {
  const s = store.session();
  const reset = !store.follows(after, epoch);
  const texts: string[] = [];
  let size = 0;
  let left = limit;
  for (const { json } of store.log(reset ? 0 : after)) {
    const events = eventsIn(json).slice(0, left);
    const text = events.map((e) => JSON.stringify(e)).join(",");
    if (texts.length > 0 && size + text.length > LIMITS.pageChars) break;
    texts.push(text);
    size += text.length;
    left -= events.length;
    if (left <= 0) break;
  }
  return { events: texts.join(","), last_seq: s.seq, epoch: s.epoch, reset };
}
