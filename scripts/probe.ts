/**
 * `npm run probe -- --base-url https://host/v1 --model name [--key-env NAME]`: asks an OpenAI-compatible endpoint a
 * handful of tiny questions and prints the profile that fits it.
 *
 * The profile goes to standard output as JSON, ready for the variable CUSTOM_MODEL_PROFILE; what each probe was answered
 * goes to standard error. The key is read from the named environment variable and never printed.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { callOpenAI } from "../src/adapters/model/openai.ts";
import { toolsFor } from "../src/core/dialect.ts";
import type { ModelOutcome, Reply } from "../src/core/ports.ts";
import {
  type Choice,
  fieldsOf,
  type Profile,
  profileOf,
  shapeMessage,
  toolFieldsOf,
} from "../src/core/profile.ts";

export interface Target {
  baseURL: string;
  model: string;
  apiKey: string;
  timeoutMs?: number;
}
export interface Answer {
  probe: string;
  /** The value that was tried. */
  tried: string;
  accepted: boolean;
  said: string;
}

/** One question: what stands in the request besides the profile's own fields. */
interface Question {
  messages: object[];
  choice?: Choice;
}
interface Probe {
  name: string;
  /** Values in order of preference: the first that is accepted becomes part of the profile. */
  tries: Partial<Profile>[];
  question(p: Profile): Question;
  note?(reply: Reply): string;
}

const TOKENS = 256;
const WEATHER = {
  name: "get_weather",
  description: "Tells the weather of a city.",
  parameters: {
    type: "object",
    properties: {
      city: { type: "string", minLength: 1, description: "A city." },
      day: { anyOf: [{ type: "string" }, { type: "integer" }], default: "today" },
      scale: { type: "string", enum: ["c", "f"] },
    },
    required: ["city"],
  },
};
const user = (content: string) => ({ role: "user", content });
const WHAT = user("Call get_weather for Oslo.");
const called = (content: string | null, thought?: string) => ({
  role: "assistant",
  content,
  tool_calls: [
    {
      id: "c1n2",
      type: "function",
      function: { name: WEATHER.name, arguments: '{"city":"Oslo"}' },
    },
  ],
  ...(thought ? { reasoning_content: thought } : {}),
});
const RESULT = { role: "tool", tool_call_id: "c1n2", content: "7 degrees, rain" };
const hello = (): Question => ({ messages: [user("Say hello.")] });

const callsOf = ({ calls }: Reply): string =>
  calls.length > 0 ? `calls ${calls.map((c) => c.name).join(", ")}` : "no call";

/** What the body's own fields may be. */
const bodyProbes = (base: Profile): Probe[] => [
  {
    name: "max tokens",
    tries: [
      { maxTokensField: base.maxTokensField ?? "max_tokens" },
      {
        maxTokensField:
          base.maxTokensField === "max_tokens" ? "max_completion_tokens" : "max_tokens",
      },
      { maxTokensField: null },
    ],
    question: hello,
  },
  {
    name: "usage in the stream",
    tries: [{ streamUsage: true }, { streamUsage: false }],
    question: hello,
    note: (reply) => (reply.usage ? "usage came" : "no usage came"),
  },
];

/** What may stand beside tools. */
const toolProbes = (base: Profile): Probe[] => [
  {
    name: "schema dialect",
    tries:
      base.dialect === "gemini"
        ? [{ dialect: "gemini" }, { dialect: "plain" }]
        : [{ dialect: "openai" }, { dialect: "plain" }],
    question: () => ({ messages: [WHAT], choice: "auto" }),
    note: callsOf,
  },
  {
    name: "tool choice",
    tries: (["named", "required", "auto", "none"] as const).map((toolChoice) => ({ toolChoice })),
    question: () => ({ messages: [user("Hello.")], choice: { name: WEATHER.name } }),
    note: callsOf,
  },
  {
    name: "parallel calls",
    tries: [{ parallelToolCalls: "send-true" }, { parallelToolCalls: "omit" }],
    question: () => ({
      messages: [user("Call get_weather for Oslo and for Rome.")],
      choice: "auto",
    }),
    note: callsOf,
  },
];

