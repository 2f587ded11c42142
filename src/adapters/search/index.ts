/**
 * Web search: the provider that the deployment's variables name. A new one is one small file and one line here.
 *
 * S1  Never rejects; a failure says what to do, and holds neither the key nor the provider's own words.
 * S2  The key goes to the provider's address and nowhere else: redirects are not followed.
 */
import { LIMITS } from "../../core/limits.ts";
import type { Found, Search } from "../../tools/search.ts";
import { type Got, guardedFetch } from "../web/fetch.ts";
import { brave } from "./brave.ts";
import type { Provider } from "./provider.ts";
import { searxng } from "./searxng.ts";
import { serper } from "./serper.ts";
import { tavily } from "./tavily.ts";

export interface SearchVars {
  SEARCH_PROVIDER?: string;
  SEARCH_API_KEY?: string;
  /** In place of the provider's own address; required for SearXNG. */
  SEARCH_BASE_URL?: string;
}
export type SearchSetup =
  | { type: "off" }
  | { type: "on"; search: Search }
  /** What is wrong with the variables. */
  | { type: "wrong"; why: string };

const PROVIDERS: Record<string, Provider> = { tavily, brave, serper, searxng };
const REPLY_BYTES = 1024 * 1024;

export function searchSetup(vars: SearchVars): SearchSetup {
  const name = vars.SEARCH_PROVIDER?.trim().toLowerCase() ?? "";
  if (name === "") return { type: "off" };
  const provider = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;
  if (!provider) {
    const known = Object.keys(PROVIDERS).join(", ");
    return { type: "wrong", why: `SEARCH_PROVIDER must be one of ${known}.` };
  }
  const key = vars.SEARCH_API_KEY?.trim() ?? "";
  if (provider.keyed && key === "") {
    return { type: "wrong", why: `SEARCH_PROVIDER is ${name}, which needs SEARCH_API_KEY.` };
  }
  const base = URL.parse(vars.SEARCH_BASE_URL?.trim() || (provider.base ?? ""));
  if (!base || !/^https?:$/.test(base.protocol)) {
    return {
      type: "wrong",
      why: `SEARCH_PROVIDER is ${name}: SEARCH_BASE_URL must be its address.`,
    };
  }
  return { type: "on", search: searchWith(provider, base, key) };
}

const searchWith = (provider: Provider, base: URL, key: string): Search => ({
  async find(query, range, signal) {
    const { path, ...request } = provider.request(query, range, key);
    const url = base.href.replace(/[?#].*$/, "").replace(/\/+$/, "") + path;
    // The address is the deployment's own choice, and may be on its own network.
    const rules = { allow: [base.port === "" ? base.hostname : base.host] };
    const ask = { ...request, url, signal, maxBytes: REPLY_BYTES, maxHops: 0 };
    const got = await guardedFetch(ask, rules);
    if (got.type !== "got") {
      return {
        ok: false,
        text: `The search provider did not answer. ${got.why.split(key || "\0").join("***")}`,
      };
    }
    return foundIn(got, provider);
  },
});

function foundIn({ status, bytes, whole }: Got, provider: Provider): Found {
  const refused = status === 200 ? null : refusal(status);
  if (refused) return { ok: false, text: refused };
  try {
    if (!whole) throw new Error("too long");
    const reply: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return { ok: true, hits: provider.hits(reply).slice(0, 5 * LIMITS.searchHits) };
  } catch {
    return {
      ok: false,
      text: "The search provider's answer could not be read: it is not its JSON.",
    };
  }
}

/** 432 and 433 are Tavily's words for a spent plan. */
function refusal(status: number): string {
  if (status === 401 || status === 403) {
    return `The search provider refused the key or the request (${status}). Who runs this deployment should check SEARCH_API_KEY, and for SearXNG that it offers the format json. Work without searching.`;
  }
  if ([402, 429, 432, 433].includes(status)) {
    return `The search provider's quota is spent or its rate is limited (${status}). Search less, or go on without searching.`;
  }
  if (status >= 500)
    return `The search provider has a fault of its own (${status}). Try again later.`;
  return `The search provider did not accept the search (${status}). Try other words.`;
}
