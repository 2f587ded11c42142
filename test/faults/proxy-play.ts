/**
 * A bare client's task with a fault in it, straight at the faulty server or behind the proxy: the proxy's machine and
 * model adapter are the real ones, and its reply takes the real way to JSON or chunks. Only the Worker is not there.
 */
import { createModelPort, profileFor } from "../../src/adapters/model/providers.ts";
import { type Ask, begin, type Next, nextRequest, take } from "../../src/core/complete.ts";
import { harnessOf, mergeSettings } from "../../src/core/settings-merge.ts";
import type { JsonObject } from "../../src/core/tool.ts";
import { chunksOf, completionOf } from "../../src/worker/proxy-reply.ts";
import { checkHistory } from "../support/history-oracle.ts";
import { type Format, JUNK, type Kind, POSITIONS, type Position } from "./kind.ts";
import { KINDS } from "./kinds.ts";
import { FINAL } from "./model.ts";
import { inParallel } from "./play.ts";
import { BareClient } from "./proxy-client.ts";
import { faultAt, PLACES, RECORDS } from "./proxy-model.ts";
import type { FaultyServer } from "./server.ts";

export type Way = "bare" | "proxy";

export interface ClientVerdict {
  kind: string;
  way: Way;
  position: Position;
  format: Format;
  /** Exactly the right ledger and the right answer. */
  completed: boolean;
  outcome: string;
  /** Requests to the model beyond those of a run without a fault, and how many the fault met. */
  extra: number;
  met: number;
  /** Effects that are wrong or there twice. */
  wrongEffects: string[];
  /** Requests that the history oracle refuses, and words of refused replies that the client was given. */
  wrong: string[];
}

const FORM = { id: "chatcmpl-1", created: 0, model: "m1", includeUsage: false };
const TIMEOUT_MS = 10_000;
const WIDTH = 4;
const EXPECTED = RECORDS.map((record) => JSON.stringify({ record, weight: 3, tags: ["a", "b"] }));

/** As `src/worker/proxy.ts` does it; no content fault makes it wait. */
async function complete(ask: Ask, model: ReturnType<typeof createModelPort>) {
  let next: Next = { type: "again", run: begin(ask), waitMs: 0 };
  while (next.type === "again") {
    const { run } = next;
    const body = nextRequest(run);
    const { provider, model: name } = ask.target;
    const request = { provider, model: name, body, timeoutMs: TIMEOUT_MS };
    next = take(run, await model.call(request, () => {}).outcome);
  }
  return next;
}

/** The proxy as a client's `fetch`. */
function proxy(url: string, wrong: string[]): typeof fetch {
  const env = {
    PROVIDER: "custom",
    CUSTOM_BASE_URL: url,
    CUSTOM_API_KEY: "sk-test-0000",
    CUSTOM_MODEL_NAME: "m1",
  };
  const model = createModelPort(env);
  const target = { provider: "custom", model: "m1", profile: profileFor(env, "custom", "m1") };
  const harness = harnessOf(mergeSettings([]), "assistant");
  let ids = 0;
  const newId = () => `id${String(++ids).padStart(7, "0")}`;
  return async (_, init) => {
    const body = JSON.parse(String(init?.body)) as JsonObject;
    wrong.push(...checkHistory(body).map((w) => `the client's request: ${w}`));
    const end = await complete({ body, harness, mode: "workflow", target, newId }, model);
    if (end.type === "failed") return Response.json({ error: end.failure }, { status: 502 });
    if (!body.stream) return Response.json(completionOf(end.answer, FORM));
    const frames = chunksOf(FORM)
      .end(end.answer)
      .map((c) => `data: ${JSON.stringify(c)}\n\n`);
    const headers = { "content-type": "text/event-stream" };
    return new Response(`${frames.join("")}data: [DONE]\n\n`, { headers });
  };
}

export async function playClient(
  server: FaultyServer,
  way: Way,
  kind: Kind,
  position: Position,
  format: Format,
): Promise<ClientVerdict> {
  let met = 0;
  const fault = faultAt(kind, PLACES[position], () => {
    met += 1;
  });
  const { url, desk } = server.open({ records: RECORDS, verify: true }, format, [fault]);
  const wrong: string[] = [];
  const client = new BareClient(url, format, way === "proxy" ? proxy(url, wrong) : undefined);
  const [answer, error] = await client.run().then(
    (text) => [text, null] as const,
    (reason: unknown) => [null, String(reason)] as const,
  );
  const done = client.ledger.map((entry) => JSON.stringify(entry));
  const wrongEffects = done.filter((e, i) => !EXPECTED.includes(e) || done.indexOf(e) !== i);
  wrong.push(...desk.violations);
  if (JSON.stringify(client.messages).includes(JUNK)) wrong.push("words of a refused reply");
  const right = done.join() === EXPECTED.join();
  const completed = right && answer === FINAL;
  const outcome = completed
    ? "completed"
    : (error ?? (right ? "wrong answer" : `ledger: [${done.join()}]`));
  const extra = desk.requests - PLACES.last;
  const run = { kind: kind.name, way, position, format };
  return { ...run, completed, outcome, extra, met, wrongEffects, wrong };
}

export const completedShare = (verdicts: readonly ClientVerdict[]): number =>
  verdicts.filter((v) => v.completed).length / Math.max(1, verdicts.length);

/** Every content kind wherever it may strike, as a stream and as one JSON body. */
export async function playClients(server: FaultyServer, way: Way, kinds = KINDS) {
  const runs = kinds
    .filter((k) => k.group === "content")
    .flatMap((kind) =>
      (kind.positions ?? POSITIONS).flatMap((position) =>
        (kind.formats ?? (["sse", "json"] as const)).map((format) => ({ kind, position, format })),
      ),
    );
  return inParallel(runs, WIDTH, ({ kind, position, format }) =>
    playClient(server, way, kind, position, format),
  );
}
