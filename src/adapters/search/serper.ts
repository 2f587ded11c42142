/** https://serper.dev: Google's results as JSON. */
import { LIMITS } from "../../core/limits.ts";
import { at, hitsOf, type Provider } from "./provider.ts";

const WITHIN = { all: "", past_day: "d", past_week: "w", past_month: "m", past_year: "y" };

export const serper: Provider = {
  base: "https://google.serper.dev",
  keyed: true,
  request: (query, range, key) => ({
    method: "POST",
    path: "/search",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({
      q: query,
      num: LIMITS.searchHits,
      ...(range === "all" ? {} : { tbs: `qdr:${WITHIN[range]}` }),
    }),
  }),
  hits: (reply) => hitsOf(at(reply, "organic"), "title", "link", "snippet"),
};
