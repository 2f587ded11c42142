/**
 * What the practice model does next, as a pure function of the request.
 *
 * J1  One call per reply, and always an end: a refused `complete_step` is followed by an honest failure.
 * J2  Planning never loses a line and never repeats a step that is done or failed.
 */
import { head, headAndTail, titleFrom } from "../../core/chars.ts";
import {
  type Asked,
  type Done,
  doneSince,
  lastMessage,
  lastPart,
  list,
  type Message,
  readJson,
  record,
  string,
  type Tagged,
} from "./practice-request.ts";
import {
  commandsOf,
  isQuestion,
  isSmallTalk,
  type Language,
  languageOf,
  linesOf,
  optionsOf,
  WORDS,
} from "./practice-words.ts";

export interface Said {
  text: string;
  calls: { name: string; args: Record<string, unknown> }[];
}

const MAX_STEPS = 20;
const OUTPUT_CHARS = 600;
const RESULT_CHARS = 2_000;
const SUMMARY_CHARS = 12_000;

const say = (text: string): Said => ({ text, calls: [] });
const call = (name: string, args: Record<string, unknown>): Said => ({
  text: "",
  calls: [{ name, args }],
});

export function decide(asked: Asked): Said {
  const { tools, forced } = asked;
  if (forced === "deliver_result") return deliver(asked);
  if (forced === "create_plan" || (forced === "" && tools.has("create_plan"))) return plan(asked);
  if (forced === "update_plan" || (forced === "" && tools.has("update_plan"))) return replan(asked);
  if (tools.has("submit_review")) {
    return call("submit_review", { verdict: "pass", score: 10, issues: [], next_action: "none" });
  }
  if (tools.has("complete_step")) return work(asked);
  return assist(asked);
}

/** The person's words: marked ones, else the whole last message. */
function taskOf(messages: readonly Message[]): Tagged {
  const at = messages.findLastIndex((message) => message.role === "user");
  return lastMessage(messages) ?? { at, text: messages[at]?.text ?? "" };
}

function plan({ messages }: Asked): Said {
  const { text } = taskOf(messages);
  const language = languageOf(text);
  const words = WORDS[language];
  const lines = isSmallTalk(text) ? [] : linesOf(text);
  const steps = lines
    .slice(0, MAX_STEPS)
    .map((description, i) => ({ id: String(i + 1), description }));
  return call("create_plan", {
    message: steps.length > 0 ? words.planned(steps.length, lines.length > MAX_STEPS) : words.about,
    language,
    title: titleFrom((lines[0] ?? text).replaceAll("`", ""), 40) || words.empty,
    goal: head(text, 300),
    steps,
  });
}

/** What is neither done nor failed stays as it is; what the person has just said comes after it. */
function replan({ messages }: Asked): Said {
  const saved = lastPart(messages, "plan");
  const known = list(readJson(saved?.text ?? "").steps).map(record);
  const open = known
    .filter((step) => step.status === "pending" || step.status === "running")
    .map((step) => ({ id: String(step.id), description: string(step.description) }));
  const said = saved ? lastMessage([messages[saved.at] as Message])?.text : undefined;
  const fresh = said === undefined || isSmallTalk(said) ? [] : linesOf(said).slice(0, MAX_STEPS);
  const added = fresh.map((description, i) => ({ id: String(known.length + i + 1), description }));
  return call("update_plan", { steps: [...open, ...added] });
}

/** The step being worked on, from its first prompt: after an answer the harness only names it again. */
function stepOf(messages: readonly Message[]): Tagged {
  let step = lastPart(messages, "step");
  while (step && !messages[step.at]?.text.includes("<prior_steps>")) {
    const before: Tagged | null = lastPart(messages, "step", step.at);
    const since = before ? doneSince(messages.slice(0, step.at), before.at) : [];
    if (before?.text !== step.text || since.some(isCompletion)) break;
    step = before;
  }
  return step ?? taskOf(messages);
}

const isCompletion = (done: Done): boolean => done.call.name === "complete_step";

/** What a person sent while the step was worked on: it stands in the memory as it is, without tags. */
const saidSince = (messages: readonly Message[], at: number): string[] =>
  messages
    .slice(at + 1)
    .filter((m) => m.role === "user" && !/<(step|prior_steps)>/.test(m.text))
    .filter((m) => m.text !== RESUMED)
    .map((m) => m.text);
const RESUMED = "The user has answered. Go on.";

function work({ messages, tools }: Asked): Said {
  const step = stepOf(messages);
  const language = languageOf(step.text);
  const words = WORDS[language];
  const done = doneSince(messages, step.at);
  const said = saidSince(messages, step.at);
  const commands = [step.text, ...said].flatMap(commandsOf);
  if (done.some(isCompletion)) return complete(false, words.refused);
  const runs = done.filter((d) => d.call.name === "shell_exec");
  const next = commands[runs.length];
  if (next !== undefined) {
    return tools.has("shell_exec") ? exec(next, language) : complete(false, words.noShell);
  }
  const seenSoFar = runs.map((run) => seen(run, language));
  const heard = said.map((text) => words.heard(head(text, 200)));
  const passed = runs.every((run) => exitCodeOf(run.result) === 0);
  const report = [...seenSoFar, ...heard];
  if (isQuestion(step.text) && tools.has("message_ask_user")) {
    return question(step.text, done, tools, report, passed);
  }
  if (commands.length > 0) return complete(passed, report.join("\n\n"));
  return note(step.text, done, tools, heard);
}

