/** The model calls of the proxy as facts: each belongs to its completion, and to no session. */
import { estimated } from "../core/ledger.ts";
import type { Flight, Model, ModelOutcome } from "../core/ports.ts";
import type { Observer } from "./observe.ts";

const NO_TOKENS = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 };

/** `id`: of the completion; `trace`: `traceparent` of the client. */
export function watchedModel(
  model: Model,
  { tell, header }: Observer,
  id: string,
  trace: string,
): Model {
  let calls = 0;
  return {
    call(request, live): Flight<ModelOutcome> {
      calls += 1;
      const where = { session: id, parent: "", turn: 0, trace };
      const key = `call ${calls}`;
      const about = { mode: "proxy", role: "assistant", attempt: calls } as const;
      const from = Date.now();
      let cancelled = false;
      const told = (outcome: ModelOutcome): ModelOutcome => {
        const { provider, model: asked, body } = request;
        const call = { ...where, ...about, key, from, at: Date.now(), provider, model: asked };
        tell({ fact: "model_call_ended", ...call, ...endOf(outcome, body.length, cancelled) });
        return outcome;
      };
      const flight = model.call({ ...request, trace: header(where, key) }, live);
      const cancel = () => {
        cancelled = true;
        flight.cancel();
      };
      return { outcome: flight.outcome.then(told), cancel };
    },
  };
}

function endOf(outcome: ModelOutcome, chars: number, cancelled: boolean) {
  const none = { ...NO_TOKENS, measured: true, cost_usd: null, finish: null, reply_model: "" };
  if (outcome.type === "failed") {
    const { code, status } = outcome.failure;
    const error = cancelled ? ("cancelled" as const) : code;
    return { ...none, error, ...(status === undefined ? {} : { status }) };
  }
  const { reply } = outcome;
  const usage = reply.usage ?? estimated(chars, reply);
  const { finish, model } = reply;
  return {
    ...none,
    ...usage,
    measured: reply.usage !== null,
    error: null,
    finish,
    reply_model: model,
  };
}
