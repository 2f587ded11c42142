/**
 * The world outside, where effects happen: a ledger behind an MCP server that is often in trouble.
 *
 * `append` knows a repeated call by its key and says so; `book` knows no keys, so it does what it is told each time, and
 * who does not know what became of a call has to look with `find`. `flaky` fails in its own words, once for each record.
 */
import { failed, type McpFault, McpScript, text } from "../support/mcp-script.ts";
import type { Dice } from "./dice.ts";

const schema = {
  ...{ type: "object", properties: { record: { type: "string" } } },
  ...{ required: ["record"], additionalProperties: false },
};

/** How often a call meets trouble. */
const TROUBLE = 0.12;

export class Ledger extends McpScript {
  /** How often each record stands in it. */
  readonly records = new Map<string, number>();
  readonly #done = new Set<string>();
  readonly #failed = new Set<string>();
  /** Off for the drain. */
  trouble = true;
  struck = 0;

  constructor(chance: Dice) {
    super();
    this.sessionful = false;
    const tool = (
      name: string,
      run: (record: string, key: string) => unknown,
      more: object = {},
    ) => ({
      ...{ name, description: name, inputSchema: schema, ...more },
      run: ({ record }: Record<string, unknown>, { key = "" }: { key: string | undefined }) =>
        run(String(record), key),
    });
    this.tools = [
      tool("find", (record) => text(`found ${this.records.has(record) ? "yes" : "no"}`), {
        annotations: { readOnlyHint: true },
      }),
      tool("append", (record, key) => this.#append(record, key), {
        _meta: { "dormouse/idempotencyKey": true },
      }),
      tool("book", (record) => this.#write(record)),
      tool("flaky", (record) => this.#flaky(record)),
    ];
    this.fault = () => (this.trouble && chance.hits(TROUBLE) ? this.#strike(chance) : null);
  }

  #write(record: string): unknown {
    this.records.set(record, (this.records.get(record) ?? 0) + 1);
    return text(`appended ${record}`);
  }
  #append(record: string, key: string): unknown {
    if (this.#done.has(key)) return text(`appended ${record}`);
    this.#done.add(key);
    return this.#write(record);
  }
  #flaky(record: string): unknown {
    if (this.#failed.has(record)) return this.#write(record);
    this.#failed.add(record);
    return failed("The ledger is being moved, please try again.");
  }

  #strike(chance: Dice): McpFault {
    this.struck += 1;
    const busy = { type: "http", status: 503, headers: {}, body: "busy" } as const;
    return chance.pick<McpFault>([
      () => busy,
      () => ({ type: "reset" }),
      (perform) => {
        perform();
        return { type: "reset" };
      },
      (perform) => {
        perform();
        return { type: "hang" };
      },
      async (perform) => {
        const reply = perform();
        await new Promise((resolve) => setTimeout(resolve, chance.between(100, 1_500)));
        return reply;
      },
    ]);
  }
}
