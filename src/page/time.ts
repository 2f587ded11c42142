/** Times as people say them. Durations are counted here; the server stores none. */
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { locale, t } from "./strings.ts";

/** A replay has a time of its own, in milliseconds; null: the reader's. */
export const FixedNow = createContext<number | null>(null);

/** `0:07`, `12:03`, `1:02:03`. */
export function clock(ms: number): string {
  const all = Math.max(0, Math.floor(ms / 1000));
  const hours = Math.floor(all / 3600);
  const minutes = Math.floor(all / 60) % 60;
  const seconds = String(all % 60).padStart(2, "0");
  return hours > 0
    ? `${hours}:${String(minutes).padStart(2, "0")}:${seconds}`
    : `${minutes}:${seconds}`;
}

const tenths = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
/** `0.4 s`, `12 s`, `2:05`. */
export function short(ms: number): string {
  if (ms < 9_950) return t("seconds", { n: tenths.format(Math.max(0, ms) / 1000) });
  return ms < 60_000 ? t("seconds", { n: Math.round(ms / 1000) }) : clock(ms);
}

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "narrow" });
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

export function ago(ts: string, now: number): string {
  const past = Date.parse(ts) - now;
  for (const [unit, ms] of UNITS) {
    if (-past >= ms) return relative.format(Math.ceil(past / ms), unit);
  }
  return t("justNow");
}

const full = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const timeOnly = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
export const exact = (ts: string): string => full.format(new Date(ts));
export const timeOfDay = (ts: string): string => timeOnly.format(new Date(ts));

export const since = (from: string, to: string | null, now: number): number =>
  (to ? Date.parse(to) : now) - Date.parse(from);

/** The time, again every `everyMs` while `active`. */
export function useNow(active: boolean, everyMs = 1_000): number {
  const fixed = useContext(FixedNow);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!active || fixed !== null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [active, everyMs]);
  return fixed ?? now;
}
