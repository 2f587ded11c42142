/**
 * What is one owner's and no session's, in an object of its own: the list of sessions, settings, accounts.
 *
 * D1  A session is listed before it is made and unlisted after it is gone, so that none is ever out of reach.
 * D2  An update carries the session's `last_seq`: an older one that arrives late changes nothing.
 * D3  A key (an outside chat's id) is bound to one session at a time.
 */
import { DurableObject } from "cloudflare:workers";
import type { Spent } from "../core/ledger.ts";
import type { SettingsLayer } from "../core/settings.ts";
import { NO_USAGE } from "../core/usage.ts";
import type { SessionInfo, UsageReport } from "../core/wire.ts";
import type { Bindings } from "./env.ts";
import { Ledger, USAGE_TABLE } from "./ledger.ts";
import { objectNamed } from "./place.ts";
import type { Answer } from "./problem.ts";
import { patchedLayer } from "./secrets.ts";

export interface SessionPage {
  sessions: SessionInfo[];
  next_cursor: string | null;
}

/** Made at the first write; a list made by an older program gets what it lacks then. */
const TABLES = [
  "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, updated TEXT NOT NULL, seq INTEGER NOT NULL, words TEXT NOT NULL, json TEXT NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, id TEXT NOT NULL) STRICT, WITHOUT ROWID",
  USAGE_TABLE,
  "CREATE TABLE IF NOT EXISTS owner (part TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID",
];

export class DirectoryObject extends DurableObject<Bindings> {
  readonly #sql = this.ctx.storage.sql;
  readonly #ledger = new Ledger(this.#sql);

  #complete = false;

  /** False: nothing was ever kept of it here, and a look makes no tables. */
  #has(table: string): boolean {
    const query = "SELECT 1 FROM sqlite_master WHERE name = ?";
    return this.#complete || this.#sql.exec(query, table).toArray().length > 0;
  }
  #made = (): boolean => this.#has("sessions");
  /** Before a write. */
  #make(): void {
    if (!this.#complete) for (const table of TABLES) this.#sql.exec(table);
    this.#complete = true;
  }

  /** The owner's own layer of settings, with its secrets: for sessions, never for a reply. */
  async settings(): Promise<SettingsLayer> {
    if (!this.#has("owner")) return {};
    const query = "SELECT json FROM owner WHERE part = 'settings'";
    const row = this.#sql.exec<{ json: string }>(query).toArray()[0];
    return row ? (JSON.parse(row.json) as SettingsLayer) : {};
  }
  async patchSettings(patch: SettingsLayer): Promise<Answer<SettingsLayer>> {
    const layer = patchedLayer(await this.settings(), patch);
    if (!layer.ok) return layer;
    this.#make();
    const query = "INSERT OR REPLACE INTO owner (part, json) VALUES ('settings', ?)";
    this.#sql.exec(query, JSON.stringify(layer.value));
    return layer;
  }

  /** What the proxy has spent. */
  async spend(spent: Spent): Promise<void> {
    this.#make();
    this.#ledger.add(spent);
  }
  async usage(from: string, to: string): Promise<UsageReport> {
    const report = this.#has("usage")
      ? this.#ledger.between(from, to)
      : { days: [], total: NO_USAGE };
    return { from, to, ...report };
  }

  /** Lists a session that is about to be made, and binds its key; the id that the key already has, if any. */
  async add(
    info: SessionInfo,
    key: string | undefined,
    fresh = false,
  ): Promise<{ existing: string | null }> {
    this.#make();
    const bound = key === undefined || fresh ? undefined : this.#bound(key);
    if (bound) return { existing: bound };
    // Both or neither: a key without its row would give a session that is in no list.
    this.ctx.storage.transactionSync(() => {
      if (key !== undefined) {
        this.#sql.exec("INSERT OR REPLACE INTO keys (key, id) VALUES (?, ?)", key, info.id);
      }
      this.#put(info);
    });
    return { existing: null };
  }
  /** The keys of one session are another's from now on. */
  async rebind(from: string, to: string): Promise<void> {
    if (this.#made()) this.#sql.exec("UPDATE keys SET id = ? WHERE id = ?", to, from);
  }
  #bound(key: string): string | undefined {
    return this.#sql.exec<{ id: string }>("SELECT id FROM keys WHERE key = ?", key).toArray()[0]
      ?.id;
  }

  /** Takes in what a session has spent, and its newer state while it is listed; one that was removed stays removed. */
  async update(info: SessionInfo, spent: Spent): Promise<void> {
    if (!this.#made()) return;
    if (Object.keys(spent).length > 0) {
      this.#make();
      this.#ledger.told(info.id, spent);
    }
    const held = this.#sql
      .exec<{ seq: number; updated: string }>(
        "SELECT seq, updated FROM sessions WHERE id = ?",
        info.id,
      )
      .toArray()[0];
    if (!held || held.seq > info.last_seq || held.updated > info.updated_at) return;
    this.#put(info);
  }
  #put(info: SessionInfo): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO sessions (id, updated, seq, words, json) VALUES (?, ?, ?, ?, ?)",
      info.id,
      info.updated_at,
      info.last_seq,
      `${info.title}\n${info.preview}`.toLowerCase(),
      JSON.stringify(info),
    );
  }

  async remove(id: string): Promise<void> {
    if (!this.#made()) return;
    this.#sql.exec("DELETE FROM sessions WHERE id = ?", id);
    this.#sql.exec("DELETE FROM keys WHERE id = ?", id);
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
  | "add"
  | "rebind"
  | "update"
  | "remove"
  | "list"
  | "settings"
  | "patchSettings";

/** The list of one owner. (The platform's own stub type gives up on JSON values.) */
export const directoryStub = (env: Bindings, owner: string): Pick<DirectoryObject, Called> =>
  objectNamed(env, env.DIRECTORY, owner) as unknown as DirectoryObject;
