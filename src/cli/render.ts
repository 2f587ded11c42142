/**
 * Frames of a session as lines of a terminal.
 *
 * L1  Everything that a model, a tool or a server said passes `tame`.
 * L2  Whole lines only, each once: a live text is not said again when its message is stored.
 * L3  The answer to a task goes to `answer`, everything about the way there to `progress`.
 */
import type { Frame } from "../client/index.ts";
import type { Event, EventData, Step, Wait } from "../core/events.ts";
import { routeOf } from "../core/route.ts";
import { oneLine, tame } from "./escape.ts";
import type { Paint, Tone } from "./paint.ts";
import { clip } from "./paint.ts";
import { type LineStream, lineStream } from "./stream.ts";
import type { Say } from "./strings.ts";
import { endOf, labelOf, resultLines } from "./tool-lines.ts";

export interface Look {
  say: Say;
  paint: Paint;
  colour: boolean;
  /** Text is shown while it streams. */
  live: boolean;
  columns(): number;
  progress(line: string): void;
  answer(line: string): void;
}

type Of<N extends Event["event"]> = EventData<N>;
const MARKS = { pending: "○", running: "▸", completed: "✓", failed: "✗" } as const;
const RESET = "\u001b[0m";

export class Renderer {
  readonly #look: Look;
  /** Client ids of what was typed here: it stands on the screen already. */
  readonly mine = new Set<string>();
  readonly #texts = new Map<string, LineStream>();
  readonly #outputs = new Map<string, LineStream>();
  #began = 0;
  #ownLine = false;
  #spent = { calls: 0, in: 0, out: 0 };
  #steps: readonly Step[] = [];

  constructor(look: Look) {
    this.#look = look;
  }

  take(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (frame.type === "event") this.event(frame);
      else if (frame.type === "live" && this.#look.live) this.#live(frame);
      // A new connection tells its live texts from their beginning.
      else if (frame.type === "hello") this.#texts.clear();
    }
  }

  event(e: Event): void {
    const { say } = this.#look;
    switch (e.event) {
      case "message":
        return this.#message(e.data);
      case "plan":
        return this.#plan(e.data);
      case "step":
        return this.#step(e.data);
      case "tool":
        if (e.data.usage) this.#spend(e.data.usage.model_calls, e.data.usage);
        return this.#tool(e.data);
      case "usage":
        return this.#spend(1, e.data);
      case "notice":
        return this.#line("quiet", `! ${oneLine(e.data.text)}`);
      case "nudge":
        return this.#line("quiet", `! ${say("nudge", e.data.reason)}`);
      case "compaction":
        return this.#line("quiet", `! ${say("compaction")}`);
      case "review":
        this.#line("plain", say("review", e.data.verdict, e.data.score));
        for (const issue of e.data.issues) this.#line("quiet", `  - ${oneLine(issue)}`);
        return;
      case "wait":
        return this.#wait(e.data);
      case "answer":
        return this.#answered(e.data);
      case "error":
        return this.#line("bad", `✗ ${tame(e.data.message)}`);
      case "status_update":
        if (e.data.status === "running" && this.#began === 0) this.#began = Date.parse(e.ts);
        return;
      case "done":
        return this.#done(e.data.outcome, Date.parse(e.ts));
      default:
        return;
    }
  }

  #line(tone: Tone, text: string): void {
    this.#look.progress(this.#look.paint(tone, text));
  }

