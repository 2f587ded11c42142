/**
 * The specialists' sessions of one session: each belongs to one of its calls.
 *
 * H1  A child is noted before it is made, so that whoever deletes the parent finds it.
 */

import { LIMITS } from "../core/limits.ts";
import type { Session } from "../core/session.ts";
import { isDelegate } from "../core/tool.ts";
import type { Bindings } from "./env.ts";
import { derivedId, sessionStub } from "./ids.ts";

export const childId = (parent: string, call: string): Promise<string> =>
  derivedId("delegate", parent, call);

/** One stored value: child → when its call was last run, in milliseconds since the epoch. No row without specialists. */
const CHILDREN = "children";
type Noted = Record<string, number>;

export class Children {
  readonly #kv: SyncKvStorage;
  /** Calls under way: what they make is to be found. */
  readonly #working = new Set<Promise<unknown>>();

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** Those of long ago have ended and gone by themselves. */
  note(id: string): void {
    const since = Date.now() - LIMITS.unhurriedMs - 2 * LIMITS.ephemeralMs;
    const held = Object.entries(this.#noted()).filter(([, at]) => at > since);
    this.#kv.put(CHILDREN, { ...Object.fromEntries(held), [id]: Date.now() });
  }
  #noted(): Noted {
    return this.#kv.get<Noted>(CHILDREN) ?? {};
  }

  /** A call that may make one. */
  during<T>(call: Promise<T>): Promise<T> {
    const over = call.then(
      () => {},
      () => {},
    );
    this.#working.add(over);
    void over.then(() => this.#working.delete(over));
    return call;
  }

  /** All of them go, at once; what is making one has been cancelled and is waited for. */
  async remove(env: Bindings, s: Session): Promise<void> {
    await Promise.all(this.#working);
    // One may have waited for days.
    const calls = s.batch?.calls.filter(isDelegate) ?? [];
    const open = await Promise.all(calls.map((call) => childId(s.id, call.id)));
    const ids = new Set([...Object.keys(this.#noted()), ...open]);
    await Promise.all([...ids].map((id) => sessionStub(env, id).remove(s.owner)));
  }
}
