/** The description of the API: whole, sound and fresh. Whether it is true, test/worker/api-docs.test.ts looks. */
import { readFile } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { framesSchema, openapi, written } from "../../scripts/api/document.ts";
import { OPERATIONS } from "../../scripts/api/operations.ts";

const stored = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), "utf8");

describe("docs/openapi.json", () => {
  it("is what the schemas say: run `npm run docs:api` after a change of them", async () => {
    expect((await stored("openapi.json")) === written(openapi()), "stale").toBe(true);
    expect((await stored("frames.schema.json")) === written(framesSchema()), "stale").toBe(true);
  });

  it("is OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(JSON.parse(await stored("openapi.json")));
    expect(errors ?? []).toEqual([]);
    expect([valid, validator.version]).toEqual([true, "3.1"]);
  });

  it("refers to nothing that is not there", () => {
    for (const document of [openapi(), framesSchema()]) {
      const text = JSON.stringify(document);
      const refs = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path as string);
      expect(refs.length).toBeGreaterThan(0);
      for (const path of refs) {
        const target = path.split("/").reduce<unknown>((at, key) => (at as never)?.[key], document);
        expect(target, path).toBeDefined();
      }
    }
  });

  it("names each operation once, and says what it is for", () => {
    expect(new Set(OPERATIONS.map((o) => o.id)).size).toBe(OPERATIONS.length);
    expect(new Set(OPERATIONS.map((o) => `${o.method} ${o.path}`)).size).toBe(OPERATIONS.length);
    for (const o of OPERATIONS) expect(o.summary, o.id).not.toBe("");
  });
});
