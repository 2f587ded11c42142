/**
 * Every HTTP route of a session as a typed function. Needs nothing but a global `fetch`.
 *
 * H1  Whatever goes wrong is thrown as one `ApiError`; a reply that is not ours included.
 * H2  The token travels in a header and never in an address.
 * H3  A call that may be repeated takes a client id or key, so that a retry is no second one.
 */
import type { Event, FileInfo } from "../core/events.ts";
import type { Mode } from "../core/session.ts";
import type { Settings, SettingsLayer } from "../core/settings.ts";
import type { SettingsPatch } from "../core/settings-patch.ts";
import type {
  AnswerBody,
  Config,
  MessageBody,
  QueueBody,
  SessionInfo,
  SessionView,
  SettingsLayers,
  SharedView,
  TurnResult,
  UsageReport,
} from "../core/wire.ts";
import { ApiError, toApiError } from "./error.ts";

export interface ClientOptions {
  /** Where the product is served, without a slash at its end; empty: the page's own origin. */
  baseUrl: string;
  /** Not needed in a browser, where a cookie signs in. */
  token?: string;
  fetch?: typeof fetch;
}
export interface CreateSession {
  mode?: Mode;
  title?: string;
  settings?: SettingsLayer;
  key?: string;
  /** The key is bound to a new session; the one it was bound to stays. */
  fresh?: boolean;
  ephemeral?: boolean;
}
export interface ShareLink {
  share_id: string;
  /** For people; the client's own routes take the id. */
  url: string;
  upto_seq: number;
}
/** Sessions that were imported say how many lines of the file could not be used. */
export type Imported = SessionView & { skipped_lines: number };
export interface SessionPatch {
  title?: string;
  pinned?: boolean;
  /** `null` takes back what was stated. */
  settings?: SettingsPatch;
  /** Names this session from now on, whichever it named before. */
  key?: string;
}
export interface SessionPage {
  sessions: SessionInfo[];
  next_cursor: string | null;
}
export interface Accepted {
  id: string;
  seq: number;
  duplicate: boolean;
}
export interface EventsPage {
  events: Event[];
  last_seq: number;
  epoch: string;
  /** The cursor could not be served: forget what was built, these are all events there are. */
  reset?: boolean;
}

export type ListQuery = {
  limit?: number;
  cursor?: string;
  /** Words of the title or the newest message. */
  q?: string;
  /** The beginning of an id. */
  prefix?: string;
};
type Query = Record<string, string | number | undefined>;
interface Call {
  query?: Query;
  body?: unknown;
  /** Sent as it is, instead of JSON. */
  bytes?: BodyInit;
  headers?: Record<string, string>;
}

