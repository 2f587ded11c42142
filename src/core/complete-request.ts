/**
 * The proxy's request to the model: the client's own body, with what the guard and the endpoint need changed in it.
 *
 * Q1  What is not named here goes out as the client wrote it, in the client's order.
 * Q2  The hidden tool is added only where the model is free to choose it: tools, tool choice auto, plain text.
 * Q3  What the endpoint refuses is given up once per request, one thing at a time.
 */

import type { Done } from "./call.ts";
import { clientTool, doneIn } from "./client-tools.ts";
import { toolsFor } from "./dialect.ts";
import { isObject } from "./hygiene-json.ts";
import { type Choice, choiceFor, downgrade, fieldsOf, type Hint, type Profile } from "./profile.ts";
import type { Policy } from "./roles.ts";
import type { Harness } from "./settings.ts";
import { TERMINALS } from "./terminal.ts";
import type { JsonObject, ToolSpec } from "./tool.ts";

export const HIDDEN = "agent_response";

/** What the proxy was asked for. */
export interface Ask {
  /** The client's request, its types checked, without what is meant for the harness. */
  body: JsonObject;
  harness: Harness;
  /** `workflow`: answers come through the hidden tool; `guarded_chat`: bare text is one; `legacy`: no guard. */
  mode: Harness["mode"];
  target: { provider: string; model: string; profile: Profile };
  /** A fresh call id: nine letters and digits, which the strictest endpoints want. */
  newId(): string;
}

/** How the request is to be guarded; worked out once. */
export interface Plan {
  /** null: nothing is guarded, the reply goes straight through. */
  policy: Policy | null;
  harness: Harness;
  /** The client's functions as it wrote them. */
  tools: readonly JsonObject[];
  /** What a model may call. */
  specs: readonly ToolSpec[];
  /** What has succeeded, told from the client's history. */
  done: readonly Done[];
}

/** How the request is written for this endpoint, as far as it has been refused. */
export interface Shape {
  profile: Profile;
  /** Tools go out as the client wrote them; else in the profile's dialect. */
  ownTools: boolean;
  /** Empty content of the client's messages is written as the profile has it. */
  content: boolean;
  /** So is reasoning. */
  reasoning: boolean;
  /** The cap on the output under its other name. */
  otherCap: boolean;
  parallel: boolean;
  given: readonly Hint[];
}

const listOf = (raw: unknown): unknown[] => (Array.isArray(raw) ? raw : []);
const CAPS = ["max_tokens", "max_completion_tokens"] as const;

// ---------------------------------------------------------------- the guard

const isFree = (body: JsonObject): boolean => {
  const format = isObject(body.response_format) ? body.response_format.type : "text";
  return (body.tool_choice ?? "auto") === "auto" && format === "text";
};

export function planOf({ body, harness, mode }: Ask): Plan {
  const listed = listOf(body.tools).filter(isObject);
  const guarded = mode !== "legacy";
  const tools = listed.filter(
    (tool) =>
      tool.type === "function" &&
      isObject(tool.function) &&
      !(guarded && tool.function.name === HIDDEN),
  );
  if (!guarded || tools.length === 0) return { policy: null, harness, tools, specs: [], done: [] };
  const callable = body.tool_choice === "none" ? [] : tools.map(clientTool);
  const hidden = mode === "workflow" && isFree(body);
  const names = new Set(callable.map((tool) => tool.name));
  const own = relevant(harness, names);
  const terminal = [HIDDEN, ...harness.terminalTools.filter((name) => names.has(name))];
  const needsHistory = own.requiredSteps.length + Object.keys(own.toolPrerequisites).length > 0;
  return {
    policy: policyFor(hidden ? terminal : terminal.slice(1), hidden),
    harness: own,
    tools,
    specs: hidden ? [...callable, TERMINALS[HIDDEN]] : callable,
    done: needsHistory ? doneIn(listOf(body.messages), own) : [],
  };
}

