/**
 * Making a request fit, without a model and without touching a row.
 *
 * K1  A compaction is a stored boundary: results before it are shown as a marker when a request is built.
 * K2  Prompts, what people said, answers to questions and replies are never touched; no pair is ever cut.
 * K3  Deterministic and idempotent: the same rows and boundary give the same request.
 */
import { NOT_RUN } from "./prompt.ts";
import type { Row } from "./session.ts";

/** The newest rows that are never elided. */
const KEEP = 10;
const CONTENT = ',"content":';
const MARK = `${CONTENT}${JSON.stringify(NOT_RUN.elided)}}`;

/** A careful guess where the provider has not measured: four characters a token. */
export const estimate = (chars: number): number => Math.ceil(chars / 4);

const elides = (row: Row, before: number) =>
  row.kind === "result" && row.id < before && row.json.length > MARK.length + 80;

/** A row as it is sent: itself, or its marker. Relies on the key order of `toolMessage`. */
export const shown = (row: Row, before: number): string =>
  elides(row, before) ? row.json.slice(0, row.json.indexOf(CONTENT)) + MARK : row.json;

export const tokensOf = (rows: readonly Row[], before: number): number =>
  estimate(rows.reduce((sum, row) => sum + shown(row, before).length, 0));

/**
 * The boundary that brings rows over `budget` tokens well under it, or as far as may be; null: nothing to gain.
 * It stops at three quarters, so that the requests after it share a prefix for a while.
 */
export function compact(
  rows: readonly Row[],
  before: number,
  budget: number,
): { before: number; from: number; to: number } | null {
  const from = tokensOf(rows, before);
  if (from <= budget) return null;
  const last = rows[rows.length - KEEP]?.id ?? 0;
  const target = budget * 0.75;
  let to = from;
  let boundary = before;
  for (const row of rows) {
    if (to <= target || row.id >= last) break;
    if (row.id < before || !elides(row, row.id + 1)) continue;
    boundary = row.id + 1;
    to -= estimate(row.json.length - shown(row, boundary).length);
  }
  return boundary > before ? { before: boundary, from, to: tokensOf(rows, boundary) } : null;
}
