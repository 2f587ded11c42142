/**
 * The ledger behind a real MCP server: `read` shows it, `append` adds a record and knows a repeated call by its key.
 * The judge keeps the books itself, outside of what the client under test sees.
 */
import { type McpFault, McpScript, type McpTool, text } from "../support/mcp-script.ts";

const schema = (properties: object, required: string[]) => ({
  ...{ type: "object", properties, required },
  additionalProperties: false,
});

export class McpLedger extends McpScript {
  readonly records: string[] = [];
  /** What strikes the nth call. */
  strike: (n: number) => McpFault | null = () => null;
  private readonly done = new Map<string, unknown>();
  private count = 0;

  /** `trouble`: where arguments are told that were not the ones that were meant. */
  constructor(claims: boolean, trouble: string[], padding = 0) {
    super();
    this.tools = [this.read(padding), this.append(claims, trouble)];
    this.fault = () => this.strike(++this.count);
  }

  private read(padding: number): McpTool {
    return {
      name: "read",
      description: "Shows the ledger.",
      inputSchema: schema({ page: { type: "integer" } }, []),
      annotations: { readOnlyHint: true },
      run: () =>
        text(`LEDGER ${JSON.stringify(this.records)}\n${"lorem ipsum ".repeat(padding / 12)}`),
    };
  }
  private append(claims: boolean, trouble: string[]): McpTool {
    const tags = { type: "array", items: { type: "string" } };
    return {
      name: "append",
      description: "Appends a record to the ledger.",
      inputSchema: schema({ record: { type: "string" }, weight: { type: "integer" }, tags }, [
        ...["record", "weight", "tags"],
      ]),
      ...(claims ? { _meta: { "dormouse/idempotencyKey": true } } : {}),
      run: ({ record, weight, tags: given }, { key, headerKey }) => {
        if (key === undefined || key !== headerKey) trouble.push(`keys ${key}, ${headerKey}`);
        if (weight !== 3 || JSON.stringify(given) !== '["a","b"]') {
          trouble.push(`wrong arguments: ${JSON.stringify({ record, weight, given })}`);
        }
        const known = this.done.get(String(key));
        if (known) return known;
        this.records.push(String(record));
        this.done.set(String(key), text(`appended ${String(record)}`));
        return this.done.get(String(key));
      },
    };
  }
}

/** The model speaks of `ledger_read` and `ledger_append`; the session calls them by their server. */
export const toSession = (said: string): string =>
  said.replace(/ledger(?=[_-](?:read|append))/gi, "mcp_ledger");
export const toModel = (heard: string): string => heard.replaceAll("mcp_ledger_", "ledger_");