/** Asks, and keeps the answer in a file, which is the step's work. */
function question(
  line: string,
  done: readonly Done[],
  tools: ReadonlySet<string>,
  report: readonly string[],
  passed: boolean,
): Said {
  const language = languageOf(line);
  const words = WORDS[language];
  const asked = done.find((d) => d.call.name === "message_ask_user");
  if (!asked) {
    const options = optionsOf(line);
    const args = { text: line.trim(), ...(options.length > 1 ? { options } : {}) };
    return call("message_ask_user", args);
  }
  const answer = (asked.result ?? "").trim() || words.empty;
  const saved = done.find((d) => d.call.name === "file_write");
  if (!saved && tools.has("file_write")) {
    return write("answers.md", `- ${line.trim()} ${answer}\n`, words.save);
  }
  const result = [...report, words.answered(answer)].join("\n\n");
  return complete(passed, result, saved ? ["/workspace/answers.md"] : []);
}

/** A line with nothing to run and nothing to ask becomes a note: that is all that rules can do with it. */
function note(
  line: string,
  done: readonly Done[],
  tools: ReadonlySet<string>,
  heard: readonly string[],
): Said {
  const words = WORDS[languageOf(line)];
  const saved = done.some((d) => d.call.name === "file_write");
  if (!saved && tools.has("file_write")) return write("notes.md", `${line}\n`, words.noted(line));
  return saved
    ? complete(true, [words.noted(line), ...heard].join("\n\n"), ["/workspace/notes.md"])
    : complete(false, words.refused);
}

const write = (path: string, content: string, brief: string): Said =>
  call("file_write", { path, content, append: true, brief: head(brief, 60) });

const exec = (command: string, language: Language): Said =>
  call("shell_exec", { command, brief: head(WORDS[language].run(command), 60) });

const complete = (success: boolean, result: string, attachments: string[] = []): Said =>
  call("complete_step", {
    success,
    result: headAndTail(result, RESULT_CHARS),
    ...(attachments.length > 0 ? { attachments } : {}),
  });

const EXIT = /\s*\[exit code (-?\d+)\]\s*$/;

function exitCodeOf(result: string | null): number | null {
  const code = EXIT.exec(result ?? "")?.[1];
  return code === undefined ? null : Number(code);
}

/** A command and what came of it, for a person. */
function seen(run: Done, language: Language): string {
  const output = headAndTail((run.result ?? "").replace(EXIT, "").trim(), OUTPUT_CHARS);
  const words = WORDS[language];
  const command = string(run.call.args.command);
  return words.ran(command, output || words.emptyOutput, exitCodeOf(run.result));
}

interface Outcome {
  description: string;
  success: boolean;
  result: string;
}

function deliver({ messages }: Asked): Said {
  const outcomes = stepOutcomes(messages);
  const language = languageOf(outcomes.map((o) => o.description).join(" "));
  const passed = outcomes.filter((o) => o.success).length;
  const parts = outcomes.map(
    (o, i) => `${i + 1}. ${o.success ? "✓" : "✗"} ${o.description}\n\n${o.result}`,
  );
  const message = [WORDS[language].summary(passed, outcomes.length), ...parts].join("\n\n");
  return call("deliver_result", { message: headAndTail(message, SUMMARY_CHARS) });
}

/** The steps of this task with the last word on each: the prompts, and the `complete_step` that followed. */
function stepOutcomes(messages: readonly Message[]): Outcome[] {
  const outcomes: (Outcome & { ended: boolean })[] = [];
  const prompts = messages.flatMap((message, at) => {
    const step = lastPart([message], "step");
    return step ? [{ at, description: step.text }] : [];
  });
  // The memory also holds the steps of earlier tasks; only the first prompt of a task repeats it.
  const first = prompts.findLastIndex(({ at }) => beginsTask(messages[at]?.text ?? ""));
  const own = prompts.slice(Math.max(0, first));
  own.forEach(({ at, description }, i) => {
    const until = own[i + 1]?.at ?? messages.length;
    const end = doneSince(messages.slice(0, until), at).findLast(isCompletion);
    const args = end?.call.args ?? {};
    // A step that was interrupted has a second prompt; it is still one step.
    const before = outcomes.at(-1);
    if (before && !before.ended && before.description === description) outcomes.pop();
    const ended = end !== undefined;
    outcomes.push({
      description,
      success: args.success === true,
      result: string(args.result),
      ended,
    });
  });
  return outcomes;
}

function beginsTask(prompt: string): boolean {
  const at = prompt.indexOf("<message>");
  const goal = prompt.indexOf("<goal>");
  return at >= 0 && (goal < 0 || at < goal);
}

/** Chat: run the commands of what the person said last, then say what came of them. */
function assist({ messages, tools }: Asked): Said {
  const from = turnStart(messages);
  const said = messages.slice(from).filter((m) => m.role === "user");
  const text = said.map((m) => m.text).join("\n");
  const language = languageOf(text);
  const runs = doneSince(messages, from - 1).filter((d) => d.call.name === "shell_exec");
  const commands = commandsOf(text);
  const next = commands[runs.length];
  if (next !== undefined && tools.has("shell_exec")) return exec(next, language);
  const outputs = runs.map((run) => seen(run, language));
  const answer =
    commands.length === 0 ? WORDS[language].about : outputs.join("\n\n") || WORDS[language].noShell;
  return tools.has("agent_response") ? call("agent_response", { text: answer }) : say(answer);
}

/** Where this turn begins: after the last answer, or after calls that a stop has ended. */
const turnStart = (messages: readonly Message[]): number =>
  messages.findLastIndex(
    (m) =>
      (m.role === "assistant" &&
        (m.calls.length === 0 || m.calls.some((c) => c.name === "agent_response"))) ||
      (m.role === "tool" && /^(Stopped|Cancelled|Not run)\b/.test(m.text)),
  ) + 1;
