/** What a turn has come to, read off its events: the Worker and every client tell it alike. */
import { addCost } from "./cost.ts";
import type { Event, EventData } from "./events.ts";
import type { TurnResult } from "./wire.ts";

export class Tally {
  /** The last event that was taken. */
  seq: number;
  #message: TurnResult["message"] = null;
  #attachments: TurnResult["attachments"] = [];
  #wait: TurnResult["wait"] = null;
  #error: TurnResult["error"];
  readonly #usage: TurnResult["usage"] = {
    model_calls: 0,
    tool_calls: 0,
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    measured: true,
    cost_usd: null,
  };

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
    if (e.event === "tool" && e.data.status === "called") this.#usage.tool_calls += 1;
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
  #spend(u: EventData<"usage">): void {
    this.#usage.model_calls += 1;
    this.#usage.input_tokens += u.input_tokens;
    this.#usage.output_tokens += u.output_tokens;
    this.#usage.cached_tokens += u.cached_tokens;
    this.#usage.measured &&= u.measured;
    this.#usage.cost_usd = addCost(this.#usage.cost_usd, u.cost_usd ?? null);
  }

  result(outcome: TurnResult["outcome"]): TurnResult {
    return {
      outcome,
      message: this.#message,
      attachments: this.#attachments,
      wait: this.#wait,
      usage: { ...this.#usage },
      last_seq: this.seq,
      ...(this.#error ? { error: this.#error } : {}),
    };
  }
}
