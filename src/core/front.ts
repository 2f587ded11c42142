/**
 * Everything of a request before its rows: model, options, tools, system prompt; shaped by the endpoint's profile.
 *
 * N1  The same policy, settings and profile give the same text, worked out once for as long as they live.
 * N2  A tool whose schema the endpoint cannot take is left out, and so is not offered: the rest works.
 */
import { type LeftOut, toolsFor } from "./dialect.ts";
import { fieldsOf, type Profile, toolFieldsOf } from "./profile.ts";
import { type Kit, offeredTools, type Policy, policyOf } from "./roles.ts";
import { kitWith } from "./servers.ts";
import { type Session, settingsOf } from "./session.ts";
import type { Settings } from "./settings.ts";
import { systemPrompt } from "./system.ts";
import type { JsonObject, ToolSpec } from "./tool.ts";

/** The model that has the word, and what its endpoint takes as far as this session has learned. */
export interface Target {
  provider: string;
  model: string;
  /** Under which the session keeps what it has learned. */
  key: string;
  profile: Profile;
}

export function targetOf(s: Session, kit: Kit): Target {
  const settings = settingsOf(s);
  const own = settings.roles[policyOf(s).role];
  const { provider, model } = kit.resolve(
    own.provider || settings.provider,
    own.model || settings.model,
  );
  const key = `${provider}\n${model}`;
  return {
    provider,
    model,
    key,
    profile: s.profiles[key]?.profile ?? kit.profile(provider, model),
  };
}

export interface Front {
  /** The body's text up to and with the system message. */
  text: string;
  /** What may be called. */
  offered: readonly ToolSpec[];
  leftOut: LeftOut[];
}

type Slot = Map<Policy, Front>;
const fronts = new WeakMap<Profile, WeakMap<Kit, WeakMap<Settings, { whole: Slot; bare: Slot }>>>();

/** The value under a key of a weak map; made when it is not there. */
function at<K extends WeakKey, V>(map: WeakMap<K, V>, key: K, make: () => V): V {
  const held = map.get(key) ?? make();
  map.set(key, held);
  return held;
}

export function frontOf(s: Session, deployed: Kit): Front {
  const kit = kitWith(deployed, s.toolbox);
  const policy = policyOf(s);
  const settings = settingsOf(s);
  const target = targetOf(s, kit);
  const byKit = at(fronts, target.profile, () => new WeakMap());
  const slots = at(
    at(byKit, kit, () => new WeakMap()),
    settings,
    () => ({
      whole: new Map(),
      bare: new Map(),
    }),
  );
  const slot = s.withdrawn ? slots.bare : slots.whole;
  const front = slot.get(policy) ?? makeFront(policy, kit, settings, target, s.withdrawn);
  slot.set(policy, front);
  return front;
}

/** No tool may be called; an endpoint that does not take the field at all is not told. */
const noneOf = (profile: Profile): JsonObject => ({
  ...toolFieldsOf(profile, "auto"),
  ...(profile.toolChoice === "none" ? {} : { tool_choice: "none" }),
});

function makeFront(
  policy: Policy,
  kit: Kit,
  settings: Settings,
  { model, profile }: Target,
  withdrawn: boolean,
): Front {
  const left = offeredTools(policy, kit, settings, withdrawn);
  // A history with calls needs its tools sent even when none may be called any more.
  const listed = left.length > 0 ? left : offeredTools(policy, kit, settings, false);
  const { tools, leftOut } = toolsFor(listed, profile.dialect, profile.strict);
  const choice = left.length > 0 ? toolFieldsOf(profile, policy.toolChoice) : noneOf(profile);
  const options = JSON.stringify({
    model,
    ...fieldsOf(profile),
    ...(tools.length > 0
      ? { tools: tools.map((fn) => ({ type: "function", function: fn })), ...choice }
      : {}),
  });
  const system = JSON.stringify({ role: "system", content: systemPrompt(policy, kit, settings) });
  const out = new Set(leftOut.map((t) => t.name));
  return {
    text: `${options.slice(0, -1)},"messages":[${system}`,
    offered: left.filter((t) => !out.has(t.name)),
    leftOut,
  };
}
