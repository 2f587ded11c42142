/** Calls written as text, in the formats of the model families. */
import { JUNK, type Kind, type Struck, say } from "./kind.ts";
import type { Spoken } from "./spoken.ts";

interface Wanted {
  name: string;
  args: Record<string, unknown>;
  json: string;
}
const FENCE = "```";

const written = (name: string, write: (wanted: Wanted) => string): Kind => ({
  name: `rescue: ${name}`,
  group: "content",
  costs: 0,
  strike: ({ right }: Struck) => {
    const [first] = right.calls;
    const json = String(first?.arguments);
    const args = JSON.parse(json) as Record<string, unknown>;
    return say({ text: write({ name: first?.name ?? "", args, json }), calls: [], finish: "stop" });
  },
});
const plain = ({ name, json }: Wanted) => `{"name": "${name}", "arguments": ${json}}`;
const parameters = ({ args }: Wanted) =>
  Object.entries(args)
    .map(([key, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return `<parameter=${key}>\n${text}\n</parameter>`;
    })
    .join("\n");

/** A call that must not run: it would leave its mark in the ledger. */
const BAD = `{"name": "ledger_append", "arguments": {"record": "${JUNK}", "weight": 3, "tags": ["a", "b"]}}`;
const PROSE = `${JUNK} So one would write it, and this is why it is done in that way. `.repeat(8);

const unheard = (name: string, write: (wanted: Wanted) => Partial<Spoken>): Kind => ({
  name: `no rescue: ${name}`,
  group: "content",
  costs: 1,
  strike: ({ right }: Struck) => {
    const [first] = right.calls;
    const json = String(first?.arguments);
    const said = write({ name: first?.name ?? "", args: {}, json });
    return say({ calls: [], finish: "stop", ...said });
  },
});

export const RESCUE: readonly Kind[] = [
  written("JSON whole", plain),
  written("JSON with tool and args", ({ name, json }) => `{"tool": "${name}", "args": ${json}}`),
  written("JSON list of tool_calls", (w) => {
    const fn = { name: w.name, arguments: w.json };
    return JSON.stringify({ tool_calls: [{ id: "x", type: "function", function: fn }] });
  }),
  written("JSON fenced", (w) => `${FENCE}json\n${plain(w)}\n${FENCE}`),
  written("JSON embedded", (w) => `Ich rufe das Werkzeug auf:\n${plain(w)}\n`),
  written("Hermes", (w) => `<tool_call>\n${plain(w)}\n</tool_call>`),
  written(
    "function and parameter tags",
    (w) => `<tool_call>\n<function=${w.name}>\n${parameters(w)}\n</function>\n</tool_call>`,
  ),
  written("Mistral list", (w) => `[TOOL_CALLS] [${plain(w)}]`),
  written("Mistral ARGS", ({ name, json }) => `[TOOL_CALLS]${name}[ARGS]${json}`),
  written(
    "Llama python_tag",
    ({ name, json }) => `<|python_tag|>{"name": "${name}", "parameters": ${json}}`,
  ),
  written(
    "DeepSeek tokens",
    ({ name, json }) =>
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n${FENCE}json\n${json}\n${FENCE}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ),
  written("after <think>", (w) => `<think>Was nun? {"name":"no"}</think>\n${plain(w)}`),
  written("after a lone </think>", (w) => `Was nun?</think>\n${plain(w)}`),
  written("two calls in Hermes marks", (w) => {
    const call = `<tool_call>\n${plain(w)}\n</tool_call>`;
    return `${call}\n${call}`;
  }),

  unheard("an example in the middle of prose", () => ({
    text: `${PROSE}\n${FENCE}json\n${BAD}\n${FENCE}\n${PROSE}`,
  })),
  unheard("a call in the reasoning", () => ({ thinking: BAD })),
  unheard("a call inside <think>", () => ({ text: `<think>${BAD}</think>\n${JUNK}, done.` })),
  unheard("a call inside an open <think>", () => ({ text: `<think>${JUNK}\n${BAD}` })),
  unheard("an unknown tool among them", (w) => ({
    text: `<tool_call>\n${plain(w)}\n</tool_call>\n<tool_call>{"name":"web","arguments":{}}</tool_call>${JUNK}`,
  })),
  unheard("half a call", (w) => ({ text: `<tool_call>\n${plain(w).slice(0, -8)}` })),
  unheard("a call in inline code", () => ({
    text: `${JUNK}: I would write \`${BAD}\` here, and so on.`,
  })),
];
