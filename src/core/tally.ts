/** What a turn has come to, read off its events: the Worker and every client tell it alike. */
import type { Event, EventData } from "./events.ts";
import { addUsage } from "./ledger.ts";
import { NO_USAGE, type Usage } from "./usage.ts";
import type { TurnResult } from "./wire.ts";

export class Tally {
  /** The last event that was taken. */
  seq: number;
  #message: TurnResult["message"] = null;
  #attachments: TurnResult["attachments"] = [];
  #wait: TurnResult["wait"] = null;
  #error: TurnResult["error"];
  #usage = NO_USAGE;
  #to: string | undefined;

  /** `after`: the seq before the turn's first event. */
  constructor(after: number) {
    this.seq = after;
  }

  /** Takes the next event; tells how the turn ended or that it waits, else null. */
  take(e: Event): TurnResult["outcome"] | null {
    this.seq = e.seq;
    if (e.event === "message") this.#heard(e.data);
    if (e.event === "wait") this.#wait = e.data;
    if (e.event === "answer") this.#wait = null;
    if (e.event === "error") this.#error = { code: e.data.code, message: e.data.message };
    if (e.event === "moved") this.#to = e.data.to;
    if (e.event === "tool" && e.data.status === "called") this.#called(e.data);
    if (e.event === "usage") this.#spend(e.data);
    if (e.event !== "status_update") return null;
    const { status } = e.data;
    return status === "running" || status === "idle" ? null : status;
  }
  #heard({ role, kind, content, attachments }: EventData<"message">): void {
    if (role !== "assistant" || kind === "plan" || kind === "notice") return;
    this.#message = content;
    this.#attachments = attachments;
  }
  #called({ usage }: EventData<"tool">): void {
    this.#add({ tool_calls: 1 });
    if (usage) this.#add(usage);
  }
  #spend({ role: _, model: __, cost_usd = null, ...tokens }: EventData<"usage">): void {
    this.#add({ model_calls: 1, ...tokens, cost_usd });
  }
  #add(more: Partial<Usage>): void {
    this.#usage = addUsage(this.#usage, { ...NO_USAGE, ...more });
  }

  /** What it has taken so far. */
  get usage(): Usage {
    return this.#usage;
  }
  result(outcome: TurnResult["outcome"]): TurnResult {
    return {
      outcome,
      message: this.#message,
      attachments: this.#attachments,
      wait: this.#wait,
      usage: this.#usage,
      last_seq: this.seq,
      ...(this.#error ? { error: this.#error } : {}),
      ...(this.#to === undefined ? {} : { moved_to: this.#to }),
    };
  }
}
