/**
 * Where on earth a session's objects live. By itself that is near whoever asked for it first.
 *
 * P1  `DO_LOCATION_HINT` is a wish, heard when an object is made and never again; `DO_JURISDICTION` is a rule, and a part
 *     of the name: with another one, objects of before are not found.
 */
import type { Bindings } from "./env.ts";
import { problem } from "./problem.ts";

const HINTS = [
  ...["wnam", "enam", "sam", "weur", "eeur", "apac", "apac-ne", "apac-se", "oc", "afr", "me"],
] as DurableObjectLocationHint[];
const JURISDICTIONS: DurableObjectJurisdiction[] = ["eu", "fedramp", "fedramp-high", "us"];

function oneOf<T extends string>(name: string, text: string | undefined, list: T[]): T | undefined {
  const stated = text?.trim().toLowerCase();
  if (!stated) return undefined;
  const known = list.find((value) => value === stated);
  if (known) return known;
  throw problem(500, "bad_configuration", `The variable ${name} may be ${list.join(", ")}.`);
}

/** The namespace, bound to the deployment's jurisdiction if it has one. */
export function placed<T extends Rpc.DurableObjectBranded | undefined>(
  env: Pick<Bindings, "DO_JURISDICTION">,
  namespace: DurableObjectNamespace<T>,
): DurableObjectNamespace<T> {
  const bound = oneOf("DO_JURISDICTION", env.DO_JURISDICTION, JURISDICTIONS);
  return bound ? namespace.jurisdiction(bound) : namespace;
}

/** The object of that name, made where the deployment wants it, if it has to be made. */
export function objectNamed<T extends Rpc.DurableObjectBranded | undefined>(
  env: Pick<Bindings, "DO_JURISDICTION" | "DO_LOCATION_HINT">,
  namespace: DurableObjectNamespace<T>,
  name: string,
): DurableObjectStub<T> {
  const locationHint = oneOf("DO_LOCATION_HINT", env.DO_LOCATION_HINT, HINTS);
  return placed(env, namespace).getByName(name, locationHint ? { locationHint } : {});
}
