/** https://docs.tavily.com/documentation/api-reference/endpoint/search */
import { LIMITS } from "../../core/limits.ts";
import { at, hitsOf, type Provider } from "./provider.ts";

export const tavily: Provider = {
  base: "https://api.tavily.com",
  keyed: true,
  request: (query, range, key) => ({
    method: "POST",
    path: "/search",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      query,
      max_results: LIMITS.searchHits,
      ...(range === "all" ? {} : { time_range: range.replace("past_", "") }),
    }),
  }),
  hits: (reply) => hitsOf(at(reply, "results"), "title", "url", "content"),
};
