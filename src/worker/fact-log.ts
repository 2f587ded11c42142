/** Facts as lines of the log. */
import type { Fact } from "../core/facts.ts";
import { type Fields, type Level, log } from "./log.ts";

function levelOf(fact: Fact): Level {
  switch (fact.fact) {
    case "woken":
    case "retry":
    case "repaired":
      return "warn";
    case "model_call_ended":
      return fact.error === null || fact.error === "cancelled" ? "info" : "warn";
    case "turn_ended":
      return fact.outcome === "failed" ? "warn" : "info";
    default:
      return "info";
  }
}

/** What a line has of a fact: how long it took in place of when it began, and nothing twice. */
function fieldsOf(fact: Fact): Fields {
  const { fact: _, at, trace: __, parent, ...held } = fact;
  const { key: ___, from, usage, ...told } = { key: "", from: at, usage: {}, ...held };
  const lasted = "from" in fact ? { ms: Math.max(0, at - from) } : {};
  return { ...told, ...usage, ...lasted, ...(parent === "" ? {} : { parent }) };
}

export const logFact = (fact: Fact): void => log(levelOf(fact), fact.fact, fieldsOf(fact));
