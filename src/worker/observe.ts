/**
 * What becomes of facts: lines of the log always, spans and counters where the deployment has a place for them.
 *
 * N1  Without a destination nothing is made, kept or sent.
 * N2  Telling never throws: what cannot be told is said in the log, and the work goes on.
 */
import { createExporter, type Exporter } from "../adapters/otlp/exporter.ts";
import { headerFor, type Turn } from "../adapters/otlp/ids.ts";
import { otlpSetup } from "../adapters/otlp/setup.ts";
import { spanOf } from "../adapters/otlp/spans.ts";
import type { Fact } from "../core/facts.ts";
import type { Session } from "../core/session.ts";
import { VERSION } from "./config.ts";
import { pointOf } from "./counters.ts";
import type { Bindings } from "./env.ts";
import { logFact } from "./fact-log.ts";
import { log } from "./log.ts";

export interface Observer {
  tell(fact: Fact): void;
  /** `traceparent` for a request that belongs to what `key` names; undefined where nothing is traced. */
  header(turn: Turn, key: string): string | undefined;
}

export function observe(env: Bindings, waitUntil: (work: Promise<void>) => void): Observer {
  const exporter = exporterFor(env, waitUntil);
  return {
    tell(fact) {
      logFact(fact);
      try {
        if (exporter) trace(exporter, fact);
        const point = env.ANALYTICS ? pointOf(fact) : null;
        if (point) env.ANALYTICS?.writeDataPoint(point);
      } catch (error) {
        log("error", "fact_not_told", { fact: fact.fact }, error);
      }
    },
    header: (turn, key) => (exporter ? headerFor(turn, key) : undefined),
  };
}

/** The turn that a session is in, as traces know it. */
export const turnOf = (s: Session): Turn => ({
  session: s.id,
  turn: s.run,
  trace: s.turn?.began?.trace ?? "",
});

function trace(exporter: Exporter, fact: Fact): void {
  const span = spanOf(fact);
  if (span) exporter.add(span);
  // The object may be gone in a moment.
  const proxied = "mode" in fact && fact.mode === "proxy";
  if (fact.fact === "turn_ended" || fact.fact === "wait_began" || proxied) exporter.flush();
}

let complained = false;

/** A destination that cannot be used is said once by each isolate, and by the deep check of /api/health. */
function exporterFor(env: Bindings, waitUntil: (work: Promise<void>) => void): Exporter | null {
  const setup = otlpSetup(env, VERSION);
  if (setup.type === "wrong" && !complained) {
    complained = true;
    log("error", "traces_off", { why: setup.why });
  }
  if (setup.type !== "on") return null;
  return createExporter({
    to: setup.to,
    waitUntil,
    dropped: (spans, why, status) => log("warn", "spans_dropped", { spans, why, status }),
  });
}
