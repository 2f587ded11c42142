/** How a WebSocket is opened where the client runs: a browser, Node, a Worker. */

/** What all of them agree on. */
export interface SocketLike {
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(
    type: "open" | "message" | "close" | "error",
    listener: (event: { data?: unknown }) => void,
  ): void;
}
export type OpenSocket = (url: string, headers: Record<string, string>) => SocketLike;

type HeaderSocket = new (url: string, init?: { headers: Record<string, string> }) => SocketLike;
/** Node's WebSocket takes headers; a browser's would throw, and needs none: a cookie signs in. */
const openByConstructor: OpenSocket = (url, headers) => {
  const Socket = WebSocket as unknown as HeaderSocket;
  return Object.keys(headers).length > 0 ? new Socket(url, { headers }) : new Socket(url);
};

interface Upgraded {
  webSocket?: (SocketLike & { accept(): void }) | null;
}
type Listener = Parameters<SocketLike["addEventListener"]>;

/** A Worker's socket comes with the reply to a request, also one through a service binding. */
export const openByFetch =
  (send: (url: string, init: RequestInit) => Promise<unknown>): OpenSocket =>
  (url, headers) => {
    let socket: SocketLike | null = null;
    let closed = false;
    const listeners: Listener[] = [];
    const tell = (type: Listener[0]) => {
      for (const [wanted, listener] of listeners) if (wanted === type) listener({});
    };
    const init = { headers: { ...headers, upgrade: "websocket" } };
    send(url.replace(/^ws/, "http"), init)
      .then((response) => {
        const { webSocket } = response as Upgraded;
        if (!webSocket) return tell("error");
        for (const [type, listener] of listeners) webSocket.addEventListener(type, listener);
        webSocket.accept();
        socket = webSocket;
        if (closed) webSocket.close(1000);
        else tell("open");
      })
      .catch(() => tell("error"));
    return {
      send: (data) => socket?.send(data),
      close(code, reason) {
        closed = true;
        socket?.close(code, reason);
      },
      addEventListener(...listener) {
        listeners.push(listener);
        socket?.addEventListener(...listener);
      },
    };
  };

const inWorker = (): boolean => "WebSocketPair" in globalThis;
export const openSocket: OpenSocket = (url, headers) =>
  (inWorker() ? openByFetch((u, init) => fetch(u, init)) : openByConstructor)(url, headers);