/** What a history may hold. */
const historyProbes = (base: Profile): Probe[] => [
  {
    name: "reasoning",
    tries: [...new Set([base.reasoning, "none", "reasoning_content", "reasoning"] as const)].map(
      (reasoning) => ({ reasoning }),
    ),
    question: () => ({
      messages: [WHAT, called("I will look.", "The tool knows."), RESULT],
      choice: "auto",
    }),
    note: (reply) => (reply.thinking ? "it thinks" : ""),
  },
  {
    name: "call ids",
    tries: [{ callIds: "own" }, { callIds: "nine" }],
    question: () => ({ messages: [WHAT, called("I will look."), RESULT], choice: "auto" }),
  },
  {
    name: "empty content",
    tries: [{ emptyContent: "null" }, { emptyContent: "empty" }, { emptyContent: "omit" }],
    question: () => ({ messages: [WHAT, called(null), RESULT], choice: "auto" }),
  },
  {
    name: "system message midway",
    tries: [{ systemMidway: true }, { systemMidway: false }],
    question: ({ systemMidway }) => ({
      messages: [
        user("Hi."),
        ...(systemMidway ? [{ role: "system", content: "Be brief." }] : []),
        user("Say hello."),
      ],
    }),
  },
];

/** The body as the harness would send it. */
function bodyOf(model: string, profile: Profile, { messages, choice }: Question): string {
  const tools = toolsFor([WEATHER], profile.dialect, profile.strict).tools;
  const front = JSON.stringify({
    model,
    ...fieldsOf({ ...profile, maxTokens: TOKENS }),
    ...(choice
      ? {
          tools: tools.map((fn) => ({ type: "function", function: fn })),
          ...toolFieldsOf(profile, choice),
        }
      : {}),
  });
  const rows = [{ role: "system", content: "You are a test." }, ...messages];
  const texts = rows.map((row) => shapeMessage(JSON.stringify(row), profile));
  return `${front.slice(0, -1)},"messages":[${texts.join(",")}]}`;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function ask(target: Target, body: string): Promise<ModelOutcome> {
  const { baseURL, model, apiKey, timeoutMs = 60_000 } = target;
  const once = () =>
    callOpenAI(
      { provider: "custom", model, body, timeoutMs },
      { baseURL, apiKey },
      () => {},
      new AbortController().signal,
    );
  const outcome = await once();
  if (outcome.type === "reply" || !outcome.failure.retryable) return outcome;
  await pause(Math.min(outcome.failure.retryAfterMs ?? 500, 60_000));
  return once();
}

const shown = (value: Partial<Profile>): string => String(Object.values(value)[0]);

/** Null: the endpoint cannot be used at all. Never throws. */
export async function probe(
  target: Target,
  tell: (answer: Answer) => void = () => {},
): Promise<Profile | null> {
  const base = profileOf("custom", target.model, URL.parse(target.baseURL)?.host ?? "");
  let profile: Profile = base;
  const plain = JSON.stringify({ model: target.model, messages: [user("Say hello.")] });
  for (const [tried, body] of [
    ["whole", plain],
    ["stream", plain.replace("{", '{"stream":true,')],
  ] as const) {
    const outcome = await ask(target, body);
    tell({ probe: "plain", tried, ...answerOf(outcome) });
    if (outcome.type === "failed" && tried === "stream") return null;
  }
  const probes = [...bodyProbes(base), ...toolProbes(base), ...historyProbes(base)];
  for (const { name, tries, question, note } of probes) {
    for (const value of tries) {
      const next: Profile = { ...profile, ...value };
      const outcome = await ask(target, bodyOf(target.model, next, question(next)));
      tell({ probe: name, tried: shown(value), ...answerOf(outcome, note) });
      if (outcome.type === "failed") continue;
      profile = next;
      break;
    }
  }
  return profile;
}

function answerOf(
  outcome: ModelOutcome,
  note?: (reply: Reply) => string,
): { accepted: boolean; said: string } {
  if (outcome.type === "failed") return { accepted: false, said: outcome.failure.message };
  const said = [`finish ${outcome.reply.finish}`, note?.(outcome.reply) ?? ""];
  return { accepted: true, said: said.filter((part) => part !== "").join(", ") };
}

const USAGE =
  "usage: npm run probe -- --base-url https://host/v1 --model name [--key-env NAME]\n  --key-env  the environment variable that holds the API key";

/** 0: a profile was printed. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      "base-url": { type: "string" },
      model: { type: "string" },
      "key-env": { type: "string" },
    },
  });
  const { "base-url": baseURL, model, "key-env": keyName } = values;
  if (!baseURL || !model) {
    console.error(USAGE);
    return 2;
  }
  const apiKey = keyName ? (process.env[keyName]?.trim() ?? "") : "";
  if (keyName && apiKey === "") {
    console.error(`The environment variable ${keyName} is empty or not set.`);
    return 2;
  }
  const profile = await probe({ baseURL, model, apiKey }, (a) => {
    console.error(`${a.accepted ? "yes" : "no "}  ${a.probe}: ${a.tried}  (${a.said})`);
  });
  if (!profile) {
    console.error("The endpoint does not answer a plain question, so nothing can be told.");
    return 1;
  }
  console.log(JSON.stringify(profile, null, 2));
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main();
