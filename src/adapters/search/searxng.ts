/** https://docs.searxng.org/dev/search_api.html; the instance must offer the format `json`. */
import { at, hitsOf, type Provider, queryOf } from "./provider.ts";

export const searxng: Provider = {
  base: null,
  keyed: false,
  request(query, range, key) {
    const time_range = range === "all" ? null : range.replace("past_", "");
    // For an instance behind a door of its own.
    const headers: Record<string, string> = key === "" ? {} : { authorization: `Bearer ${key}` };
    return {
      method: "GET",
      path: `/search?${queryOf({ q: query, format: "json", time_range })}`,
      headers,
    };
  },
  hits: (reply) => hitsOf(at(reply, "results"), "title", "url", "content"),
};
