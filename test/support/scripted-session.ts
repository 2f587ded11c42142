/** A session whose server is the test: its snapshot, its events and its socket are whatever the test says. */
import type { Page, WebSocketRoute } from "playwright-core";
import type { Event, EventBody, FileInfo, Wait } from "../../src/core/events.ts";
import { DEFAULTS } from "../../src/core/settings.ts";
import type { Config, ServerFrame, SessionView } from "../../src/core/wire.ts";

const START = Date.UTC(2026, 0, 1);
export const ID = "scripted";

export const events = (bodies: readonly EventBody[], from = 1): Event[] =>
  bodies.map((body, i) => ({
    type: "event",
    session_id: ID,
    seq: from + i,
    ts: new Date(START + (from + i) * 1000).toISOString(),
    ...body,
  }));

export const snapshot = (over: Partial<SessionView> = {}): SessionView => ({
  id: ID,
  title: "Scripted",
  mode: "agent",
  status: "idle",
  phase: "idle",
  created_at: new Date(START).toISOString(),
  updated_at: new Date(START).toISOString(),
  last_seq: 0,
  epoch: "e1",
  pinned: false,
  preview: "",
  usage: {
    model_calls: 0,
    tool_calls: 0,
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    measured: true,
    cost_usd: null,
  },
  run: 0,
  plan: null,
  wait: null,
  queue: [],
  settings: DEFAULTS,
  files_count: 0,
  ...over,
});

export const CONFIG: Config = {
  product: "Dormouse",
  version: "test",
  providers: ["practice", "openai"],
  provider: "practice",
  models: ["practice"],
  modes: ["agent", "chat", "workflow", "direct"],
  profiles: ["careful"],
  tools: [],
  locales: ["en", "zh"],
  limits: {},
  sandbox: "embedded",
  practice: false,
};

export interface Script {
  session?: Partial<SessionView>;
  files?: FileInfo[];
  /** Plays the socket; called for every connection, with the cursor that the page came with. */
  socket?(socket: WebSocketRoute, after: number): void;
}

/** Answers what the page asks for. Later routes of a test go before these. */
export async function script(page: Page, { session = {}, files = [], socket }: Script) {
  const view = snapshot(session);
  await page.route("**/api/**", (route) => route.fulfill({ status: 404, json: missing }));
  await page.route("**/api/config", (route) => route.fulfill({ json: CONFIG }));
  await page.route(/\/api\/sessions(?:\?.*)?$/, (route) =>
    route.fulfill({ json: { sessions: [view], next_cursor: null } }),
  );
  await page.route(`**/api/sessions/${ID}`, (route) => route.fulfill({ json: view }));
  await page.route(`**/api/sessions/${ID}/files`, (route) => route.fulfill({ json: { files } }));
  await page.routeWebSocket(/\/ws\?/, (route) => {
    const after = Number(new URL(route.url()).searchParams.get("after"));
    if (socket) socket(route, after);
    else for (const frame of greeting(view, after)) send(route, frame);
  });
}
const missing = { error: { code: "not_found", message: "There is no such thing." } };

export const greeting = (view: SessionView, after: number, rest: readonly Event[] = []) =>
  [
    {
      type: "hello",
      session_id: ID,
      epoch: view.epoch,
      after,
      last_seq: view.last_seq,
      session: view,
    },
    { type: "batch", frames: rest.filter((event) => event.seq > after) },
  ] satisfies ServerFrame[];

export const send = (socket: WebSocketRoute, frame: ServerFrame): void =>
  socket.send(JSON.stringify(frame));

export const live = (event: string, data: object): ServerFrame =>
  ({ type: "live", event, data }) as ServerFrame;

export const user = (id: string, content: string, attachments: FileInfo[] = []): EventBody => ({
  event: "message",
  data: { message_id: id, role: "user", content, attachments },
});
export const prose = (
  id: string,
  content: string,
  kind?: "plan" | "question" | "notice" | "final" | "answer",
  attachments: FileInfo[] = [],
): EventBody => ({
  event: "message",
  data: { message_id: id, role: "assistant", content, attachments, ...(kind && { kind }) },
});
export const now = (status: SessionView["status"], phase: SessionView["phase"]): EventBody => ({
  event: "status_update",
  data: { status, phase },
});
export const waits = (wait: Partial<Wait>): Wait => ({
  wait_id: "w1",
  kind: "question",
  text: "Which?",
  since: new Date(START).toISOString(),
  ...wait,
});
export const file = (name: string, type: string, size = 10): FileInfo => ({
  path: `/workspace/${name}`,
  name: name.split("/").at(-1) ?? name,
  size,
  content_type: type,
  modified_at: new Date(START).toISOString(),
  url: `/api/sessions/${ID}/files/${encodeURIComponent(name)}`,
});
/** Both events of one call. */
export const call = (
  id: string,
  tool: { name: string; function: string; args?: Record<string, unknown>; brief?: string },
  content: Record<string, unknown>,
  ok = true,
): EventBody[] => {
  const base = { tool_call_id: id, args: {}, ...tool };
  return [
    { event: "tool", data: { ...base, status: "calling" } },
    { event: "tool", data: { ...base, status: "called", ok, content, duration_ms: 20 } },
  ];
};
