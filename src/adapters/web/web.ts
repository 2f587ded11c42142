/** The web as `web_fetch` sees it: a guarded fetch, and what came made text. */
import { LIMITS } from "../../core/limits.ts";
import type { Page, Web } from "../../tools/web.ts";
import type { AddressRules } from "./address.ts";
import { charsetOf, decode } from "./charset.ts";
import { type Got, guardedFetch } from "./fetch.ts";
import { readable } from "./readable.ts";

const HTML = /^(text\/html|application\/xhtml\+xml)\b/i;
const TEXT =
  /^(text\/|application\/(json|xml|javascript|ecmascript|yaml|x-yaml|x-ndjson|toml|sql|graphql|x-sh|x-www-form-urlencoded)\b|[\w.-]+\/[\w.-]+\+(json|xml|yaml)\b)/i;
const ACCEPT = "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5";

export const guardedWeb = (rules: AddressRules): Web => ({
  async page(url, signal) {
    const headers = { accept: ACCEPT };
    const got = await guardedFetch({ url, headers, signal, maxBytes: LIMITS.fetchBytes }, rules);
    return got.type === "got" ? pageOf(got) : got;
  },
});

async function pageOf({ url, status, headers, bytes, whole }: Got): Promise<Page> {
  const contentType = headers.get("content-type") ?? "";
  const facts = { url, status, contentType, bytes: bytes.byteLength, whole };
  const type = contentType === "" && bytes.byteLength > 0 ? guess(bytes) : contentType;
  if (bytes.byteLength > 0 && !HTML.test(type) && !TEXT.test(type))
    return { ...facts, type: "binary" };
  const text = decode(bytes, charsetOf(contentType, bytes));
  // A text has no NULs, whatever its type claims.
  if (text.includes("\0")) return { ...facts, type: "binary" };
  if (!HTML.test(type)) return { ...facts, type: "text", title: "", text };
  const { cut, ...page } = await readable(text, url);
  return { ...facts, whole: whole && !cut, type: "text", ...page };
}

/** Of what comes without a type: only its first bytes say. */
function guess(bytes: Uint8Array): string {
  const start = new TextDecoder().decode(bytes.subarray(0, 512));
  if (start.includes("\0") || start.includes("\ufffd")) return "application/octet-stream";
  return /^\s*<(!doctype html|html|head|body)/i.test(start) ? "text/html" : "text/plain";
}
