import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  Connection,
  type ConnectOptions,
  type Frame,
  type SocketLike,
} from "../../src/client/index.ts";

class FakeSocket implements SocketLike {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly sent: { type: string; id?: string }[] = [];
  closed = false;
  readonly #listeners: { type: string; listener: (event: { data?: unknown }) => void }[] = [];

  constructor(url: string, headers: Record<string, string>) {
    this.url = url;
    this.headers = headers;
  }
  send(data: string) {
    this.sent.push(JSON.parse(data));
  }
  close() {
    this.closed = true;
  }
  addEventListener(type: string, listener: (event: { data?: unknown }) => void) {
    this.#listeners.push({ type, listener });
  }
  fire(type: string, data?: unknown) {
    for (const l of this.#listeners) if (l.type === type) l.listener({ data });
  }
  gets(frame: object) {
    this.fire("message", JSON.stringify(frame));
  }
  get query() {
    return Object.fromEntries(new URL(this.url).searchParams);
  }
}

const hello = (after = 0, epoch = "e1") => ({
  type: "hello",
  epoch,
  after,
  last_seq: 9,
  session: {},
});
const event = (seq: number) => ({ type: "event", seq, event: "notice", data: {} });

function open(options: Partial<ConnectOptions> = {}) {
  const sockets: FakeSocket[] = [];
  const frames: Frame[] = [];
  const bursts: number[] = [];
  const states: string[] = [];
  const connection = new Connection({
    baseUrl: "https://mouse.test",
    session: "s1",
    random: () => 0.5,
    open: (url, headers) => {
      const socket = new FakeSocket(url, headers);
      sockets.push(socket);
      return socket;
    },
    onFrames: (batch) => {
      bursts.push(batch.length);
      frames.push(...batch);
    },
    onState: (state) => states.push(state),
    ...options,
  });
  const seqs = () => frames.flatMap((f) => (f.type === "event" ? [f.seq] : []));
  const socket = () => sockets.at(-1) as FakeSocket;
  return { connection, sockets, socket, frames, bursts, states, seqs };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("W1: the cursor", () => {
  it("starts from nothing, and carries the token in a header only", () => {
    const { socket } = open({ token: "secret" });
    expect(socket().url).toBe("wss://mouse.test/api/sessions/s1/ws?after=0");
    expect(socket().headers).toEqual({ authorization: "Bearer secret" });
  });

  it("comes back after the last event it saw, in the same epoch", () => {
    const c = open();
    c.socket().gets(hello());
    c.socket().gets(event(1));
    c.socket().gets(event(2));
    c.socket().fire("close");
    vi.advanceTimersByTime(1_000);
    expect(c.sockets).toHaveLength(2);
    expect(c.socket().query).toEqual({ after: "2", epoch: "e1" });
    c.socket().gets(hello(2));
    c.socket().gets(event(3));
    expect(c.seqs()).toEqual([1, 2, 3]);
    expect(c.states).toEqual(["open", "offline", "open"]);
  });

  it("drops what it has seen and unpacks batches into one update", () => {
    const c = open();
    c.socket().gets(hello());
    const inner = { type: "batch", frames: [event(2), event(3)] };
    c.socket().gets({ type: "batch", frames: [event(1), event(1), inner] });
    c.socket().gets(event(2));
    expect(c.seqs()).toEqual([1, 2, 3]);
    expect(c.bursts).toEqual([1, 3]);
  });

  it("starts again from the last seq when it sees a hole or nonsense", () => {
    const c = open();
    c.socket().gets(hello());
    c.socket().gets({ type: "batch", frames: [event(1), event(3)] });
    expect(c.seqs()).toEqual([1]);
    vi.advanceTimersByTime(1_000);
    expect(c.socket().query.after).toBe("1");
    c.socket().fire("message", "{");
    vi.advanceTimersByTime(2_000);
    expect(c.sockets).toHaveLength(3);
  });

  it("begins anew on a reset, from whatever number the log begins with", () => {
    const c = open({ after: 40, epoch: "old" });
    expect(c.socket().query).toEqual({ after: "40", epoch: "old" });
    c.socket().gets({ type: "reset", epoch: "new", last_seq: 6, session: {} });
    c.socket().gets(event(5));
    c.socket().gets(event(6));
    expect(c.seqs()).toEqual([5, 6]);
    c.socket().fire("close");
    vi.advanceTimersByTime(1_000);
    expect(c.socket().query).toEqual({ after: "6", epoch: "new" });
  });

  it("hears nothing from a socket it has given up", () => {
    const c = open();
    c.socket().gets(hello());
    const old = c.socket();
    old.fire("close");
    old.gets(event(1));
    expect(c.seqs()).toEqual([]);
  });
});

describe("W2: frames that were not acknowledged", () => {
  it("go out again with the same id, in order, and only those", async () => {
    const c = open();
    const early = c.connection.send({ type: "message", id: "m1", text: "hi" });
    expect(c.socket().sent).toEqual([]);
    c.socket().gets(hello());
    expect(c.socket().sent.map((f) => f.id)).toEqual(["m1"]);
    void c.connection.send({ type: "answer", id: "a1", wait_id: "w", text: "yes" });
    void c.connection.send({ type: "stop", id: "x1" });
    c.socket().gets({ type: "ack", id: "m1", seq: 4, duplicate: false });
    expect(await early).toEqual({ ok: true, seq: 4, duplicate: false });
    c.socket().fire("close");
    vi.advanceTimersByTime(1_000);
    expect(c.socket().sent).toEqual([]);
    c.socket().gets(hello(0));
    expect(c.socket().sent.map((f) => f.id)).toEqual(["a1", "x1"]);
  });

  it("W3: a refusal settles the frame and it is not sent again", async () => {
    const c = open();
    c.socket().gets(hello());
    const receipt = c.connection.send({ type: "answer", id: "a1", wait_id: "w", text: "late" });
    c.socket().gets({ type: "error", id: "a1", code: "already_answered", message: "…" });
    expect(await receipt).toMatchObject({ ok: false, code: "already_answered" });
    c.socket().fire("close");
    vi.advanceTimersByTime(1_000);
    c.socket().gets(hello());
    expect(c.socket().sent).toEqual([]);
  });
});

describe("coming back", () => {
  it("waits 1 s, 2 s, 4 s … and never more than 30 s", () => {
    const c = open();
    for (const wait of [1, 2, 4, 8, 16, 30, 30]) {
      const before = c.sockets.length;
      c.socket().fire("close");
      vi.advanceTimersByTime(wait * 1_000 - 1);
      expect(c.sockets.length).toBe(before);
      vi.advanceTimersByTime(1);
      expect(c.sockets.length).toBe(before + 1);
    }
  });

  it("is tried at once when asked to, and not at all once closed", () => {
    const c = open();
    c.socket().fire("error");
    c.connection.retryNow();
    expect(c.sockets).toHaveLength(2);
    c.connection.retryNow();
    expect(c.sockets).toHaveLength(2);
    c.connection.close();
    vi.advanceTimersByTime(60_000);
    expect(c.sockets).toHaveLength(2);
    expect(c.socket().closed).toBe(true);
  });

  it("lets go of a silent socket when the network is gone, and tries again as ever", () => {
    const c = open();
    c.socket().gets(hello());
    expect(c.connection.state).toBe("open");
    c.connection.lostNetwork();
    expect(c.connection.state).toBe("offline");
    expect(c.socket().closed).toBe(true);
    // Told twice, it is one loss.
    c.connection.lostNetwork();
    vi.advanceTimersByTime(1_000);
    expect(c.sockets).toHaveLength(2);
  });

  it("notices a dead connection by a missing pong, while someone looks", () => {
    let visible = false;
    const c = open({ keepalive: () => visible });
    c.socket().gets(hello());
    vi.advanceTimersByTime(25_000);
    expect(c.socket().sent).toEqual([]);
    visible = true;
    vi.advanceTimersByTime(25_000);
    expect(c.socket().sent).toEqual([{ type: "ping" }]);
    c.socket().gets({ type: "pong" });
    vi.advanceTimersByTime(25_000);
    expect(c.sockets).toHaveLength(1);
    vi.advanceTimersByTime(10_000);
    expect(c.connection.state).toBe("offline");
  });
});
