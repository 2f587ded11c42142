/**
 * What is one owner's and no session's, in an object of its own: the list of sessions, settings, accounts.
 *
 * D1  A session is listed before it is made and unlisted after it is gone, so that none is ever out of reach.
 * D2  An update carries the session's `last_seq`: an older one that arrives late changes nothing.
 * D3  A key (an outside chat's id) is bound to one session at a time.
 * D4  What an owner may have is counted here, from what sessions tell anyway: no other session is asked.
 */
import { DurableObject } from "cloudflare:workers";
import type { Spent } from "../core/ledger.ts";
import type { SettingsLayer } from "../core/settings.ts";
import type { LayerChange } from "../core/settings-patch.ts";
import { NO_USAGE } from "../core/usage.ts";
import type { Held, SessionInfo, SessionPage, UsageReport } from "../core/wire.ts";
import { Counts, NO_WEIGHT, type Weight } from "./counts.ts";
import type { Bindings } from "./env.ts";
import { Ledger, USAGE_TABLE } from "./ledger.ts";
import { objectNamed } from "./place.ts";
import { type Answer, yes } from "./problem.ts";
import { leftOf, type QuotaName, type Quotas, spentOf } from "./quotas.ts";
import { patchedLayer } from "./secrets.ts";

/** Tokens that the owner may still use today; null: as many as they like. */
export type Allowance = number | null;

/** What a list that was made by an older program lacks in its rows. */
const WEIGHTS = ["bytes", "running"].map((name) => `${name} INTEGER NOT NULL DEFAULT 0`);
/** Made at the first write; a list made by an older program gets what it lacks then. */
const TABLES = [
  `CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, updated TEXT NOT NULL, seq INTEGER NOT NULL, words TEXT NOT NULL, json TEXT NOT NULL, ${WEIGHTS.join(", ")}) STRICT, WITHOUT ROWID`,
  "CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, id TEXT NOT NULL) STRICT, WITHOUT ROWID",
  USAGE_TABLE,
  "CREATE TABLE IF NOT EXISTS owner (part TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID",
];

export class DirectoryObject extends DurableObject<Bindings> {
  readonly #sql = this.ctx.storage.sql;
  readonly #ledger = new Ledger(this.#sql);
  readonly #counts = new Counts(this.#sql);

  #complete = false;