  /** A wait that was open before: with its question, which no message tells. */
  wait(wait: Wait): void {
    if (wait.kind === "question") this.#line("ask", `? ${tame(wait.text)}`);
    this.#wait(wait);
  }
  #wait({ kind, text, tool, options = [] }: Wait): void {
    if (kind !== "question") this.#line("ask", `? ${tame(text)}`);
    // What is allowed is shown whole: nothing may hide at its end.
    if (tool) this.#line("plain", tame(`${tool.function} ${JSON.stringify(tool.args, null, 2)}`));
    for (const [i, option] of options.entries())
      this.#line("plain", `  ${i + 1}. ${oneLine(option)}`);
  }

  #message(data: Of<"message">): void {
    const { role, kind, content, attachments, message_id, client_id } = data;
    if (role === "user") {
      this.#ownLine = routeOf(content, "agent").type === "shell";
      if (client_id && this.mine.delete(client_id)) return;
      return this.#line("strong", `${this.#look.say("you")} › ${tame(content)}`);
    }
    const streamed = this.#texts.get(message_id);
    this.#texts.delete(message_id);
    const last = kind === "final" || kind === "answer";
    if (streamed) streamed.end();
    // On one screen the output of a person's own command line stands above already.
    else if (last && this.#ownLine && this.#look.live) return;
    else if (last) this.#look.answer(tame(content, this.#look.colour));
    else if (kind === "question") this.#line("ask", `? ${tame(content)}`);
    else this.#line("plain", tame(content));
    for (const file of attachments) {
      this.#line("quiet", this.#look.say("file", oneLine(file.path), file.size));
    }
  }

  #plan({ op, steps }: Of<"plan">): void {
    const before = this.#steps.map((s) => s.id).join();
    this.#steps = steps;
    const changed = op === "updated" && before !== steps.map((s) => s.id).join();
    if (steps.length === 0 || (op !== "created" && !changed)) return;
    this.#line("strong", this.#look.say(changed ? "planChanged" : "plan"));
    for (const [i, s] of steps.entries()) {
      this.#line("quiet", `  ${i + 1}. ${MARKS[s.status]} ${this.#short(s.description, 8)}`);
    }
  }

  #step(step: Of<"step">): void {
    const number = this.#steps.findIndex((s) => s.id === step.id) + 1;
    const name = `${number > 0 ? `${number}. ` : ""}${this.#short(step.description, 8)}`;
    const bad = step.status === "failed" || step.success === false;
    if (step.status === "running") return this.#line("strong", `▸ ${name}`);
    this.#line(bad ? "bad" : "good", `${bad ? MARKS.failed : MARKS.completed} ${name}`);
    const why = oneLine(step.error ?? (bad ? (step.result ?? "") : ""));
    if (why) this.#line("bad", `  ${why}`);
  }

  #tool(data: Of<"tool">): void {
    const { say, paint, colour } = this.#look;
    if (data.status === "calling") {
      return this.#line("plain", `  ● ${this.#short(labelOf(data), 6)}`);
    }
    const streamed = this.#outputs.get(data.tool_call_id);
    this.#outputs.delete(data.tool_call_id);
    if (streamed) streamed.end();
    else for (const line of resultLines(data, say, colour)) this.#output(line);
    const end = endOf(data, say);
    this.#look.progress(
      `  ${paint(end.good ? "good" : "bad", `└ ${end.good ? "✓" : "✗"} ${end.text}`)}`,
    );
  }
  #output(line: string): void {
    const { paint, colour } = this.#look;
    this.#look.progress(
      `  ${paint("quiet", "│")} ${line}${colour && line.includes("\u001b") ? RESET : ""}`,
    );
  }

  #spend(calls: number, of: { input_tokens: number; output_tokens: number }): void {
    this.#spent.calls += calls;
    this.#spent.in += of.input_tokens;
    this.#spent.out += of.output_tokens;
  }

  #answered({ text, approved, client_id }: Of<"answer">): void {
    if (client_id && this.mine.delete(client_id)) return;
    const given = text ?? this.#look.say(approved ? "yes" : "no");
    this.#line("strong", `${this.#look.say("you")} › ${tame(given)}`);
  }

  #done(outcome: Of<"done">["outcome"], at: number): void {
    for (const stream of [...this.#texts.values(), ...this.#outputs.values()]) stream.end();
    this.#texts.clear();
    this.#outputs.clear();
    const { say } = this.#look;
    const { calls, in: input, out } = this.#spent;
    const time = `${((at - (this.#began || at)) / 1000).toFixed(1)} s`;
    const word = {
      completed: say("completed"),
      failed: say("turnFailed"),
      stopped: say("stopped"),
    };
    const tone = outcome === "failed" ? "bad" : "quiet";
    this.#line(
      tone,
      say(
        "totals",
        word[outcome],
        calls,
        input.toLocaleString("en-US"),
        out.toLocaleString("en-US"),
        time,
      ),
    );
    this.#began = 0;
    this.#spent = { calls: 0, in: 0, out: 0 };
  }

  #live(frame: Extract<Frame, { type: "live" }>): void {
    switch (frame.event) {
      case "message_delta":
        return this.#grow(this.#texts, frame.data.message_id, frame.data.text, this.#look.answer);
      case "terminal_update":
        return this.#grow(this.#outputs, frame.data.tool_call_id, frame.data.text, (line) =>
          this.#output(line),
        );
      case "delta_reset":
        if (!this.#texts.delete(frame.data.message_id)) return;
        return this.#line("quiet", this.#look.say("retracted"));
      case "retry_wait":
        return this.#line("quiet", `! ${this.#look.say("retry", frame.data.until)}`);
      default:
        return;
    }
  }
  #grow(
    held: Map<string, LineStream>,
    id: string,
    text: string,
    write: (line: string) => void,
  ): void {
    const { columns, colour } = this.#look;
    const stream = held.get(id) ?? lineStream(write, () => columns() - 4, colour);
    held.set(id, stream);
    stream.push(text);
  }

  #short(text: string, margin: number): string {
    return clip(oneLine(text), Math.max(20, this.#look.columns() - margin));
  }
}