const segment = encodeURIComponent;
const filePath = (path: string) =>
  path
    .replace(/^\/workspace\//, "")
    .split("/")
    .filter((part) => part !== "")
    .map(segment)
    .join("/");

export function createClient(options: ClientOptions) {
  const request = requester(options);
  const json = async <T>(method: string, path: string, call?: Call): Promise<T> =>
    (await (await request(method, path, call)).json()) as T;
  const nothing = async (method: string, path: string, call?: Call): Promise<void> => {
    await request(method, path, call);
  };
  return {
    ...sessionRoutes(options, json, nothing, request),
    ...shareRoutes(options, json, nothing, request),
    ...ownerRoutes(json),
    ...turnRoutes(json, nothing, request),
    ...fileRoutes(options, json, nothing, request),
    config: () => json<Config>("GET", "/api/config"),
    login: (token: string) => nothing("POST", "/api/login", { body: { token } }),
    logout: () => nothing("POST", "/api/logout", { body: {} }),
  };
}
export type Client = ReturnType<typeof createClient>;

type Json = <T>(method: string, path: string, call?: Call) => Promise<T>;
type Nothing = (method: string, path: string, call?: Call) => Promise<void>;
type Request_ = (method: string, path: string, call?: Call) => Promise<Response>;

const SESSIONS = "/api/sessions";
const sessionPath = (id: string) => `${SESSIONS}/${segment(id)}`;
const queuePath = (id: string, message: string) => `${sessionPath(id)}/queue/${segment(message)}`;

function sessionRoutes(options: ClientOptions, json: Json, nothing: Nothing, request: Request_) {
  return {
    createSession: (body: CreateSession = {}) => json<SessionView>("POST", SESSIONS, { body }),
    /** Newest activity first. */
    listSessions: (query: ListQuery = {}) => json<SessionPage>("GET", SESSIONS, { query }),
    /** The session whose id begins like this; null when there is none, or more than one. */
    resolveSession: async (prefix: string): Promise<SessionInfo | null> => {
      const query = { prefix, limit: 2 };
      const { sessions } = await json<SessionPage>("GET", SESSIONS, { query });
      return sessions.length === 1 ? (sessions[0] ?? null) : null;
    },
    getSession: (id: string) => json<SessionView>("GET", sessionPath(id)),
    /** What the session states, beside what holds without it. */
    getSessionSettings: (id: string) => json<SettingsLayers>("GET", `${sessionPath(id)}/settings`),
    patchSession: (id: string, body: SessionPatch) =>
      json<SessionView>("PATCH", sessionPath(id), { body }),
    deleteSession: (id: string) => nothing("DELETE", sessionPath(id)),
    /** A new session in its place: mode, settings and keys go over, the old one stays. */
    rotateSession: (id: string) => json<SessionView>("POST", `${sessionPath(id)}/rotate`),
    /** A copy as of the last end of a turn at or before an event; without one, as it is now. */
    forkSession: (id: string, afterSeq?: number) => {
      const body = afterSeq === undefined ? {} : { after_seq: afterSeq };
      return json<SessionView>("POST", `${sessionPath(id)}/fork`, { body });
    },
    /** The session as lines of JSON: a body to read or to save. */
    exportSession: (id: string) => request("GET", `${sessionPath(id)}/export`),
    exportUrl: (id: string) => `${options.baseUrl}${sessionPath(id)}/export`,
    importSession: (bytes: BodyInit) => json<Imported>("POST", `${SESSIONS}/import`, { bytes }),
  };
}

/** Links: made and revoked by the owner; read by anyone who has one. */
function shareRoutes(options: ClientOptions, json: Json, nothing: Nothing, request: Request_) {
  const shared = (shareId: string) => `/api/shared/${segment(shareId)}`;
  return {
    shareSession: (id: string) => json<ShareLink>("POST", `${sessionPath(id)}/share`),
    unshareSession: (id: string) => nothing("DELETE", `${sessionPath(id)}/share`),
    getShared: (shareId: string) => json<SharedView>("GET", shared(shareId)),
    sharedEvents: (shareId: string, query: { after?: number; limit?: number } = {}) =>
      json<EventsPage>("GET", `${shared(shareId)}/events`, { query }),
    readSharedFile: (shareId: string, file: string) =>
      request("GET", `${shared(shareId)}/files/${filePath(file)}`),
    sharedFileUrl: (shareId: string, file: string) =>
      `${options.baseUrl}${shared(shareId)}/files/${filePath(file)}`,
  };
}

function ownerRoutes(json: Json) {
  return {
    /** What holds for a session that states nothing itself. */
    getSettings: () => json<Settings>("GET", "/api/settings"),
    /** What the owner states, beside what holds without it. */
    getOwnSettings: () => json<SettingsLayers>("GET", "/api/settings/own"),
    /** `null` takes back what was stated. */
    patchSettings: (body: SettingsPatch) => json<Settings>("PATCH", "/api/settings", { body }),
    /** Days as in `2026-01-31`, both included. */
    usage: (query: { from?: string; to?: string } = {}) =>
      json<UsageReport>("GET", "/api/usage", { query }),
  };
}

function turnRoutes(json: Json, nothing: Nothing, request: Request_) {
  return {
    sendMessage: (id: string, body: MessageBody) =>
      json<Accepted & { delivery: string }>("POST", `${sessionPath(id)}/messages`, { body }),
    /** Waits up to that many seconds for the turn; null when it is still running then. */
    sendAndWait: async (
      id: string,
      body: MessageBody,
      seconds: number,
    ): Promise<TurnResult | null> => {
      const headers = { prefer: `wait=${seconds}` };
      const response = await request("POST", `${sessionPath(id)}/messages`, { body, headers });
      return response.status === 200 ? ((await response.json()) as TurnResult) : null;
    },
    answer: (id: string, body: AnswerBody) =>
      json<Accepted>("POST", `${sessionPath(id)}/answers`, { body }),
    /** A message that still waits, by its id in the log or the client's. */
    editQueued: (id: string, message: string, change: QueueBody) =>
      json<SessionView>("PATCH", queuePath(id, message), { body: change }),
    removeQueued: (id: string, message: string) => nothing("DELETE", queuePath(id, message)),
    stop: (id: string, clientId?: string) =>
      nothing("POST", `${sessionPath(id)}/stop`, { body: clientId ? { id: clientId } : {} }),
    events: (id: string, query: { after?: number; epoch?: string; limit?: number } = {}) =>
      json<EventsPage>("GET", `${sessionPath(id)}/events`, { query }),
  };
}

function fileRoutes(options: ClientOptions, json: Json, nothing: Nothing, request: Request_) {
  const path = (id: string, file: string) => `${sessionPath(id)}/files/${filePath(file)}`;
  return {
    listFiles: async (id: string) =>
      (await json<{ files: FileInfo[] }>("GET", `${sessionPath(id)}/files`)).files,
    readFile: (id: string, file: string) => request("GET", path(id, file)),
    uploadFile: (id: string, file: string, bytes: BodyInit, type = "application/octet-stream") =>
      json<FileInfo>("PUT", path(id, file), { bytes, headers: { "content-type": type } }),
    deleteFile: (id: string, file: string) => nothing("DELETE", path(id, file)),
    /** An address for a link; in a browser the cookie opens it. */
    fileUrl: (id: string, file: string) => options.baseUrl + path(id, file),
  };
}

function requester(options: ClientOptions): Request_ {
  const send = options.fetch ?? fetch;
  return async (method, path, call = {}) => {
    const headers: Record<string, string> = { accept: "application/json", ...call.headers };
    if (options.token) headers.authorization = `Bearer ${options.token}`;
    if (call.body !== undefined) headers["content-type"] = "application/json";
    const body = call.body === undefined ? call.bytes : JSON.stringify(call.body);
    const response = await send(options.baseUrl + path + queryText(call.query), {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    }).catch((cause: unknown) => {
      throw new ApiError(0, "network", "The server could not be reached", cause);
    });
    if (!response.ok) throw await toApiError(response);
    return response;
  };
}

function queryText(query: Query | undefined): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
