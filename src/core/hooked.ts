/** Models and tools with hooks around them: the same ports, and whatever a hook does, they keep their promises. */
import { type About, type Hooks, report } from "./hooks.ts";
import type {
  Flight,
  Model,
  ModelOutcome,
  ModelRequest,
  Piece,
  ToolFlight,
  ToolRun,
  Tools,
} from "./ports.ts";
import type { JsonObject, ToolResult } from "./tool.ts";

/** Fails open: what a hook gives, or `fallback` when it gives nothing or throws. */
async function open<T>(
  hooks: Hooks,
  name: string,
  ask: () => T | undefined | Promise<T | undefined>,
  fallback: T,
): Promise<T> {
  try {
    return (await ask()) ?? fallback;
  } catch (error) {
    report(hooks, name, error);
    return fallback;
  }
}

/** A flight that begins later: cancelled before it has begun, it never does. */
function later<T>(begin: (cancelled: () => boolean) => Promise<Flight<T> | T>): Flight<T> {
  let cancelled = false;
  let inner: Flight<T> | null = null;
  const fly = async (): Promise<T> => {
    const begun = await begin(() => cancelled);
    if (!isFlight<T>(begun)) return begun;
    inner = begun;
    if (cancelled) inner.cancel();
    return inner.outcome;
  };
  return {
    outcome: fly(),
    cancel() {
      cancelled = true;
      inner?.cancel();
    },
  };
}
const isFlight = <T>(value: Flight<T> | T): value is Flight<T> =>
  typeof value === "object" && value !== null && "outcome" in value && "cancel" in value;

const CANCELLED: ModelOutcome = {
  type: "failed",
  failure: { code: "provider_error", message: "The model call was cancelled.", retryable: false },
};

async function requestOf(hooks: Hooks, request: ModelRequest, about: About): Promise<ModelRequest> {
  const { transformMessages, beforeRequest } = hooks;
  if (!transformMessages && !beforeRequest) return request;
  const { messages, ...options } = JSON.parse(request.body) as JsonObject & {
    messages: JsonObject[];
  };
  const sent = await open(
    hooks,
    "transformMessages",
    () => transformMessages?.(messages, about),
    messages,
  );
  // `messages` stays the last key.
  const whole: JsonObject = { ...options, messages: sent };
  const body = await open(hooks, "beforeRequest", () => beforeRequest?.(whole, about), whole);
  return { ...request, body: JSON.stringify(body) };
}

async function answered(hooks: Hooks, outcome: ModelOutcome, about: About): Promise<ModelOutcome> {
  const { afterResponse } = hooks;
  if (!afterResponse) return outcome;
  const result = outcome.type === "reply" ? outcome.reply : outcome.failure;
  const changed = await open(hooks, "afterResponse", () => afterResponse(result, about), null);
  return changed && outcome.type === "reply" ? { type: "reply", reply: changed } : outcome;
}

export function hookedModel(model: Model, hooks: Hooks): Model {
  const idle = !hooks.transformMessages && !hooks.beforeRequest && !hooks.afterResponse;
  if (idle) return model;
  return {
    call(request: ModelRequest, live: (piece: Piece) => void): Flight<ModelOutcome> {
      const { about } = request;
      if (!about) return model.call(request, live);
      return later<ModelOutcome>(async (cancelled) => {
        const own = await requestOf(hooks, request, about);
        if (cancelled()) return CANCELLED;
        const { cancel, outcome } = model.call(own, live);
        return { cancel, outcome: outcome.then((o) => answered(hooks, o, about)) };
      });
    },
  };
}

/** Fails closed: a call is let through only by a hook that has spoken and not blocked it. */
async function gate(hooks: Hooks, run: ToolRun): Promise<ToolResult | null> {
  try {
    const said = await hooks.beforeToolCall?.(run);
    return said ? blocked(said.block) : null;
  } catch (error) {
    report(hooks, "beforeToolCall", error);
    return blocked("the check before it failed");
  }
}
const blocked = (why: string): ToolResult => ({ ok: false, text: `Blocked, not run: ${why}` });

export function hookedTools(tools: Tools, hooks: Hooks): Tools {
  const { afterToolCall } = hooks;
  if (!hooks.beforeToolCall && !afterToolCall) return tools;
  return {
    run(run: ToolRun, live: (text: string) => void): ToolFlight {
      const held: { flight?: ToolFlight } = {};
      const flight = later<ToolResult>(async (cancelled) => {
        // What goes on with a person's answer was let through when it began.
        const refusal = run.answer ? null : await gate(hooks, run);
        if (refusal) return refusal;
        if (cancelled()) return { ok: false, text: "The call was cancelled before it began." };
        held.flight = tools.run(run, live);
        const { cancel, outcome } = held.flight;
        if (!afterToolCall) return { cancel, outcome };
        const after = (r: ToolResult) =>
          r.asks ? r : open(hooks, "afterToolCall", () => afterToolCall(run, r), r);
        return { cancel, outcome: outcome.then(after) };
      });
      return { ...flight, spent: () => held.flight?.spent?.() };
    },
  };
}
