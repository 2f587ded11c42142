/**
 * What a session and its owner's list have to say to each other: the owner's settings, how the session stands and what
 * it has spent, and whether there is room for more.
 *
 * T1  The list is told at every change of status, and in between when much was used or stored; what it does not take is
 *     told again by the wake job.
 * T2  A list that cannot be reached refuses nothing: quotas protect the house, they are not its door.
 */
import { dayOf } from "../core/ledger.ts";
import { LIMITS } from "../core/limits.ts";
import type { Session } from "../core/session.ts";
import type { SettingsLayer } from "../core/settings.ts";
import { directoryStub } from "./directory.ts";
import type { Engine } from "./engine.ts";
import type { Bindings } from "./env.ts";
import { log } from "./log.ts";
import { type Answer, problem, yes } from "./problem.ts";
import { counted, type QuotaName, quotasOf } from "./quotas.ts";
import { infoOf } from "./wire.ts";

const restarting = () =>
  problem(
    503,
    "restarting",
    "Your settings could not be read just now; nothing was lost. Send the request again with the same id.",
  );

/** What was let in: `left` tokens of today, where somebody counts them. */
export interface Pass {
  left?: number | null;
}

const tokensOf = ({ usage }: Session): number => usage.input_tokens + usage.output_tokens;

export class OwnerLink {
  readonly #env: Bindings;
  readonly #sql: SqlStorage;
  #own: SettingsLayer | null = null;
  #reading: Promise<SettingsLayer> | null = null;
  /** What the list knows, as far as this life of the object can tell. */
  #told: { tokens: number; bytes: number } | null = null;

  constructor(storage: DurableObjectStorage, env: Bindings) {
    this.#sql = storage.sql;
    this.#env = env;
  }

  /**
   * The owner's layer of settings, read anew each time; what is asked meanwhile shares the reading, so messages keep
   * their order. A list that cannot be reached: what it said last in this life of the object.
   */
  settings(owner: string): Promise<SettingsLayer> {
    this.#reading ??= directoryStub(this.#env, owner)
      .settings()
      .then((layer) => {
        this.#own = layer;
        return layer;
      })
      .catch((error: unknown) => {
        log("error", "settings_unread", {}, error);
        if (this.#own) return this.#own;
        throw restarting();
      })
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  /** Whether there is room for what needs these; a specialist works within its parent's turn. */
  async admit({ id, owner, parent }: Session, needs: QuotaName[]): Promise<Answer<Pass>> {
    const quotas = quotasOf(this.#env);
    if (needs.length === 0 || !counted(quotas)) return yes({});
    const runs = parent === "" && needs.includes("runningTurns");
    const asked = parent === "" ? needs : needs.filter((name) => name !== "runningTurns");
    try {
      const list = directoryStub(this.#env, owner);
      const answer = await list.admit(quotas, asked, ...(runs ? [id] : []));
      return answer.ok ? yes({ left: answer.value }) : answer;
    } catch (error) {
      log("error", "quotas_unread", { session: id }, error);
      return yes({});
    }
  }

  /** Tells the list how a session stands. */
  async report(s: Session): Promise<{ left: number | null }> {
    const { tokensPerDay } = quotasOf(this.#env);
    const bytes = this.#sql.databaseSize;
    this.#told = { tokens: tokensOf(s), bytes };
    const list = directoryStub(this.#env, s.owner);
    return { left: await list.update(infoOf(s), s.ledger, bytes, tokensPerDay) };
  }

  /** True: the list has let go of the session. */
  async forget({ owner, id }: { owner: string; id: string }): Promise<boolean> {
    try {
      await directoryStub(this.#env, owner).remove(id);
      return true;
    } catch (error) {
      log("error", "session_not_unlisted", { session: id }, error);
      return false;
    }
  }

  /** Much was used since the list was told. */
  spentMuch(s: Session): boolean {
    this.#told ??= { tokens: tokensOf(s), bytes: this.#sql.databaseSize };
    return tokensOf(s) - this.#told.tokens >= LIMITS.untoldTokens;
  }
  /** Much was stored or removed since the list was told. */
  grewMuch(): boolean {
    return Math.abs(this.#sql.databaseSize - (this.#told?.bytes ?? 0)) >= LIMITS.untoldBytes;
  }
}

/** Others of the same owner have used of what this turn was let use, or another day has begun. */
export function heed({ store, drive }: Engine, told: Session, left: number | null): void {
  const { status, run, allowance: known } = store.session();
  if (left === null || status !== "running" || run !== told.run) return;
  const at = told.used.tokens;
  if (known?.day === dayOf(Date.now()) && known.upto <= at + left) return;
  drive.keep({ type: "allotted", run, left, at });
}
