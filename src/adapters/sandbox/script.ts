/**
 * What is added to a script before the embedded shell runs it.
 *
 * S1  Every loop and function body begins with a command that gives the event loop a turn. Without it an endless loop
 *     never lets a timer or an abort in, because the interpreter does not yield. Nested shells are covered as well.
 * S2  Commands whose output goes to the terminal write it to the terminal file as they end, so that it can be seen
 *     live, in order, and is not lost when the script is cut off. The interpreter gives output only at its end.
 * S3  Nothing else changes: what is captured, piped or redirected is left alone, and so is a script that moves its
 *     own output with `exec`.
 */
import type { Bash } from "just-bash/browser";

export type Plugin = Parameters<Bash["registerTransformPlugin"]>[0];
type Script = Parameters<Plugin["transform"]>[0]["ast"];
type Statement = Script["statements"][number];
type Pipeline = Statement["pipelines"][number];
type Command = Pipeline["commands"][number];
type Simple = Extract<Command, { type: "SimpleCommand" }>;
type Compound = Exclude<Command, { type: "FunctionDef" } | { type: "SimpleCommand" }>;
type Redirection = Simple["redirections"][number];
type Word = NonNullable<Simple["name"]>;

/** The yielding command's name; a script that calls it itself does no harm. */
export const YIELD = "__yield";
/** Control flow, and `exec`, whose redirections outlive it. */
const BARE = new Set(["exec", "break", "continue", "return", "exit"]);
const LOOPS: ReadonlySet<unknown> = new Set(["For", "CStyleFor", "While", "Until"]);
const INPUT: ReadonlySet<string> = new Set(["<", "<<", "<<-", "<<<"]);

const word = (value: string): Word => ({ type: "Word", parts: [{ type: "Literal", value }] });
const literal = (name: Word): string =>
  name.parts.map((part) => ("value" in part ? String(part.value) : "")).join("");

function yielding(): Statement {
  const command: Simple = {
    type: "SimpleCommand",
    assignments: [],
    name: word(YIELD),
    args: [],
    redirections: [],
  };
  const pipeline: Pipeline = { type: "Pipeline", commands: [command], negated: false };
  return { type: "Statement", pipelines: [pipeline], operators: [], background: false };
}

/** Loops stand anywhere: in functions, pipelines, substitutions inside words. So every node is visited. */
function addYields(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  for (const child of Object.values(node)) addYields(child);
  if (!("type" in node && "body" in node)) return;
  if (LOOPS.has(node.type) && Array.isArray(node.body)) node.body.unshift(yielding());
  if (node.type === "FunctionDef") {
    const body = node.body as Compound;
    if (body.type === "Group" || body.type === "Subshell") body.body.unshift(yielding());
  }
}

const toTerminal = (fd: number, terminal: string): Redirection => ({
  type: "Redirection",
  fd,
  operator: ">>",
  target: word(terminal),
});

function addTerminal(statements: Statement[], terminal: string): void {
  for (const { pipelines } of statements) {
    for (const pipeline of pipelines) {
      pipeline.commands.forEach((command, i) => {
        const last = i === pipeline.commands.length - 1;
        if (last) showAll(command, terminal);
        else if (!pipeline.pipeStderr?.[i]) redirect(command, [2], terminal);
      });
    }
  }
}

/** Ours come first, so that the script's own redirections win. */
function redirect(command: Command, fds: number[], terminal: string): void {
  if (command.type === "FunctionDef") return;
  if (command.type === "SimpleCommand" && (!command.name || BARE.has(literal(command.name))))
    return;
  command.redirections.unshift(...fds.map((fd) => toTerminal(fd, terminal)));
}

function showAll(command: Command, terminal: string): void {
  const simple = command.type === "SimpleCommand" || command.type === "FunctionDef";
  const inner = simple ? [] : bodies(command);
  const onlyInput = !simple && command.redirections.every((r) => INPUT.has(r.operator));
  if (inner.length > 0 && onlyInput) for (const body of inner) addTerminal(body, terminal);
  else redirect(command, [1, 2], terminal);
}

function bodies(command: Compound): Statement[][] {
  switch (command.type) {
    case "If":
      return [...command.clauses.flatMap((c) => [c.condition, c.body]), command.elseBody ?? []];
    case "Case":
      return command.items.map((item) => item.body);
    case "While":
    case "Until":
      return [command.condition, command.body];
    case "For":
    case "CStyleFor":
    case "Subshell":
    case "Group":
      return [command.body];
    case "ArithmeticCommand":
    case "ConditionalCommand":
      return [];
  }
}

/** One plugin per run: nested shells come through it too, and their output may be captured by the script around. */
export function scriptPlugin(source: string, terminal: string): Plugin {
  let nested = /(^|[^-\w])exec\b/.test(source);
  return {
    name: "dormouse",
    transform({ ast }) {
      if (!nested) addTerminal(ast.statements, terminal);
      nested = true;
      addYields(ast);
      return { ast };
    },
  };
}