  /** False: nothing was ever kept of it here, and a look makes no tables. */
  #has(table: string): boolean {
    const query = "SELECT 1 FROM sqlite_master WHERE name = ?";
    return this.#complete || this.#sql.exec(query, table).toArray().length > 0;
  }
  #made = (): boolean => this.#has("sessions");
  /** Before a write. */
  #make(): void {
    if (this.#complete) return;
    for (const table of TABLES) this.#sql.exec(table);
    const query = "SELECT 1 FROM pragma_table_info('sessions') WHERE name = 'running'";
    if (this.#sql.exec(query).toArray().length === 0) {
      for (const column of WEIGHTS) this.#sql.exec(`ALTER TABLE sessions ADD COLUMN ${column}`);
    }
    this.#complete = true;
  }
  /** What the owner has now. A list that has nothing is not made by a look. */
  #held(): Held {
    const made = this.#made();
    if (made) this.#make();
    return this.#counts.held(made);
  }

  /** The owner's own layer of settings, with its secrets: for sessions, never for a reply. */
  async settings(): Promise<SettingsLayer> {
    if (!this.#has("owner")) return {};
    const query = "SELECT json FROM owner WHERE part = 'settings'";
    const row = this.#sql.exec<{ json: string }>(query).toArray()[0];
    return row ? (JSON.parse(row.json) as SettingsLayer) : {};
  }
  async patchSettings(change: LayerChange): Promise<Answer<SettingsLayer>> {
    const layer = patchedLayer(await this.settings(), change);
    if (!layer.ok) return layer;
    this.#make();
    const query = "INSERT OR REPLACE INTO owner (part, json) VALUES ('settings', ?)";
    this.#sql.exec(query, JSON.stringify(layer.value));
    return layer;
  }

  /** For a health check: whether storage takes a text and gives it back, and what the time is here. */
  async probe(text: string): Promise<{ read: string | null; now: number }> {
    this.#make();
    const where = "WHERE part = 'probe'";
    this.#sql.exec("INSERT OR REPLACE INTO owner (part, json) VALUES ('probe', ?)", text);
    const rows = this.#sql.exec<{ json: string }>(`SELECT json FROM owner ${where}`).toArray();
    this.#sql.exec(`DELETE FROM owner ${where}`);
    await this.ctx.storage.sync();
    return { read: rows[0]?.json ?? null, now: Date.now() };
  }

  /** What the proxy has spent. */
  async spend(spent: Spent): Promise<void> {
    this.#make();
    this.#ledger.add(spent);
    this.#counts.spent();
  }
  async usage(from: string, to: string, max: Quotas): Promise<UsageReport> {
    const report = this.#has("usage")
      ? this.#ledger.between(from, to)
      : { days: [], total: NO_USAGE };
    const held = this.#held();
    const of = (name: keyof Held) => ({ used: held[name], max: max[name] });
    const quotas = {
      sessions: of("sessions"),
      storedBytes: of("storedBytes"),
      runningTurns: of("runningTurns"),
      tokensPerDay: of("tokensPerDay"),
    };
    return { from, to, ...report, quotas };
  }

  /**
   * Whether there is room in each of these quotas, and what may still be used today. `begins`: a session whose turn is
   * about to run; it counts as running from now on.
   */
  async admit(quotas: Quotas, names: QuotaName[], begins?: string): Promise<Answer<Allowance>> {
    const held = this.#held();
    const problem = spentOf(quotas, held, names);
    if (problem) return { ok: false, problem };
    if (begins !== undefined) this.#counts.begins(begins);
    return yes(leftOf(quotas, held));
  }

  /** Lists a session that is about to be made, and binds its key; the id that the key already has, if any. */
  async add(
    info: SessionInfo,
    quotas: Quotas,
    key?: string,
    fresh = false,
  ): Promise<Answer<{ existing: string | null }>> {
    this.#make();
    const bound = key === undefined || fresh ? undefined : this.#bound(key);
    if (bound) return yes({ existing: bound });
    // Made again after a crash, it is listed already, and may have been at work since.
    const listed = this.#row(info.id) !== undefined;
    const problem = listed ? null : spentOf(quotas, this.#held(), ["sessions", "storedBytes"]);
    if (problem) return { ok: false, problem };
    // Both or neither: a key without its row would give a session that is in no list.
    this.ctx.storage.transactionSync(() => {
      if (key !== undefined) this.#bind(key, info.id);
      if (!listed) this.#put(info, null, NO_WEIGHT);
    });
    return yes({ existing: null });
  }
  /** Whether a session is this owner's, as far as it is listed. */
  async lists(id: string): Promise<boolean> {
    return this.#made() && this.#row(id) !== undefined;
  }
  /** The keys of one session are another's from now on. */
  async rebind(from: string, to: string): Promise<void> {
    if (this.#made()) this.#sql.exec("UPDATE keys SET id = ? WHERE id = ?", to, from);
  }
  /** A key names this session, whichever it named before. */
  async bind(key: string, id: string): Promise<void> {
    this.#make();
    this.#bind(key, id);
  }
  #bind(key: string, id: string): void {
    this.#sql.exec("INSERT OR REPLACE INTO keys (key, id) VALUES (?, ?)", key, id);
  }
  #bound(key: string): string | undefined {
    return this.#sql.exec<{ id: string }>("SELECT id FROM keys WHERE key = ?", key).toArray()[0]
      ?.id;
  }

  /**
   * Takes in what a session has spent, and its newer state while it is listed; one that was removed stays removed. Tells
   * what the owner may still use today.
   */
  async update(
    info: SessionInfo,
    spent: Spent,
    bytes = 0,
    tokensPerDay: number | null = null,
  ): Promise<Allowance> {
    if (!this.#made()) return null;
    this.#make();
    if (Object.keys(spent).length > 0) {
      this.#ledger.told(info.id, spent);
      this.#counts.spent();
    }
    const held = this.#row(info.id);
    if (held && held.seq <= info.last_seq && held.updated <= info.updated_at) {
      this.#put(info, held, { bytes, running: info.status === "running" ? 1 : 0 });
      this.#counts.begun(info.id);
    }
    return leftOf({ tokensPerDay }, this.#held());
  }
  #row(id: string) {
    this.#make();
    const query = "SELECT seq, updated, bytes, running FROM sessions WHERE id = ?";
    return this.#sql.exec<{ seq: number; updated: string } & Weight>(query, id).toArray()[0];
  }
  #put(info: SessionInfo, before: Weight | null, after: Weight): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO sessions (id, updated, seq, words, json, bytes, running) VALUES (?, ?, ?, ?, ?, ?, ?)",
      info.id,
      info.updated_at,
      info.last_seq,
      `${info.title}\n${info.preview}`.toLowerCase(),
      JSON.stringify(info),
      after.bytes,
      after.running,
    );
    this.#counts.changed(before, after);
  }

  async remove(id: string): Promise<void> {
    if (!this.#made()) return;
    this.#make();
    const held = this.#row(id);
    this.#sql.exec("DELETE FROM sessions WHERE id = ?", id);
    this.#sql.exec("DELETE FROM keys WHERE id = ?", id);
    if (held) this.#counts.changed(held, null);
    this.#counts.begun(id);
  }

  /** Newest activity first. `cursor`: the last one of the page before, as it was given out. */
  async list(
    limit: number,
    cursor: string | null,
    words: string,
    prefix: string,
  ): Promise<SessionPage> {
    if (!this.#made()) return { sessions: [], next_cursor: null };
    const [updated, id] = cursor?.split("~") ?? ["9", ""];
    const rows = this.#sql
      .exec<{ id: string; updated: string; json: string }>(
        `SELECT id, updated, json FROM sessions
         WHERE (updated < ?1 OR (updated = ?1 AND id < ?2)) AND instr(words, ?3) > 0
           AND id >= ?5 AND id < ?5 || '~'
         ORDER BY updated DESC, id DESC LIMIT ?4`,
        updated ?? "9",
        id ?? "",
        words.toLowerCase(),
        limit + 1,
        prefix,
      )
      .toArray();
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
      sessions: shown.map((r) => JSON.parse(r.json) as SessionInfo),
      next_cursor: last ? `${last.updated}~${last.id}` : null,
    };
  }
}

type Called =
  | "spend"
  | "usage"
  | "admit"
  | "lists"
  | "add"
  | "bind"
  | "rebind"
  | "update"
  | "remove"
  | "list"
  | "settings"
  | "patchSettings"
  | "probe";

/** The list of one owner. (The platform's own stub type gives up on JSON values.) */
export const directoryStub = (env: Bindings, owner: string): Pick<DirectoryObject, Called> =>
  objectNamed(env, env.DIRECTORY, owner) as unknown as DirectoryObject;
