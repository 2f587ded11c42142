/** The web tools as a deployment offers them, and the product's own door. */
import { describe, expect, vi } from "vitest";
import { FETCH_MARK } from "../../src/adapters/web/fetch.ts";
import { guardedWeb } from "../../src/adapters/web/web.ts";
import type { Config } from "../../src/core/wire.ts";
import { api, Client, failureOf, it, useVars } from "./support/client.ts";
import { call, complete, plan } from "./support/replies.ts";

const config = async () => (await api("/api/config")).json<Config>();
const names = (c: Config) => c.tools.map((t) => t.name);

describe("the tools of a deployment", () => {
  it("have web_fetch always, and a search where one is configured", async () => {
    expect(names(await config())).toContain("web_fetch");
    expect(names(await config())).not.toContain("info_search_web");
    useVars({ SEARCH_PROVIDER: "tavily", SEARCH_API_KEY: "k3y" });
    const configured = await config();
    expect(configured.tools).toContainEqual({ name: "info_search_web", toolkit: "search" });
    expect(JSON.stringify(configured)).not.toContain("k3y");
  });

  it("say what is wrong with a search that cannot work, before a session is made", async () => {
    useVars({ SEARCH_PROVIDER: "tavily" });
    for (const response of [await api("/api/config"), await api("/api/sessions", { json: {} })]) {
      expect(response.status).toBe(500);
      expect(await failureOf(response)).toMatchObject({
        code: "bad_configuration",
        message: expect.stringContaining("SEARCH_API_KEY"),
      });
    }
  });
});

describe("A31: the product itself", () => {
  it("is not asked by its own tools, even where its host is allowed", async () => {
    useVars({ FETCH_ALLOW_PRIVATE: "localhost, 127.0.0.1" });
    const fetchOwn = (url: string) => call(["web_fetch", { url }]);
    const c = await Client.create([plan("a"), fetchOwn("http://localhost/api/config"), complete()]);
    await c.say("Look at yourself");
    await c.status("completed");
    const [, called] = await c.of("tool");
    expect(called).toMatchObject({ function: "web_fetch", ok: true });
    expect(JSON.stringify(called)).toContain("where this very product is served");
  });

  it("does not answer a request that one of its own tools sends under another name", async () => {
    for (const path of ["/api/config", "/api/health", "/v1/models"]) {
      const response = await api(path, { headers: { [FETCH_MARK]: "1" } });
      expect([path, response.status]).toEqual([path, 403]);
      expect((await failureOf(response)).code).toBe("own_request");
    }
  });
});

it("a page is read in the runtime that serves: parser, reader, converter and charsets load there", async () => {
  const body = new Uint8Array([
    ...new TextEncoder().encode(
      `<html><head><meta charset="gbk"><title>T</title></head><body><article><h2>`,
    ),
    0xba,
    0xba,
    0xd7,
    0xd6,
    ...new TextEncoder().encode(
      `</h2><p>${"Some text of the page. ".repeat(20)}<a href="/x">link</a></p><table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table></article>`,
    ),
  ]);
  vi.mocked(globalThis.fetch).mockResolvedValueOnce(
    new Response(body, { headers: { "content-type": "text/html" } }),
  );
  const page = await guardedWeb({}).page("https://example.com/", new AbortController().signal);
  expect(page).toMatchObject({ type: "text", title: "T" });
  if (page.type !== "text") return;
  for (const part of [
    "## 汉字",
    "[link](https://example.com/x)",
    "| a | b |\n| --- | --- |\n| c | d |",
  ])
    expect(page.text).toContain(part);
});
