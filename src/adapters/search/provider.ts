/** What a search provider is: one request, and how its reply is read. Pure, so that each is one small file. */
import type { DateRange, Hit } from "../../tools/search.ts";

export interface Provider {
  /** The address of its own service; none for what one hosts oneself. */
  base: string | null;
  /** Does it ask for a key? */
  keyed: boolean;
  request(query: string, range: DateRange, key: string): SearchRequest;
  /** `reply` is whatever JSON came; what is not there is no hit. */
  hits(reply: unknown): Hit[];
}
export interface SearchRequest {
  method: "GET" | "POST";
  /** Behind the base, with its query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** The value under some keys, or undefined wherever the way ends. */
export function at(value: unknown, ...keys: string[]): unknown {
  let found = value;
  for (const key of keys) {
    found = typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined;
  }
  return found;
}

/** A list of hits, by the names that a provider gives to their parts. */
export function hitsOf(list: unknown, title: string, link: string, snippet: string): Hit[] {
  const text = (item: unknown, key: string): string => {
    const value = at(item, key);
    return typeof value === "string" ? value : "";
  };
  return (Array.isArray(list) ? list : []).map((item: unknown) => ({
    title: text(item, title),
    link: text(item, link),
    snippet: text(item, snippet),
  }));
}

export const queryOf = (params: Record<string, string | null>): string =>
  new URLSearchParams(
    Object.entries(params).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  ).toString();
