/**
 * What one owner has, counted in the owner's list: its rows are read once in a life of the object, then kept up with.
 *
 * C1  A session counts from the moment it is listed until it is unlisted; with it goes all that it held.
 * C2  A turn that was let begin counts as running until its session tells its state, or for a while if it never does:
 *     two that ask at once are not both let in for one.
 */
import { dayOf } from "../core/ledger.ts";
import { LIMITS } from "../core/limits.ts";
import type { Held } from "../core/wire.ts";

/** What a row of the list says of its session. */
export type Weight = { bytes: number; running: number };
export const NO_WEIGHT: Weight = { bytes: 0, running: 0 };

interface Sums extends Weight {
  sessions: number;
}

export class Counts {
  readonly #sql: SqlStorage;
  #sums: Sums | null = null;
  /** Sessions whose turn was let begin, and when. */
  readonly #beginning = new Map<string, number>();
  #tokens: { day: string; used: number } | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** `made`: there are tables at all. */
  held(made: boolean): Held {
    const { sessions, bytes, running } = made ? this.#rows() : { ...NO_WEIGHT, sessions: 0 };
    return {
      sessions,
      storedBytes: bytes,
      runningTurns: running + this.#begins(),
      tokensPerDay: made ? this.#today() : 0,
    };
  }

  /** A row was written in place of another; null: there was none, there is none. */
  changed(before: Weight | null, after: Weight | null): void {
    if (!this.#sums) return;
    this.#sums.sessions += Number(after !== null) - Number(before !== null);
    this.#sums.bytes += (after?.bytes ?? 0) - (before?.bytes ?? 0);
    this.#sums.running += (after?.running ?? 0) - (before?.running ?? 0);
  }
  spent(): void {
    this.#tokens = null;
  }

  begins(id: string): void {
    this.#beginning.set(id, Date.now());
  }
  /** Its session has told its state, or is gone. */
  begun(id: string): void {
    this.#beginning.delete(id);
  }
  #begins(): number {
    const since = Date.now() - LIMITS.beginningMs;
    for (const [id, at] of this.#beginning) if (at < since) this.#beginning.delete(id);
    return this.#beginning.size;
  }

  #rows(): Sums {
    this.#sums ??= this.#sql
      .exec<{ sessions: number; bytes: number; running: number }>(
        `SELECT count(*) AS sessions, coalesce(sum(bytes), 0) AS bytes,
                coalesce(sum(running), 0) AS running FROM sessions`,
      )
      .one();
    return this.#sums;
  }
  #today(): number {
    const day = dayOf(Date.now());
    if (this.#tokens?.day === day) return this.#tokens.used;
    const query = "SELECT coalesce(sum(input + output), 0) AS used FROM usage WHERE day = ?";
    const { used } = this.#sql.exec<{ used: number }>(query, day).one();
    this.#tokens = { day, used };
    return used;
  }
}
