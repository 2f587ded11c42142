/**
 * What of a request a refusal is about, told from the provider's words, so that a smaller profile can be tried.
 *
 * I1  Only words about the request count; what a server echoes of the conversation is not read.
 * I2  When in doubt there is no hint: the refusal is final then, as without profiles.
 */
import type { Hint } from "../../core/profile.ts";

const UNKNOWN =
  /unknown|unrecogni[sz]ed|unsupported|unexpected|extra (inputs|fields)|additional propert|not (permitted|allowed|supported)|does(n't| not) support|invalid field|cannot find field|remove|extra_forbidden/;
const rule =
  (hint: Hint, ...patterns: RegExp[]) =>
  (words: string): Hint | null =>
    patterns.every((pattern) => pattern.test(words)) ? hint : null;

/** In this order: the words of a later rule may stand in the text of an earlier one. */
const RULES: readonly ((words: string) => Hint | null)[] = [
  rule("stream_options", /stream[_ ]options|include_usage/),
  rule("parallel_tool_calls", /parallel[_ ]tool[_ ]calls/),
  // Its stem stands in for all three levels: which one was sent is known from the request.
  rule("tool_choice", /tool[_ -]?choice|toolchoice|function[_ ]calling[_ ]config/),
  rule(
    "max_tokens_field",
    /max_(completion_)?tokens/,
    /use '?"?`?max_|instead|unknown|unsupported|unrecogni|not (permitted|supported|allowed)|extra inputs/,
  ),
  rule("reasoning_unknown", /reasoning/, /remove (the )?.{0,20}reasoning|not be included/),
  rule(
    "reasoning_missing",
    /\breasoning(_content|_details| content)?\b/,
    /pass(ed)? back|missing|required|expected|must|lacks?\b/,
  ),
  rule("reasoning_unknown", /reasoning(?!_effort)/, UNKNOWN),
  rule(
    "null_content",
    /\bcontent\b[^.]{0,80}(\bnull\b|\bnone\b|<nil>|valid string|(be|expected|expects) (a |an )?(non-empty )?(string|str)\b|is required|required property|non-?empty|not be empty|must not be empty)|(\bnull\b|non-?empty|missing|required|empty)[^.]{0,40}\bcontent\b|\bcontent type: <nil>/,
  ),
  rule(
    "strict",
    /\bstrict\b|'?additionalproperties'? is required|including every key in properties/,
  ),
  rule(
    "schema",
    /invalid schema|json schema|input_schema|function_declarations|invalid_function_parameters|function[. _]+parameters|tools?[.[ ]*\d+.{0,60}(parameters|schema|function)|schema .{0,40}(tool|function)|(tool|function) .{0,60}schema/,
  ),
];

/** `body`: the request that was refused. */
export function hintIn(refusal: string, body: string): Hint | null {
  const words = aboutRequest(refusal).toLowerCase();
  const needsSupport = /enable-auto-tool-choice/.test(words);
  const hint = RULES.map((find) => find(words)).find((found) => found !== null) ?? null;
  if (hint !== "tool_choice") return hint;
  return needsSupport ? null : choiceSent(body);
}

/** Which level the refused request held; null: none, so nothing can be given up. */
function choiceSent(body: string): Hint | null {
  const choice = recordOf(parse(body))?.tool_choice;
  if (choice === undefined || choice === null) return null;
  if (typeof choice === "object") return "tool_choice_named";
  return choice === "auto" ? "tool_choice_auto" : "tool_choice";
}

/** The words and places of an error, without the input that validators echo. */
export function aboutRequest(text: string): string {
  const body = parse(text);
  if (body === undefined) return text.slice(0, 2_000);
  return wordsOf(body, 0).join(" ").slice(0, 4_000);
}

const TELLING = new Set([
  "error",
  "errors",
  "message",
  "msg",
  "detail",
  "code",
  "type",
  "param",
  "loc",
  "raw",
  "metadata",
  "status",
  "reason",
  "description",
]);

function wordsOf(value: unknown, depth: number): string[] {
  if (depth > 6) return [];
  if (typeof value === "string") {
    // Gateways pass on another's error as text.
    const inner = value.trimStart().startsWith("{") ? parse(value) : undefined;
    return inner === undefined ? [value.slice(0, 2_000)] : wordsOf(inner, depth + 1);
  }
  if (Array.isArray(value)) {
    const place = value.every((part) => typeof part === "string" || typeof part === "number");
    if (place) return [value.join(".")];
    return value.slice(0, 20).flatMap((item) => wordsOf(item, depth + 1));
  }
  return Object.entries(recordOf(value) ?? {})
    .filter(([key]) => TELLING.has(key))
    .flatMap(([, part]) => wordsOf(part, depth + 1));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const recordOf = (raw: unknown): Record<string, unknown> | null =>
  typeof raw === "object" && raw !== null ? (raw as Record<string, unknown>) : null;
