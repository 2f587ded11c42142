/** The typed client of Dormouse: HTTP, the WebSocket with its cursor, and the reducer to a view. */
export { ApiError } from "./error.ts";
export {
  type Accepted,
  type Client,
  type ClientOptions,
  type CreateSession,
  createClient,
  type EventsPage,
  type Imported,
  type ListQuery,
  type SessionPage,
  type SessionPatch,
  type ShareLink,
} from "./http.ts";
export { newId } from "./id.ts";
export { type OpenSocket, openByFetch, type SocketLike } from "./open.ts";
export { fromSnapshot, reduce, reduceAll, withSnapshot } from "./reduce.ts";
export {
  Connection,
  type ConnectionState,
  type ConnectOptions,
  type Frame,
  type Outgoing,
  type Receipt,
} from "./socket.ts";
export { type RunOptions, type Talk, type TalkOptions, type Task, talk } from "./talk.ts";
export * from "./view.ts";
