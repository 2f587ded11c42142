/**
 * An owner's accounts: what was spent, by day and model.
 *
 * G1  A session tells running totals of its own, so what is told twice or late counts once; it may be deleted after.
 * G2  A day that nobody can tell anything new of is folded into one row for each model: the table stays small.
 */
import { dayOf, type Spent } from "../core/ledger.ts";
import { NO_USAGE, type Usage } from "../core/usage.ts";
import type { UsageRow } from "../core/wire.ts";

export const USAGE_TABLE = `CREATE TABLE IF NOT EXISTS usage (
  day TEXT NOT NULL, model TEXT NOT NULL, session TEXT NOT NULL,
  calls INTEGER NOT NULL, tools INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
  cached INTEGER NOT NULL, measured INTEGER NOT NULL, cost REAL,
  PRIMARY KEY (day, model, session)
) STRICT, WITHOUT ROWID`;

const DAY_MS = 24 * 3_600_000;
/** Days for which a session may still tell something. */
const OPEN_DAYS = 7;
const INSERT = `INSERT INTO usage (day, model, session, calls, tools, input, output, cached, measured, cost)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET `;
const REPLACE = `calls = excluded.calls, tools = excluded.tools, input = excluded.input,
  output = excluded.output, cached = excluded.cached, measured = excluded.measured, cost = excluded.cost
  WHERE excluded.calls >= calls AND excluded.tools >= tools
    AND (excluded.calls > calls OR excluded.tools > tools)`;
const ADD = `calls = calls + excluded.calls, tools = tools + excluded.tools, input = input + excluded.input,
  output = output + excluded.output, cached = cached + excluded.cached,
  measured = min(measured, excluded.measured),
  cost = CASE WHEN cost IS NULL THEN excluded.cost ELSE cost + coalesce(excluded.cost, 0) END`;
/** What one model came to on one day, of all sessions together. */
const SUMS = `sum(calls) AS calls, sum(tools) AS tools, sum(input) AS input, sum(output) AS output,
  sum(cached) AS cached, min(measured) AS measured, sum(cost) AS cost`;

type Sums = {
  day: string;
  model: string;
  calls: number;
  tools: number;
  input: number;
  output: number;
  cached: number;
  measured: number;
  cost: number | null;
};

const usageIn = (r: Sums): Usage => ({
  model_calls: r.calls,
  tool_calls: r.tools,
  input_tokens: r.input,
  output_tokens: r.output,
  cached_tokens: r.cached,
  measured: r.measured === 1,
  cost_usd: r.cost,
});

export class Ledger {
  readonly #sql: SqlStorage;
  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The running totals of one session. */
  told(session: string, spent: Spent): void {
    this.#write(session, spent, REPLACE);
  }
  /** What was spent once, by nobody who could tell it again. */
  add(spent: Spent): void {
    this.#write("", spent, ADD);
  }

  #write(session: string, spent: Spent, rule: string): void {
    const open = dayOf(Date.now() - OPEN_DAYS * DAY_MS);
    const days = Object.keys(spent).filter((day) => day >= open);
    const newest = this.#sql
      .exec<{ day: string | null }>("SELECT max(day) AS day FROM usage")
      .one();
    for (const day of days) {
      for (const [model, u] of Object.entries(spent[day] ?? {})) {
        this.#sql.exec(
          INSERT + rule,
          ...[day, model, session, u.model_calls, u.tool_calls],
          ...[u.input_tokens, u.output_tokens, u.cached_tokens, u.measured ? 1 : 0, u.cost_usd],
        );
      }
    }
    if (newest.day !== null && days.some((day) => day > (newest.day as string))) this.#fold();
  }

  /** A new day has begun: those that are closed become one row for each model. */
  #fold(): void {
    const closed = dayOf(Date.now() - (OPEN_DAYS + 2) * DAY_MS);
    this.#sql.exec(
      `${INSERT.replace(/VALUES[^)]*\)/, `SELECT day, model, '', ${SUMS} FROM usage WHERE day < ? AND session <> '' GROUP BY day, model`)} ${ADD}`,
      closed,
    );
    this.#sql.exec("DELETE FROM usage WHERE day < ? AND session <> ''", closed);
  }

  /** Both days included. */
  between(from: string, to: string): { days: UsageRow[]; total: Usage } {
    const where = "FROM usage WHERE day >= ? AND day <= ?";
    const rows = this.#sql
      .exec<Sums>(
        `SELECT day, model, ${SUMS} ${where} GROUP BY day, model ORDER BY day, model`,
        from,
        to,
      )
      .toArray();
    const total = this.#sql
      .exec<Sums>(`SELECT '' AS day, '' AS model, ${SUMS} ${where}`, from, to)
      .toArray()[0];
    const days = rows
      .filter(({ model }) => model !== "")
      .map((r) => {
        const { tool_calls: _, ...usage } = usageIn(r);
        return { day: r.day, model: r.model, ...usage };
      });
    return { days, total: rows.length > 0 && total ? usageIn(total) : NO_USAGE };
  }
}
