/**
 * A client as most are first written: OpenAI's own library, two tools, and no guard at all. It runs what it is told
 * to run, gives up at the first thing that it cannot run, and takes a reply without calls as the answer.
 */
import OpenAI from "openai";
import type { Format } from "./kind.ts";

type Params = OpenAI.ChatCompletionCreateParamsNonStreaming;
type Message = OpenAI.ChatCompletionMessage;
type Call = { id: string; function: { name: string; arguments: string } };

/** More replies than any run needs. */
const MOST = 30;

const TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "ledger_read",
      description: "Shows the ledger.",
      parameters: { type: "object", properties: { page: { type: "integer" } } },
    },
  },
  {
    type: "function",
    function: {
      name: "ledger_append",
      description: "Appends a record to the ledger.",
      parameters: {
        type: "object",
        properties: {
          record: { type: "string" },
          weight: { type: "integer" },
          tags: { type: "array", items: { type: "string" } },
        },
        required: ["record", "weight", "tags"],
      },
    },
  },
];

export interface Entry {
  record: string;
  weight: number;
  tags: string[];
}

export class BareClient {
  /** Each effect as it was done. */
  readonly ledger: Entry[] = [];
  readonly messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "system", content: "You keep a ledger." },
    { role: "user", content: "Trag beides ein." },
  ];
  private readonly api: OpenAI;
  private readonly format: Format;
  private readonly tools: Record<string, (args: Entry) => string> = {
    ledger_read: () => `LEDGER ${JSON.stringify(this.ledger.map((e) => e.record))}`,
    ledger_append: ({ record, weight, tags }) => {
      this.ledger.push({ record, weight, tags });
      return `appended ${record}`;
    },
  };

  constructor(baseURL: string, format: Format, fetch?: typeof globalThis.fetch) {
    const apiKey = "sk-test-0000";
    this.api = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 20_000, fetch });
    this.format = format;
  }

  /** The answer; throws where the loop breaks. */
  async run(): Promise<string | null> {
    for (let i = 0; i < MOST; i++) {
      const message = await this.ask();
      this.messages.push(message);
      if (!message.tool_calls?.length) return message.content;
      for (const call of message.tool_calls as Call[]) {
        this.messages.push({ role: "tool", tool_call_id: call.id, content: this.act(call) });
      }
    }
    throw new Error(`${MOST} replies without an answer`);
  }

  private async ask(): Promise<Message> {
    const params: Params = { model: "m1", messages: this.messages, tools: TOOLS };
    const { completions } = this.api.chat;
    if (this.format === "sse") {
      return completions.stream({ ...params, stream: true }).finalMessage();
    }
    const completion = await completions.create(params);
    const message = completion.choices[0]?.message;
    if (!message) throw new Error("no choice");
    return message;
  }
  private act({ function: { name, arguments: json } }: Call): string {
    const tool = this.tools[name];
    if (!tool) throw new Error(`no tool ${name}`);
    return tool(JSON.parse(json) as Entry);
  }
}
