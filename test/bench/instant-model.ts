/**
 * A model that answers at once, for measuring everything around it. It runs outside of the measured process.
 *
 * I1  It knows a run by the name of its model, `bench-<n>-<steps>-<deltas>-<kind>`: the first reply plans one step, then
 *     come as many tool calls, each after so many pieces of text, then the step is completed. A run of kind `floor` has
 *     no plan, one of kind `peer` has none and ends with text.
 * I2  A reply is one write: the stream of chunks that a provider would send, all at once.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface InstantModel {
  /** The base URL of the API, without a slash at its end. */
  url: string;
  /** Resolves when the last reply of a run has been sent. */
  finished(model: string): Promise<void>;
  /** The first request of a run that offers work tools; "" before it came. */
  firstWork(model: string): string;
  close(): Promise<void>;
}

interface Run {
  asked: number;
  steps: number;
  deltas: number;
  planned: boolean;
  firstWork: string;
  done: PromiseWithResolvers<void>;
}

const PLAN = JSON.stringify({
  message: "One step.",
  language: "en",
  title: "Bench",
  goal: "Measure",
  steps: [{ id: "1", description: "Read the file" }],
});
const DONE = JSON.stringify({ success: true, result: "Read." });

/** The arguments differ from call to call: a harness may treat the same call again in its own way. */
const readArguments = (n: number): string =>
  JSON.stringify({ path: "/workspace/notes.txt", end_line: n, brief: "Read the notes" });

export async function startInstantModel(): Promise<InstantModel> {
  const runs = new Map<string, Run>();
  const runOf = (model: string): Run => {
    const known = runs.get(model);
    if (known) return known;
    const [, , steps, deltas, kind] = model.split("-");
    const run: Run = {
      asked: 0,
      steps: Number(steps),
      deltas: Number(deltas),
      planned: kind !== "full",
      firstWork: "",
      done: Promise.withResolvers<void>(),
    };
    runs.set(model, run);
    return run;
  };
  const server = createServer((request, response) => {
    serve(request, response, runOf).catch((error: unknown) => response.destroy(error as Error));
  });
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    finished: (model) => runOf(model).done.promise,
    firstWork: (model) => runOf(model).firstWork,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  runOf: (model: string) => Run,
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const name = /"model":"(bench-[^"]+)"/.exec(parts[0]?.toString("utf8", 0, 200) ?? "")?.[1];
  if (!name) throw new Error("a request without a run");
  const run = runOf(name);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(replyTo(run, name, parts));
}

function replyTo(run: Run, model: string, parts: Buffer[]): string {
  if (!run.planned) {
    run.planned = true;
    return streamOf(model, 0, "create_plan", PLAN);
  }
  run.firstWork ||= Buffer.concat(parts).toString("utf8");
  run.asked += 1;
  if (run.asked <= run.steps) {
    return streamOf(model, run.asked, "file_read", readArguments(run.asked), run.deltas);
  }
  run.done.resolve();
  if (model.endsWith("-peer")) return textOf(model, run.asked, "Read.");
  return streamOf(model, run.asked, "complete_step", DONE);
}

const chunkOf = (model: string, n: number, delta: unknown, finish: string | null = null) =>
  JSON.stringify({
    id: `chatcmpl-${n}`,
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

/** Usage and the end, after whatever was said. */
function lines(model: string, n: number, chunks: string[]): string {
  const usage = { prompt_tokens: 1_000, completion_tokens: 20, total_tokens: 1_020 };
  const last = { id: `chatcmpl-${n}`, object: "chat.completion.chunk", model, choices: [], usage };
  return [...chunks, JSON.stringify(last), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
}

const textOf = (model: string, n: number, text: string): string =>
  lines(model, n, [
    chunkOf(model, n, { role: "assistant", content: text }),
    chunkOf(model, n, {}, "stop"),
  ]);

function streamOf(model: string, n: number, name: string, args: string, deltas = 0): string {
  const call = (part: object) => ({ tool_calls: [{ index: 0, ...part }] });
  const half = Math.ceil(args.length / 2);
  const head = { id: `call_${n}`, type: "function", function: { name, arguments: "" } };
  return lines(model, n, [
    chunkOf(model, n, { role: "assistant", content: null }),
    ...Array.from({ length: deltas }, (_, i) => chunkOf(model, n, { content: `word ${i} ` })),
    chunkOf(model, n, call(head)),
    chunkOf(model, n, call({ function: { arguments: args.slice(0, half) } })),
    chunkOf(model, n, call({ function: { arguments: args.slice(half) } })),
    chunkOf(model, n, {}, "tool_calls"),
  ]);
}
