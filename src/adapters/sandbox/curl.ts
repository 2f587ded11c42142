/**
 * What the embedded shell's `curl` asks with: the guarded fetch, its endings in the words that curl has exit codes for.
 *
 * L1  An address that is refused is exit code 7, too many redirects 47, an end by time 28, a method 3.
 * L2  A body is text: the shell reads files as UTF-8 before they get here, and a damaged upload is refused, not sent.
 */
import type { BashOptions } from "just-bash/browser";
import { LIMITS } from "../../core/limits.ts";
import type { AddressRules } from "../web/address.ts";
import { guardedFetch } from "../web/fetch.ts";

type SecureFetch = NonNullable<BashOptions["fetch"]>;

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]);

export function shellFetch(rules: AddressRules, commandMs: number): SecureFetch {
  return async (url, options = {}) => {
    const { body, timeoutMs = commandMs, signal = new AbortController().signal } = options;
    const method = (options.method ?? "GET").toUpperCase();
    if (!METHODS.has(method)) throw new Error(`HTTP method ${method} is not allowed`);
    if (body?.includes("\ufffd")) {
      throw new Error("only text can be sent from here, and this body is none; nothing was sent");
    }
    const hops = options.followRedirects === false ? 0 : (options.maxRedirects ?? LIMITS.fetchHops);
    const got = await guardedFetch(
      {
        url,
        method,
        headers: Object.fromEntries(new Headers(options.headers)),
        ...(body === undefined ? {} : { body }),
        signal,
        maxBytes: LIMITS.downloadBytes,
        maxHops: Math.min(hops, LIMITS.fetchHops),
        timeoutMs: Math.min(timeoutMs, commandMs),
      },
      rules,
    );
    if (got.type !== "got") {
      throw new Error(got.type === "refused" ? `Network access denied: ${got.why}` : got.why);
    }
    if (!got.whole) {
      throw new Error(`the answer is longer than ${LIMITS.downloadBytes} bytes; nothing was kept`);
    }
    const { status, bytes, headers } = got;
    return {
      status,
      statusText: "",
      headers: Object.fromEntries(headers),
      body: bytes,
      url: got.url,
    };
  };
}
