/** Headers are secrets: whatever a server says with one of them in it is said without it. */

/** Shorter values are no secrets, and would be found everywhere. */
const LEAST = 6;

/** Takes the values of these headers out of a text; a token also without the word before it. */
export function redactor(headers: Readonly<Record<string, string>>): (text: string) => string {
  const values = Object.values(headers).flatMap((value) => [
    value,
    value.split(/\s+/).at(-1) ?? "",
  ]);
  const secrets = [...new Set(values)].filter((value) => value.length >= LEAST);
  secrets.sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
}

/** The same for every text inside a value. */
export function redactDeep<T>(value: T, redact: (text: string) => string): T {
  if (typeof value === "string") return redact(value) as T;
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact)) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, v]) => [redact(key), redactDeep(v, redact)]);
  return Object.fromEntries(entries) as T;
}
