/** How the scripted model misbehaves: all of it passes, when it is asked again. */
import type { MockReply } from "../support/mock-model.ts";
import type { Dice } from "./dice.ts";

/** Share of the replies that are spoilt, and how many in a row at the most: the harness gives up after five. */
const SHARE = 0.08;
const IN_A_ROW = 2;

const KINDS: readonly ((right: MockReply) => MockReply)[] = [
  () => ({ status: 500, text: "overloaded" }),
  () => ({ status: 503, text: "try later" }),
  () => ({ status: 429, headers: { "retry-after": "1" }, text: "slow down" }),
  (right) => ({ ...right, finish: null, cut: true }),
  (right) => ({ ...right, finish: null, hang: true }),
  (right) => ({ ...right, finish: "length" }),
  () => ({ text: "" }),
  () => ({ tool_calls: [{ name: "no_such_tool", arguments: {} }] }),
  () => ({ tool_calls: [{ name: "file_write", arguments: '{"path":' }] }),
];

export interface Spoiler {
  /** The reply as it goes out: right, slower or faster, or spoilt. */
  spoil(model: string, right: MockReply): MockReply;
  /** Off for the drain. */
  on: boolean;
  readonly struck: number;
}

export function spoiler(chance: Dice): Spoiler {
  const row = new Map<string, number>();
  let struck = 0;
  const self: Spoiler = {
    on: true,
    get struck() {
      return struck;
    },
    spoil(model, right) {
      const paced = {
        delay_ms: chance.between(0, 150),
        chunk_delay_ms: chance.between(0, 8),
        ...right,
      };
      const before = row.get(model) ?? 0;
      const strikes = self.on && before < IN_A_ROW && chance.hits(SHARE);
      row.set(model, strikes ? before + 1 : 0);
      if (!strikes) return paced;
      struck += 1;
      return chance.pick(KINDS)(paced);
    },
  };
  return self;
}