const policyFor = (terminal: string[], hidden: boolean): Policy => ({
  role: "assistant",
  memory: "assistant",
  tools: true,
  offer: hidden ? [HIDDEN] : [],
  terminal,
  toolChoice: "auto",
  bareTextFinal: !hidden,
  liveText: false,
  guarded: true,
  workNeeded: false,
  capEnds: "turn",
  hears: false,
});

/** A deployment's order of tools may be about tools that this client does not have. */
function relevant(harness: Harness, names: ReadonlySet<string>): Harness {
  const known = Object.entries(harness.toolPrerequisites)
    .map(([name, wanted]) => [name, wanted.filter((p) => names.has(p.tool))] as const)
    .filter(([name, wanted]) => (names.has(name) || name === HIDDEN) && wanted.length > 0);
  return {
    ...harness,
    requiredSteps: harness.requiredSteps.filter((name) => names.has(name)),
    toolPrerequisites: Object.fromEntries(known),
  };
}

// ---------------------------------------------------------------- the body

export function shapeOf({ target: { provider, profile } }: Ask): Shape {
  // A client that names a function means that one, so of an endpoint that is merely not known to take it, it is asked.
  const level = profile.toolChoice === "required" ? "named" : profile.toolChoice;
  return {
    profile: { ...profile, toolChoice: level },
    ownTools: profile.dialect !== "gemini",
    // Of an unknown endpoint nothing is assumed: the client's words go out as they are.
    content: provider !== "custom",
    reasoning: false,
    otherCap: false,
    parallel: true,
    given: [],
  };
}

/** The functions that are sent, the hidden one last. */
function toolsSent({ tools, policy }: Plan, shape: Shape): JsonObject[] {
  const own = shape.ownTools ? [...tools] : inDialect(tools, shape.profile);
  if (!policy?.offer.length) return own;
  const { name, description, parameters } = TERMINALS[HIDDEN];
  return [...own, { type: "function", function: { name, description, parameters } }];
}
const inDialect = (tools: readonly JsonObject[], profile: Profile): JsonObject[] =>
  toolsFor(tools.map(clientTool), profile.dialect, false).tools.map((fn) => ({
    type: "function",
    function: fn,
  }));

/** What may be called: what was sent, unless the client forbids calls. */
export function offeredIn(plan: Plan, shape: Shape): readonly ToolSpec[] {
  if (shape.ownTools) return plan.specs;
  const sent = toolsSent(plan, shape).map((tool) => (tool.function as JsonObject).name);
  return plan.specs.filter((spec) => sent.includes(spec.name));
}

/** The exact text of the request. `added`: corrections after the client's messages. */
export function bodyOf(ask: Ask, plan: Plan, shape: Shape, added: readonly JsonObject[]): string {
  const { profile } = shape;
  const { stream_options: asked, ...own } = ask.body;
  const { stream_options: usage, ...fields } = fieldsOf(profile);
  const body: JsonObject = { ...own };
  for (const [field, value] of Object.entries(fields)) {
    const capped = CAPS.some((cap) => cap === field) && CAPS.some((cap) => own[cap] != null);
    if (field === "stream" || !(field in own || capped)) body[field] = value;
  }
  if (usage) body.stream_options = { ...(isObject(asked) ? asked : {}), include_usage: true };
  const messages = listOf(own.messages).map((message) => shapedMessage(message, shape));
  const told = plan.policy?.offer.length ? withSystemLine(messages) : messages;
  const rest = { model: ask.target.model, messages: [...told, ...added] };
  return JSON.stringify(withCap(withTools(Object.assign(body, rest), plan, shape), shape));
}

function withTools(body: JsonObject, plan: Plan, shape: Shape): JsonObject {
  const { tools: _, tool_choice: wanted, parallel_tool_calls: parallel, ...rest } = body;
  const tools = toolsSent(plan, shape);
  if (tools.length === 0) return rest;
  const choice = choiceSent(wanted, shape.profile);
  const fields: JsonObject = { tools };
  if (choice !== undefined) fields.tool_choice = choice;
  if (parallel !== undefined && shape.parallel) fields.parallel_tool_calls = parallel;
  // In the places that the client gave them.
  const kept = Object.keys(body).filter((key) => key in rest || key in fields);
  return Object.fromEntries(kept.map((key) => [key, key in fields ? fields[key] : rest[key]]));
}

