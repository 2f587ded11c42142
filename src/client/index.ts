/** The typed client of Dormouse: HTTP, the WebSocket with its cursor, and the reducer to a view. */
export { ApiError } from "./error.ts";
export {
  type Accepted,
  type Client,
  type ClientOptions,
  type CreateSession,
  createClient,
  type EventsPage,
  type SessionPage,
  type SessionPatch,
  type ShareLink,
} from "./http.ts";
export { newId } from "./id.ts";
export { withQueued } from "./queue.ts";
export { fromSnapshot, reduce, reduceAll, withSnapshot } from "./reduce.ts";
export {
  Connection,
  type ConnectionState,
  type ConnectOptions,
  type Frame,
  type OpenSocket,
  type Outgoing,
  type Receipt,
  type SocketLike,
} from "./socket.ts";
export * from "./view.ts";
