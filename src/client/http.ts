/**
 * Every HTTP route of a session as a typed function. Needs nothing but a global `fetch`.
 *
 * H1  Whatever goes wrong is thrown as one `ApiError`; a reply that is not ours included.
 * H2  The token travels in a header and never in an address.
 * H3  A call that may be repeated takes a client id or key, so that a retry is no second one.
 */
import type { Event, FileInfo } from "../core/events.ts";
import type { Mode } from "../core/session.ts";
import type { SettingsLayer } from "../core/settings.ts";
import type {
  AnswerBody,
  Config,
  MessageBody,
  SessionInfo,
  SessionView,
  TurnResult,
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
  ephemeral?: boolean;
}
export interface SessionPatch {
  title?: string;
  pinned?: boolean;
  settings?: SettingsLayer;
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

export interface ShareLink {
  share_id: string;
  /** For people; the client's own routes take the id. */
  url: string;
  upto_seq: number;
}

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
    ...sessionRoutes(json, nothing),
    ...turnRoutes(json, nothing, request),
    ...queueRoutes(json, nothing),
    ...copyRoutes(options, json, nothing, request),
    ...fileRoutes(options, json, nothing, request),
    /** The owner's own settings, as far as they are stated. */
    getSettings: () => json<SettingsLayer>("GET", "/api/settings"),
    patchSettings: (body: SettingsLayer) => json<SettingsLayer>("PATCH", "/api/settings", { body }),
    config: () => json<Config>("GET", "/api/config"),
    login: (token: string) => nothing("POST", "/api/login", { body: { token } }),
    logout: () => nothing("POST", "/api/logout", { body: {} }),
  };
}
export type Client = ReturnType<typeof createClient>;

type Json = <T>(method: string, path: string, call?: Call) => Promise<T>;
type Nothing = (method: string, path: string, call?: Call) => Promise<void>;
type Request_ = (method: string, path: string, call?: Call) => Promise<Response>;

const sessionPath = (id: string) => `/api/sessions/${segment(id)}`;

function sessionRoutes(json: Json, nothing: Nothing) {
  return {
    createSession: (body: CreateSession = {}) =>
      json<SessionView>("POST", "/api/sessions", { body }),
    /** Newest activity first. */
    listSessions: (query: { limit?: number; cursor?: string; q?: string } = {}) =>
      json<SessionPage>("GET", "/api/sessions", { query }),
    getSession: (id: string) => json<SessionView>("GET", sessionPath(id)),
    patchSession: (id: string, body: SessionPatch) =>
      json<SessionView>("PATCH", sessionPath(id), { body }),
    deleteSession: (id: string) => nothing("DELETE", sessionPath(id)),
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
    stop: (id: string, clientId?: string) =>
      nothing("POST", `${sessionPath(id)}/stop`, { body: clientId ? { id: clientId } : {} }),
    events: (id: string, query: { after?: number; epoch?: string; limit?: number } = {}) =>
      json<EventsPage>("GET", `${sessionPath(id)}/events`, { query }),
  };
}

/** Messages that were accepted and not read yet. */
function queueRoutes(json: Json, nothing: Nothing) {
  const path = (id: string, message: string) => `${sessionPath(id)}/queue/${segment(message)}`;
  return {
    editQueued: (id: string, message: string, change: { text: string }) =>
      json<unknown>("PATCH", path(id, message), { body: change }),
    removeQueued: (id: string, message: string) => nothing("DELETE", path(id, message)),
  };
}

/** Copies of a session: a fork, a share, a file with all of it. */
function copyRoutes(options: ClientOptions, json: Json, nothing: Nothing, request: Request_) {
  const shared = (share: string) => `/api/shared/${segment(share)}`;
  return {
    forkSession: (id: string, afterSeq?: number) =>
      json<SessionView>("POST", `${sessionPath(id)}/fork`, {
        body: afterSeq === undefined ? {} : { after_seq: afterSeq },
      }),
    shareSession: (id: string) => json<ShareLink>("POST", `${sessionPath(id)}/share`, { body: {} }),
    unshareSession: (id: string) => nothing("DELETE", `${sessionPath(id)}/share`),
    getShared: (share: string) => json<SessionView>("GET", shared(share)),
    sharedEvents: (share: string, query: { after?: number; limit?: number } = {}) =>
      json<EventsPage>("GET", `${shared(share)}/events`, { query }),
    sharedFileUrl: (share: string, file: string) =>
      `${options.baseUrl}${shared(share)}/files/${filePath(file)}`,
    exportSession: (id: string) => request("GET", `${sessionPath(id)}/export`),
    importSession: (bytes: BodyInit) =>
      json<SessionView>("POST", "/api/sessions/import", {
        bytes,
        headers: { "content-type": "application/jsonl" },
      }),
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
