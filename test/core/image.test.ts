/** The container's image and the SDK speak one protocol: they are pinned together. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const file = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

it("the image in the Dockerfile has the version of @cloudflare/sandbox, pinned exactly", () => {
  const { dependencies } = JSON.parse(file("package.json")) as {
    dependencies: Record<string, string>;
  };
  const pinned = dependencies["@cloudflare/sandbox"];
  expect(pinned).toMatch(/^\d+\.\d+\.\d+$/);
  const [, tag] = /^FROM docker\.io\/cloudflare\/sandbox:(\S+)$/m.exec(file("Dockerfile")) ?? [];
  expect(tag).toBe(pinned);
});
