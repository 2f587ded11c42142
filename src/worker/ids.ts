/** Session ids and the way to an object. Ids are minted by create alone; a look mints none. */
import type { Bindings } from "./env.ts";
import { objectNamed } from "./place.ts";
import { NO_SESSION, unwrap } from "./problem.ts";
import type { SessionObject } from "./session.ts";

/** What may be called on a session's object from outside. (The platform's own stub type gives up on JSON values.) */
export type SessionStub = Pick<
  SessionObject,
  | "create"
  | "view"
  | "origin"
  | "settings"
  | "patch"
  | "say"
  | "answer"
  | "stop"
  | "requeue"
  | "events"
  | "listFiles"
  | "readFile"
  | "writeFile"
  | "removeFile"
  | "remove"
  | "share"
  | "unshare"
  | "sharedView"
  | "sharedEvents"
  | "sharedFile"
  | "pack"
  | "packFork"
  | "unpack"
> & { fetch(url: string, init?: RequestInit): Promise<Response> };

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** Five bits of each byte, as letters and digits. */
export const base32 = (bytes: Uint8Array): string =>
  [...bytes].map((b) => ALPHABET[b & 31]).join("");

/** 26 characters, 130 bits: unguessable, lower-case letters and digits, fit for a host name. */
export function newSessionId(): string {
  return base32(crypto.getRandomValues(new Uint8Array(26)));
}

/** Names an incarnation of a session's log. */
export const newEpoch = (): string => newSessionId().slice(0, 12);
/** The id of a session that follows from something that happens once: asked for again, it is the same. */
export async function derivedId(...from: string[]): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(from));
  return base32(new Uint8Array(await crypto.subtle.digest("SHA-256", text)).slice(0, 26));
}

export const SESSION_ID = /^[a-z2-7]{26}$/;

/** An id that was never given out does not even wake an object. */
export function sessionStub(env: Bindings, id: string): SessionStub {
  if (!SESSION_ID.test(id)) unwrap(NO_SESSION);
  return objectNamed(env, env.SESSION, id) as unknown as SessionStub;
}