function choiceSent(wanted: unknown, profile: Profile): unknown {
  if (wanted === undefined || wanted === null || profile.toolChoice === "none") return undefined;
  const fn = isObject(wanted) && isObject(wanted.function) ? wanted.function.name : undefined;
  const choice: Choice | null =
    wanted === "auto" || wanted === "required"
      ? wanted
      : typeof fn === "string"
        ? { name: fn }
        : null;
  // `none` and the newer forms are the endpoint's own matter.
  return choice === null ? wanted : choiceFor(profile, choice);
}

function withCap(body: JsonObject, { otherCap }: Shape): JsonObject {
  if (!otherCap) return body;
  const other = (key: string) => (key === CAPS[0] ? CAPS[1] : key === CAPS[1] ? CAPS[0] : key);
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [other(key), value]));
}

const SYSTEM_LINE = `Work with your tools as the task needs it. When you have the answer, or need something from the user, call the tool \`${HIDDEN}\` with the whole text that the user is to read: it is the only way to reach the user. Plain text beside tool calls is not shown.`;

/** The system line stands at the end of the client's own system message, or before everything. */
function withSystemLine(messages: unknown[]): unknown[] {
  const [first, ...rest] = messages;
  const isSystem = isObject(first) && (first.role === "system" || first.role === "developer");
  if (isSystem && typeof first.content === "string") {
    return [{ ...first, content: `${first.content}\n\n${SYSTEM_LINE}` }, ...rest];
  }
  if (isSystem && Array.isArray(first.content)) {
    return [
      { ...first, content: [...first.content, { type: "text", text: SYSTEM_LINE }] },
      ...rest,
    ];
  }
  return [{ role: "system", content: SYSTEM_LINE }, ...messages];
}

/** A message of the client as it is, unless the endpoint is known to want it otherwise. */
function shapedMessage(message: unknown, shape: Shape): unknown {
  if (!isObject(message) || message.role !== "assistant") return message;
  const { emptyContent, reasoning } = shape.profile;
  let shaped = message;
  if (shape.content && (message.content ?? null) === null && Array.isArray(message.tool_calls)) {
    const { content: _, ...rest } = message;
    if (emptyContent === "omit") shaped = rest;
    else shaped = { ...message, content: emptyContent === "empty" ? "" : null };
  }
  if (!shape.reasoning) return shaped;
  const { reasoning_content: thought, reasoning: also, ...said } = shaped;
  return reasoning === "none" ? said : { ...said, [reasoning]: thought ?? also ?? "" };
}

// ---------------------------------------------------------------- refusals

/** The request without what was refused; null: there is nothing of it, or it was given up before. */
export function less(shape: Shape, hint: Hint, { body }: Ask): Shape | null {
  if (shape.given.includes(hint)) return null;
  const changed = smaller(shape, hint, body);
  return changed && { ...shape, ...changed, given: [...shape.given, hint] };
}

function smaller(shape: Shape, hint: Hint, body: JsonObject): Partial<Shape> | null {
  const profile = downgrade(shape.profile, hint);
  if (hint === "schema" || hint === "strict") {
    return shape.ownTools ? { ownTools: false } : profile && { profile };
  }
  if (hint === "max_tokens_field" && CAPS.some((cap) => body[cap] != null))
    return { otherCap: true };
  if (hint === "parallel_tool_calls" && "parallel_tool_calls" in body) return { parallel: false };
  if (hint === "null_content" && !shape.content && shape.profile.emptyContent !== "null") {
    return { content: true };
  }
  if (hint === "null_content") return profile && { profile, content: true };
  if (hint === "reasoning_missing" || hint === "reasoning_unknown") {
    return { profile: profile ?? shape.profile, reasoning: true };
  }
  return profile && { profile };
}
