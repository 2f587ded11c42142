/**
 * Links to a session that need no sign-in: read-only, and frozen at the event they were made at.
 *
 * H1  A link's id is the session's id and a secret of 130 bits, compared in constant time: there is no other list of
 *     links, so one that is unknown or revoked finds nothing and writes nothing.
 * H2  What came after the freeze is never shown: not an event, not a title, not what a file became.
 * H3  Settings are never part of it.
 */
import { LIMITS } from "../core/limits.ts";
import type { SharedView } from "../core/wire.ts";
import { resolvePath } from "../tools/paths.ts";
import type { Engine } from "./engine.ts";
import * as files from "./files.ts";
import { newSessionId, SESSION_ID } from "./ids.ts";
import { type Answer, no, yes } from "./problem.ts";
import { type Page, page } from "./requests.ts";
import { viewOf } from "./wire.ts";

interface Share {
  secret: string;
  upto: number;
  view: SharedView;
  /** What may be opened, as it was then. */
  files: Record<string, string>;
}

export interface Link {
  share_id: string;
  upto_seq: number;
}

const NO_SHARE = no(
  404,
  "share_not_found",
  "There is nothing at this link: it was revoked, or it is not whole.",
);

/** Session and secret of a link's id; null: it is none. */
export function partsOf(shareId: string): { id: string; secret: string } | null {
  const [id, secret] = [shareId.slice(0, 26), shareId.slice(26)];
  return SESSION_ID.test(id) && SESSION_ID.test(secret) ? { id, secret } : null;
}
export const noShare = () => NO_SHARE;

/** Every path that an event names: of attachments, of what a tool wrote or showed. */
function pathsIn(value: unknown, found: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, held] of Object.entries(value)) {
    if (typeof held !== "string") pathsIn(held, found);
    else if (key === "path" || key === "screenshot") {
      const resolved = resolvePath(held);
      if (resolved.ok) found.add(resolved.path);
    }
  }
}

function namedFiles({ store, files }: Engine): Record<string, string> {
  const found = new Set<string>();
  for (const events of store.events(0)) for (const { data } of events) pathsIn(data, found);
  const held: Record<string, string> = {};
  for (const path of [...found].slice(-LIMITS.sharedFiles)) {
    const version = files.version(path);
    if (version) held[path] = version;
  }
  return held;
}

/** A new link to the session as it is now; one that was made at this very event is given again. */
export function share(engine: Engine): Answer<Link> {
  const { store } = engine;
  const s = store.session();
  const shares = store.shares<Share>();
  const held = shares.find((share) => share.upto === s.seq);
  if (held) return yes({ share_id: s.id + held.secret, upto_seq: s.seq });
  if (shares.length >= LIMITS.shares) {
    return no(
      409,
      "too_many_shares",
      `A session may have ${LIMITS.shares} links. Revoke them with DELETE …/share, then share it again.`,
    );
  }
  const { settings: _, queue: __, ...view } = viewOf(s, [], 0);
  const named = namedFiles(engine);
  const secret = newSessionId();
  view.files_count = Object.keys(named).length;
  store.addShare<Share>({ secret, upto: s.seq, view, files: named });
  return yes({ share_id: s.id + secret, upto_seq: s.seq });
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** Looks at all links there are, however soon one fits. */
function find({ store }: Engine, secret: string): Share | null {
  const sent = bytes(secret);
  let found: Share | null = null;
  for (const held of store.shares<Share>()) {
    if (crypto.subtle.timingSafeEqual(sent, bytes(held.secret))) found = held;
  }
  return found;
}

export function sharedView(engine: Engine, secret: string): Answer<SharedView> {
  const held = find(engine, secret);
  return held ? yes(held.view) : NO_SHARE;
}

/** Addresses of files lead to the link's own. */
const moved = (engine: Engine, secret: string, text: string): string => {
  const { id } = engine.store.session();
  return text.replaceAll(`/api/sessions/${id}/files/`, `/api/shared/${id}${secret}/files/`);
};

export function sharedEvents(
  engine: Engine,
  secret: string,
  after: number,
  limit: number,
): Answer<Page> {
  const held = find(engine, secret);
  if (!held) return NO_SHARE;
  const left = Math.min(limit, held.upto - after);
  const { epoch } = engine.store.session();
  const whole = { epoch, last_seq: held.upto, reset: after > held.upto };
  if (whole.reset)
    return yes({ ...whole, ...paged(engine, secret, 0, Math.min(limit, held.upto)) });
  return yes({ ...whole, ...paged(engine, secret, after, left) });
}
const paged = (engine: Engine, secret: string, after: number, limit: number) => ({
  events: limit > 0 ? moved(engine, secret, page(engine.store, after, "", limit).events) : "",
});

/** A file that has changed since is not the one that was shared. */
export function sharedFile(
  engine: Engine,
  secret: string,
  path: string,
  range?: files.ByteRange,
): Answer<files.Download> {
  const held = find(engine, secret);
  if (!held) return NO_SHARE;
  const resolved = resolvePath(path);
  const version = resolved.ok && Object.hasOwn(held.files, resolved.path);
  if (!version || engine.files.version(resolved.path) !== held.files[resolved.path]) {
    return no(
      404,
      "file_not_found",
      "This file is not part of what was shared, or it was changed since.",
    );
  }
  return files.read(engine, path, range);
}
