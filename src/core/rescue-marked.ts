/**
 * Calls in the marks that model families were trained on: Hermes and Qwen, Mistral, Llama, DeepSeek and Kimi.
 *
 * M1  A mark means a call: one that cannot be read to its end spoils the reply (null), it is never guessed.
 * M2  Values between XML tags are raw text. One in which such a tag stands again is ambiguous, hence refused.
 * M3  Linear: each reader goes over the text once.
 */
import { isObject, readJsonAt } from "./hygiene-json.ts";
import { readSequence, SEAM, type Span, skip } from "./rescue-json.ts";

const SPACE = /\s*/y;
/** A closing brace too many, as Qwen writes it. */
const STRAY = /[\s}]*/y;
const FENCE = /\s*(?:```(?:json)?\s*)?/y;

// ---------------------------------------------------------------- Hermes, Qwen

const OPEN =
  /<tool_call>|<(?:｜DSML｜)?(?:function|invoke)(?:=|\s{1,9}name=)["']?([^<>"'\n]{1,128})["']?\s{0,9}>/g;
const PARAMETER =
  /\s*<(?:｜DSML｜)?parameter(?:=|\s{1,9}name=)["']?([^<>"'\n]{1,128})["']?(?:\s{1,9}string="(?:true|false)")?\s{0,9}>/y;
const VALUE_END = /<\/(?:｜DSML｜)?parameter>/g;
const FUNCTION_END = /\s*<\/(?:｜DSML｜)?(?:function|invoke)>/y;
const TOOL_CALL_END = /\s*(?:<\/tool_call>|$|(?=<tool_call>)|(?=<[|｜]))/y;
const FUNCTION_TAG = /\s*<(?:｜DSML｜)?(?:function|invoke)[=\s]/y;
const NESTED = /<(?:｜DSML｜)?parameter=|<\/(?:｜DSML｜)?function>/;

function exec(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
const endOf = (match: RegExpExecArray) => match.index + match[0].length;

/** `<function=name>`: parameters as tags, or one JSON object. */
function readFunction(text: string, open: RegExpExecArray): Span | null {
  const name = open[1] as string;
  const from = open.index;
  let at = endOf(open);
  const object = readJsonAt(text, at);
  if (object.ok && isObject(object.value)) {
    const close = exec(FUNCTION_END, text, skip(STRAY, text, object.end));
    const call = { name, arguments: JSON.stringify(object.value), bare: false };
    return close ? { from, to: endOf(close), calls: [call] } : null;
  }
  const args: [string, string][] = [];
  for (;;) {
    const parameter = exec(PARAMETER, text, at);
    if (!parameter) break;
    const start = endOf(parameter);
    const end = exec(VALUE_END, text, start);
    const value = end && text.slice(start, end.index);
    if (!end || value === null || NESTED.test(value) || value.includes(SEAM)) return null;
    // The line breaks next to the tags belong to the format.
    args.push([(parameter[1] as string).trim(), value.replace(/^\r?\n/, "").replace(/\r?\n$/, "")]);
    at = endOf(end);
  }
  const close = exec(FUNCTION_END, text, at);
  const call = { name, arguments: JSON.stringify(Object.fromEntries(args)), bare: false };
  return close ? { from, to: endOf(close), calls: [call] } : null;
}

/** `<tool_call>` around JSON. Its end may be missing where the text, or the next call, makes it plain. */
function readToolCall(text: string, open: RegExpExecArray): Span | null {
  const sequence = readSequence(text, skip(FENCE, text, endOf(open)));
  if (!sequence) return null;
  const close = exec(TOOL_CALL_END, text, skip(FENCE, text, skip(STRAY, text, sequence.to)));
  return close ? { ...sequence, from: open.index, to: endOf(close) } : null;
}

function readHermes(text: string): Span[] | null {
  const spans: Span[] = [];
  let at = 0;
  for (;;) {
    const open = exec(OPEN, text, at);
    if (!open) return spans;
    at = endOf(open);
    // A wrapper around <function=…>: the function is the next opening tag.
    if (open[1] === undefined && exec(FUNCTION_TAG, text, at)) continue;
    const span = open[1] === undefined ? readToolCall(text, open) : readFunction(text, open);
    if (!span) return null;
    spans.push(span);
    at = span.to;
  }
}

// ---------------------------------------------------------------- Mistral

const MISTRAL = /\[TOOL_CALLS\]|\[ARGS\]/g;
const CALL_ID = String.raw`(?:\[CALL_ID\]\s*[\w-]{1,64}\s*)?`;
const NAMED = new RegExp(String.raw`\s*([\w.:/-]{1,128})\s*${CALL_ID}(?:\[ARGS\]\s*)?(?=\{)`, "y");
const NAME_BEFORE = new RegExp(String.raw`([\w.:/-]{1,128})[ \t]*${CALL_ID}$`);

function readNamed(text: string, name: string, from: number, at: number): Span | null {
  const read = readJsonAt(text, at);
  if (!read.ok || !isObject(read.value)) return null;
  return {
    from,
    to: read.end,
    calls: [{ name, arguments: JSON.stringify(read.value), bare: false }],
  };
}

function readMistral(text: string): Span[] | null {
  const spans: Span[] = [];
  let at = 0;
  for (;;) {
    const mark = exec(MISTRAL, text, at);
    if (!mark) return spans;
    const end = endOf(mark);
    let span: Span | null;
    if (mark[0] === "[TOOL_CALLS]") {
      const named = exec(NAMED, text, end);
      span = named
        ? readNamed(text, named[1] as string, mark.index, endOf(named))
        : readSequence(text, end);
    } else {
      const start = skip(SPACE, text, end);
      const lead = text.slice(Math.max(at, mark.index - 220), mark.index);
      const before = text[start] === "{" ? NAME_BEFORE.exec(lead) : null;
      at = end;
      // `usage: cmd [ARGS]` is a manual page.
      if (!before) continue;
      span = readNamed(text, before[1] as string, mark.index - before[0].length, start);
    }
    if (!span) return null;
    spans.push({ ...span, from: Math.min(span.from, mark.index) });
    at = span.to;
  }
}

// ---------------------------------------------------------------- Llama

const PYTHON_TAG = "<|python_tag|>";

function readLlama(text: string): Span[] | null {
  const spans: Span[] = [];
  for (let at = text.indexOf(PYTHON_TAG); at >= 0; ) {
    const sequence = readSequence(text, at + PYTHON_TAG.length);
    if (!sequence) return null;
    spans.push({ ...sequence, from: at });
    at = text.indexOf(PYTHON_TAG, sequence.to);
  }
  return spans;
}

// ---------------------------------------------------------------- DeepSeek, Kimi

const CALL_BEGIN = /<[|｜]tool[▁_ ]call[▁_ ]begin[|｜]>/g;
/** The name, and before it in older models the kind of tool, which is always `function`. */
const HEAD =
  /\s*(?:function\s*<[|｜]tool[▁_ ]sep[|｜]>\s*)?([^\s<>`{]{1,128})\s*(?:<[|｜]tool[▁_ ](?:sep|call[▁_ ]argument[▁_ ]begin)[|｜]>)?/y;
const CALL_END = /[\s}]*(?:```\s*)?<[|｜]tool[▁_ ]calls?[▁_ ](?:section[▁_ ])?end[|｜]>/y;

function readDeepSeek(text: string): Span[] | null {
  const spans: Span[] = [];
  let at = 0;
  for (;;) {
    const begin = exec(CALL_BEGIN, text, at);
    if (!begin) return spans;
    const head = exec(HEAD, text, endOf(begin));
    if (!head) return null;
    const name = head[1] as string;
    const start = skip(FENCE, text, endOf(head));
    const span =
      text[start] === "{"
        ? readNamed(text, name, begin.index, start)
        : { from: begin.index, to: start, calls: [{ name, arguments: "", bare: false }] };
    const close = span && exec(CALL_END, text, span.to);
    if (!span || !close) return null;
    at = endOf(close);
    spans.push({ ...span, to: at });
  }
}

/** Each reads all calls of its format: none, some, or null for a broken one. */
export const MARKED: readonly ((text: string) => Span[] | null)[] = [
  readHermes,
  readMistral,
  readLlama,
  readDeepSeek,
];
