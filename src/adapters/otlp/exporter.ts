/**
 * Sends spans to a collector over OTLP/HTTP in JSON, a batch at a time.
 *
 * X1  Nothing waits for it, and it never throws: what cannot be sent is dropped, and `dropped` is told how much.
 * X2  It is bounded: spans that wait, spans in a request, tries, and the time of each.
 * X3  A timer runs only while spans wait, and for a moment: an object at rest is not kept awake.
 */
import { LIMITS } from "../../core/limits.ts";
import type { Destination } from "./setup.ts";
import { attributesOf, type Span } from "./spans.ts";

export type Loss = "full" | "unreachable" | "refused" | "rejected";

export interface ExporterParts {
  to: Destination;
  waitUntil(sending: Promise<void>): void;
  /** Spans were lost. */
  dropped(count: number, why: Loss, status: number | null): void;
}
export interface Exporter {
  add(span: Span): void;
  /** Sends what waits, now. */
  flush(): void;
}

/** Worth another try, says OTLP. */
const PASSING = new Set([429, 502, 503, 504]);

type Ended =
  | { type: "taken" }
  | { type: "again"; afterMs: number; status: number | null }
  | { type: "lost"; count: number; why: Loss; status: number | null };

export function createExporter({ to, waitUntil, dropped }: ExporterParts): Exporter {
  const waiting: Span[] = [];
  let full = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let sending = false;
  /** The last batch could not be sent: the next one is not tried long. */
  let down = false;

  async function deliver(batch: Span[]): Promise<void> {
    const body = bodyOf(to, batch);
    const most = down ? 1 : LIMITS.traceTries;
    for (let tries = 1; ; tries++) {
      const ended = await post(to, body, batch.length);
      if (ended.type === "again" && tries < most) {
        await pause(Math.min(LIMITS.tracePauseMs, ended.afterMs * tries));
        continue;
      }
      down = ended.type === "again";
      if (ended.type === "again") dropped(batch.length, "unreachable", ended.status);
      if (ended.type === "lost") dropped(ended.count, ended.why, ended.status);
      return;
    }
  }
  async function run(): Promise<void> {
    while (waiting.length > 0) await deliver(waiting.splice(0, LIMITS.traceBatch));
    if (full > 0) dropped(full, "full", null);
    full = 0;
    sending = false;
  }
  function flush(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (sending || waiting.length === 0) return;
    sending = true;
    waitUntil(run());
  }
  return {
    flush,
    add(span) {
      if (waiting.length >= LIMITS.traceWaiting) {
        full += 1;
        return;
      }
      waiting.push(span);
      if (waiting.length >= LIMITS.traceBatch) flush();
      else timer ??= setTimeout(flush, LIMITS.traceLingerMs);
    },
  };
}

export const bodyOf = ({ resource }: Pick<Destination, "resource">, spans: Span[]): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [
          { scope: { name: "dormouse", version: resource["service.version"] ?? "" }, spans },
        ],
      },
    ],
  });

/** A timer that is left behind would keep the object awake, so it is cleared whatever happens. */
async function post({ url, headers }: Destination, body: string, count: number): Promise<Ended> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), LIMITS.traceTimeoutMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { "user-agent": "Dormouse", ...headers, "content-type": "application/json" },
      // The collector's key goes nowhere else.
      redirect: "manual",
      signal: abort.signal,
    });
    return await endOf(response, count);
  } catch {
    return { type: "again", afterMs: LIMITS.traceLingerMs, status: null };
  } finally {
    clearTimeout(timer);
  }
}

async function endOf(response: Response, count: number): Promise<Ended> {
  const { status } = response;
  if (response.ok) {
    const lost = rejectedIn(await response.text());
    return lost > 0 ? { type: "lost", count: lost, why: "rejected", status } : { type: "taken" };
  }
  await response.body?.cancel();
  if (!PASSING.has(status)) return { type: "lost", count, why: "refused", status };
  const asked = Number(response.headers.get("retry-after") ?? "");
  return { type: "again", afterMs: asked > 0 ? asked * 1000 : LIMITS.traceLingerMs, status };
}

/** A collector may take some spans and not others. */
function rejectedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as {
      partialSuccess?: { rejectedSpans?: number | string };
    };
    return Math.max(0, Number(partialSuccess?.rejectedSpans ?? 0)) || 0;
  } catch {
    return 0;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
