/** Numbers as people of the page's language write them. */
import { locale } from "./strings.ts";

const plain = new Intl.NumberFormat(locale);
const oneDigit = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const dollars = new Intl.NumberFormat(locale, {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 4,
});

/** A cent's fraction is not rounded away to nothing. */
const fractions = new Intl.NumberFormat(locale, {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 2,
});

export const count = (n: number): string => plain.format(n);
export const cost = (usd: number): string =>
  (usd > 0 && usd < 0.01 ? fractions : dollars).format(usd);

const UNITS = ["B", "KiB", "MiB", "GiB"];
export function bytes(n: number): string {
  let size = n;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${(unit === 0 ? plain : oneDigit).format(size)} ${UNITS[unit]}`;
}
