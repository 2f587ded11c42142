/** https://api-dashboard.search.brave.com/app/documentation/web-search/get-started */
import { LIMITS } from "../../core/limits.ts";
import { at, hitsOf, type Provider, queryOf } from "./provider.ts";

const FRESHNESS = { all: null, past_day: "pd", past_week: "pw", past_month: "pm", past_year: "py" };

/** It marks the words that were found. */
const unmarked = (text: string): string =>
  text
    .replace(/<\/?strong>/g, "")
    .replace(/&(quot|#x27|lt|gt|amp);/g, (_, name: string) => ENTITIES[name] ?? "");
const ENTITIES: Record<string, string> = { quot: '"', "#x27": "'", lt: "<", gt: ">", amp: "&" };

export const brave: Provider = {
  base: "https://api.search.brave.com",
  keyed: true,
  request(query, range, key) {
    const count = String(LIMITS.searchHits);
    const params = queryOf({ q: query, count, freshness: FRESHNESS[range] });
    const headers = { "x-subscription-token": key, accept: "application/json" };
    return { method: "GET", path: `/res/v1/web/search?${params}`, headers };
  },
  hits: (reply) =>
    hitsOf(at(reply, "web", "results"), "title", "url", "description").map((hit) => ({
      ...hit,
      title: unmarked(hit.title),
      snippet: unmarked(hit.snippet),
    })),
};
