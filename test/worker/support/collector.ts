/** A trace collector of the pool: strict about what it takes, and it counts for one test alone. */
import { expect } from "vitest";
import { decode, type Heard } from "../../support/otlp-decode.ts";
import { until, useVars } from "./client.ts";
import { serveAt } from "./upstream.ts";

const URL = "http://collector.test";

export class Collector {
  readonly spans: Heard[] = [];
  readonly faults: string[] = [];
  readonly headers: Record<string, string>[] = [];
  /** What is answered in place of 200. */
  answer: (() => Response | Promise<Response>) | null = null;
  readonly close: () => void;

  constructor() {
    useVars({
      OTEL_EXPORTER_OTLP_ENDPOINT: URL,
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=collector-secret",
    });
    this.close = serveAt(`${URL}/v1/traces`, (init) => {
      this.headers.push(Object.fromEntries(new Headers(init.headers)));
      if (this.answer) return this.answer();
      try {
        this.spans.push(...decode(String(init.body)));
      } catch (error) {
        this.faults.push(String(error));
      }
      return new Response("{}");
    });
  }
  /** The spans of one session, from first to last, once its turns have been told. */
  async of(session: string, turns = 1): Promise<Heard[]> {
    const mine = () => this.spans.filter((s) => s.attributes["gen_ai.conversation.id"] === session);
    const ended = () => mine().filter((s) => s.name.startsWith("invoke_agent"));
    await until(() => expect(ended()).toHaveLength(turns));
    expect(this.faults).toEqual([]);
    return mine().sort((a, b) => a.from - b.from || b.to - a.to);
  }
}
