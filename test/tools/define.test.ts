import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineTool } from "../../src/tools/define.ts";
import { type Need, TOOLS, toolsFor } from "../../src/tools/index.ts";
import { FakeBox } from "../support/fake-box.ts";
import { call } from "../support/run-tool.ts";

const seen: unknown[] = [];
const tool = defineTool({
  name: "demo",
  toolkit: "file",
  description: "A demo.",
  args: () =>
    z.object({ path: z.string(), lines: z.int().optional(), all: z.boolean().default(false) }),
  run: async (args) => {
    seen.push(args);
    return { ok: true, text: "done" };
  },
});

describe("D1: the schema that a model sees", () => {
  it("is a plain object schema with a required brief", () => {
    expect(tool.parameters).toEqual({
      type: "object",
      properties: {
        path: { type: "string" },
        lines: { type: "integer" },
        all: { type: "boolean", default: false },
        brief: expect.objectContaining({ type: "string" }),
      },
      required: ["path", "brief"],
    });
  });

  it("has a brief on every work tool and on no message tool", () => {
    for (const { name, toolkit, parameters } of TOOLS) {
      const fields = Object.keys(parameters.properties as object);
      expect([name, fields.includes("brief")]).toEqual([name, toolkit !== "message"]);
    }
  });

  it("is free of $schema and additionalProperties for every tool", () => {
    expect(JSON.stringify(TOOLS.map((t) => t.parameters))).not.toMatch(
      /\$schema|additionalProperties|9007199254740991/,
    );
  });

  it("offers work first and messages last, under the names of the contract", () => {
    expect(TOOLS.map((t) => t.name)).toEqual([
      "shell_exec",
      "shell_view",
      "shell_wait",
      "shell_write_to_process",
      "shell_kill_process",
      "file_read",
      "file_write",
      "file_str_replace",
      "file_find_in_content",
      "file_find_by_name",
      "info_search_web",
      "web_fetch",
      "browser_navigate",
      "browser_view",
      "browser_click",
      "browser_input",
      "browser_scroll",
      "browser_press_key",
      "delegate_task",
      "message_notify_user",
      "message_ask_user",
    ]);
  });

  it("offers a tool that needs something only where that is", () => {
    for (const { name } of toolsFor(new Set())) {
      expect(TOOLS.find((t) => t.name === name)?.needs).toBeUndefined();
    }
    const all = toolsFor(new Set(["background", "search", "browser", "profiles"]));
    expect(all.map((t) => t.name)).toEqual(TOOLS.map((t) => t.name));
  });

  it("takes the careful facts when none are stated", () => {
    expect(tool).toMatchObject({
      parallelSafe: false,
      volatile: false,
      effect: true,
      recovery: "report",
    });
  });
});

describe("D2, D3: checking arguments", () => {
  it("keeps the brief for the event and hides it from the tool", async () => {
    const parsed = tool.parse({ path: "a", brief: "look", extra: 1 });
    expect(parsed).toEqual({ ok: true, value: { path: "a", all: false, brief: "look" } });
    if (parsed.ok) await call(tool, new FakeBox(), parsed.value);
    expect(seen.at(-1)).toEqual({ path: "a", all: false });
  });

  it("forgives a missing brief and null for an optional field", () => {
    expect(tool.parse({ path: "a", lines: null })).toEqual({
      ok: true,
      value: { path: "a", all: false },
    });
  });

  it("says which field is missing and which fields there are", () => {
    expect(tool.parse({})).toEqual({
      ok: false,
      error:
        "`path` is missing. Fields: path (string, required), lines (integer, optional), all (boolean, optional), brief (string, required).",
    });
  });

  it("says which type a field must have", () => {
    const parsed = tool.parse({ path: 5, lines: "3" });
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) {
      expect(parsed.error).toContain("`path` must be of type string");
      expect(parsed.error).toContain("`lines` must be of type number");
    }
  });

  it("never throws, whatever comes in", () => {
    for (const odd of [{ path: {} }, { path: [] }, { __proto__: null }, { path: "\ud83d" }]) {
      expect(typeof tool.parse(odd).ok).toBe("boolean");
    }
  });

  it("answers wrong arguments with a failure when they were not checked before", async () => {
    const result = await call(tool, new FakeBox(), {});
    expect(result.ok).toBe(false);
    expect(result.text).toContain("`path` is missing");
  });
});

it("what can be found again after a crash is looked for only where processes outlive their call", () => {
  const recoveryOf = (have: Need[]) =>
    toolsFor(new Set(have)).find((t) => t.name === "shell_exec")?.recovery;
  expect([recoveryOf([]), recoveryOf(["background"])]).toEqual(["report", "reattach"]);
});
