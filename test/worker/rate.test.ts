/** Limits on how much is asked for, over the platform's limiter and over our own. */
import { exports } from "cloudflare:workers";
import { describe, expect } from "vitest";
import { LIMITS } from "../../src/core/limits.ts";
import { failureOf, it, useVars } from "./support/client.ts";

const SITE = "https://dormouse.example";
const list = (headers: Record<string, string>, path = "/api/sessions") =>
  exports.default.fetch(`${SITE}${path}`, { headers });
const token = (name: string) => ({ authorization: `Bearer token-of-${name}` });
const tokens = {
  AUTH_TOKENS: JSON.stringify({ "token-of-ann": "ann", "token-of-bob": "bob" }),
};

describe("the platform's limiter", () => {
  const asked: string[] = [];
  const limiter = (answer: (key: string) => boolean) => ({
    async limit({ key }: { key: string }) {
      asked.push(key);
      return { success: answer(key) };
    },
  });

  it("turns away an owner who asks too much, and says when to come back", async () => {
    useVars({ ...tokens, RATE_LIMIT: limiter((key) => !key.includes("ann")) });
    const refused = await list(token("ann"));
    expect(refused.headers.get("retry-after")).toBe("60");
    expect([refused.status, (await failureOf(refused)).code]).toEqual([429, "rate_limited"]);
    expect((await list(token("bob"))).status).toBe(200);
    expect(asked.join()).not.toContain("token");
  });

  it("speaks OpenAI's language under /v1", async () => {
    useVars({ ...tokens, RATE_LIMIT: limiter(() => false) });
    const refused = await list(token("ann"), "/v1/models");
    const { error } = await refused.json<{ error: { type: string; code: string } }>();
    expect([refused.status, error.type, error.code]).toEqual([
      429,
      "rate_limit_error",
      "rate_limit_exceeded",
    ]);
    expect(refused.headers.get("retry-after")).toBe("60");
  });

  it("lets pass when it fails itself", async () => {
    useVars({
      ...tokens,
      RATE_LIMIT: {
        async limit() {
          throw new Error("down");
        },
      },
    });
    expect((await list(token("ann"))).status).toBe(200);
  });

  it("does not count whoever runs it on loopback for themselves", async () => {
    useVars({ RATE_LIMIT: limiter(() => false) });
    expect((await exports.default.fetch("http://localhost/api/sessions")).status).toBe(200);
  });
});

describe("a stranger who guesses", () => {
  it("is turned away after many refusals; owners at the same address, and others elsewhere, are not", async () => {
    useVars(tokens);
    const from = (ip: string, more = {}) => list({ "cf-connecting-ip": ip, ...more });
    for (let i = 0; i < LIMITS.refusalsPerMinute; i++) {
      expect((await from("203.0.113.9", { authorization: `Bearer ${i}` })).status).toBe(401);
    }
    expect((await from("203.0.113.9", { authorization: "Bearer x" })).status).toBe(429);
    expect((await from("203.0.113.9", token("ann"))).status).toBe(200);
    expect((await from("203.0.113.10", { authorization: "Bearer x" })).status).toBe(401);
  });

  it("of links as well", async () => {
    useVars(tokens);
    const from = (n: number) =>
      list({ "cf-connecting-ip": "203.0.113.11" }, `/api/shared/${String(n).padStart(52, "a")}`);
    const first = await from(222_222);
    expect(first.status).toBe(404);
    for (let i = 1; i < LIMITS.refusalsPerMinute; i++) await from(222_222 + i);
    expect((await from(222_222)).status).toBe(429);
  });
});
