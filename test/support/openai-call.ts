/** Calls the OpenAI adapter against the mock model or a raw server; what was opened is closed after each test. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import { callOpenAI } from "../../src/adapters/model/openai.ts";
import type { ModelFailure, ModelOutcome, Piece, Reply } from "../../src/core/ports.ts";
import { type MockModel, type MockReply, startMockModel } from "./mock-model.ts";

export const KEY = "sk-very-secret-key-12345";
const BODY = JSON.stringify({
  model: "m1",
  stream: true,
  stream_options: { include_usage: true },
  tools: [{ type: "function", function: { name: "shell", parameters: { type: "object" } } }],
  messages: [{ role: "user", content: "hi" }],
});

export interface CallOptions {
  body?: string;
  timeoutMs?: number;
  apiKey?: string;
  signal?: AbortSignal;
  live?: (piece: Piece) => void;
  fetch?: (url: string, init?: RequestInit) => Promise<Response>;
}
export const call = (baseURL: string, o: CallOptions = {}): Promise<ModelOutcome> =>
  callOpenAI(
    { provider: "custom", model: "m1", body: o.body ?? BODY, timeoutMs: o.timeoutMs ?? 10_000 },
    { baseURL, apiKey: o.apiKey ?? KEY, fetch: o.fetch },
    o.live ?? (() => {}),
    o.signal ?? new AbortController().signal,
  );

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

export async function mockOf(...script: MockReply[]): Promise<MockModel> {
  const mock = await startMockModel({ script });
  closers.push(mock.close);
  return mock;
}
export async function serve(
  handler: (req: IncomingMessage, res: ServerResponse) => void | Promise<void>,
): Promise<string> {
  const server = createServer((req, res) => void handler(req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}
/** Answers with an event stream that consists of these writes. */
export const streaming = (...writes: (string | Buffer)[]): Promise<string> =>
  serve(async (_req, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const part of writes) {
      res.write(part);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    res.end();
  });
export const sse = (delta: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

export function reply(outcome: ModelOutcome): Reply {
  if (outcome.type === "failed") throw new Error(`failed: ${JSON.stringify(outcome.failure)}`);
  return outcome.reply;
}
export function failure(outcome: ModelOutcome): ModelFailure {
  if (outcome.type === "reply") throw new Error(`a reply: ${JSON.stringify(outcome.reply)}`);
  return outcome.failure;
}
export const answered = async (answer: MockReply): Promise<ModelFailure> =>
  failure(await call((await mockOf(answer)).url));
