/**
 * Prices as the form holds them, model by model, and what of them has to be sent (S1 and S2 of draft.ts).
 *
 * S4  A price without both its ends is none yet: nothing is saved before it has them. With nothing in it, it is taken back.
 */
import type { Price, Settings } from "../../core/settings.ts";

/** US dollars for a million tokens, as they are written. */
export interface PriceRow {
  model: string;
  input: string;
  cached: string;
  output: string;
  /** It is stated already: its model is fixed. */
  saved: boolean;
}
export type PricePart = "input" | "cached" | "output";

const text = (n: number | undefined): string => (n === undefined ? "" : String(n));

export const priceRow = (model: string, { input, cached, output }: Price): PriceRow => ({
  ...{ model, input: text(input), cached: text(cached), output: text(output) },
  saved: true,
});
export const priceRows = (prices: Settings["prices"] = {}): PriceRow[] =>
  Object.entries(prices).map(([model, price]) => priceRow(model, price));

/** null: nothing is written; undefined: this is no price. A free model costs 0. */
export function amountOf(written: string): number | null | undefined {
  if (written.trim() === "") return null;
  const n = Number(written);
  return Number.isFinite(n) && n >= 0 ? n : undefined;
}

const amountsOf = ({ input, cached, output }: PriceRow) => [input, cached, output].map(amountOf);
const isEmpty = (row: PriceRow): boolean => amountsOf(row).every((amount) => amount === null);
function isWhole(row: PriceRow): boolean {
  const [input, cached, output] = amountsOf(row);
  const priced = typeof input === "number" && typeof output === "number" && cached !== undefined;
  return priced && row.model.trim() !== "";
}
/** Something stands in it, and something is missing. */
export const isHalf = (row: PriceRow): boolean =>
  !isWhole(row) && !(isEmpty(row) && (row.saved || row.model.trim() === ""));

export function pricesPatch(before: PriceRow[], after: PriceRow[]): Record<string, object | null> {
  const patch: Record<string, object | null> = {};
  for (const { model } of before)
    if (!after.some((row) => row.model === model && !isEmpty(row))) patch[model] = null;
  for (const row of after) {
    const model = row.model.trim();
    const was = before.find((held) => held.model === model);
    const [input, cached, output] = amountsOf(row);
    if (isWhole(row) && !same(was, row)) patch[model] = { input, cached, output };
  }
  return patch;
}
const same = (a: PriceRow | undefined, b: PriceRow): boolean =>
  a?.input === b.input && a.cached === b.cached && a.output === b.output;
