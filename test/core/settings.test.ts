/** The merge of settings, by its invariants S1–S3. */
import { describe, expect, it } from "vitest";
import { globMatches } from "../../src/core/glob.ts";
import { DEFAULTS, SettingsLayer } from "../../src/core/settings.ts";
import { mergeSettings, patchLayer } from "../../src/core/settings-merge.ts";

describe("S1: layers merge field by field", () => {
  it("nothing stated is the defaults", () => {
    expect(mergeSettings([])).toEqual(DEFAULTS);
    expect(mergeSettings([undefined, {}])).toEqual(DEFAULTS);
  });
  it("FG-S14: an override of one field keeps the others of its block", () => {
    const merged = mergeSettings([
      { harness: { enabled: true, mode: "workflow", requiredSteps: ["a"] } },
      { harness: { maxToolErrors: 5 } },
    ]);
    expect(merged.harness).toMatchObject({
      enabled: true,
      mode: "workflow",
      requiredSteps: ["a"],
      maxToolErrors: 5,
      maxRetriesPerStep: 3,
    });
  });
  it("the nearest wins for everything that is not strict", () => {
    expect(mergeSettings([{ model: "a", summarize: "always" }, { model: "b" }])).toMatchObject({
      model: "b",
      summarize: "always",
    });
  });
  it("keys that reach a prototype are ignored", () => {
    const evil = JSON.parse(
      '{"__proto__":{"model":"x"},"constructor":{"model":"x"}}',
    ) as SettingsLayer;
    const merged = mergeSettings([evil]);
    expect(merged.model).toBe("");
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });
});

describe("S2, S3: limits, budget and tools take the strictest value that is stated", () => {
  it("the smaller limit, wherever it stands; a larger one than the default counts when it is alone", () => {
    const at = (layers: SettingsLayer[]) => mergeSettings(layers).limits.maxIterations;
    expect(at([{ limits: { maxIterations: 10 } }, { limits: { maxIterations: 50 } }])).toBe(10);
    expect(at([{ limits: { maxIterations: 50 } }, { limits: { maxIterations: 10 } }])).toBe(10);
    expect(at([{ limits: { maxIterations: 500 } }])).toBe(500);
  });
  it("a budget that is stated beats null", () => {
    const merged = mergeSettings([{ budget: { maxTokens: 5 } }, { budget: { maxTokens: null } }]);
    expect(merged.budget.maxTokens).toBe(5);
  });
  it("deny over ask over allow; block over wait", () => {
    const merged = mergeSettings([
      { tools: { approval: { shell_exec: "deny" }, unattended: "block" } },
      { tools: { approval: { shell_exec: "allow", file_write: "ask" }, unattended: "wait" } },
    ]);
    expect(merged.tools.approval).toEqual({ shell_exec: "deny", file_write: "ask" });
    expect(merged.tools.unattended).toBe("block");
  });
  it.each([
    [[["*"], ["file_*"]], ["file_*"]],
    [[["file_*"], ["*"]], ["file_*"]],
    [[["file_*"], ["file_read", "shell_exec"]], ["file_read"]],
    [[["file_read"], ["file_*"]], ["file_read"]],
    [[["file_read"], ["shell_exec"]], []],
  ])("of enabled tools %j only what each layer lets through: %j", (lists, want) => {
    expect(mergeSettings(lists.map((enabled) => ({ tools: { enabled } }))).tools.enabled).toEqual(
      want,
    );
  });
});

it("a patch of one's own layer is nearest in everything: a limit can be raised again", () => {
  const patched = patchLayer(
    { limits: { maxIterations: 3 }, model: "a" },
    { limits: { maxIterations: 9 } },
  );
  expect(patched).toEqual({ limits: { maxIterations: 9 }, model: "a" });
});

it.each([
  ["shell_*", "shell_exec", true],
  ["*", "x", true],
  ["*_user", "message_ask_user", true],
  ["a*b*c", "aXbYc", true],
  ["a*b*c", "acb", false],
  ["ab*ba", "aba", false],
  ["shell", "shell_exec", false],
])("the glob %s and the name %s: %s", (glob, name, want) => {
  expect(globMatches(glob, name)).toBe(want);
});

describe("input", () => {
  it("unknown fields are dropped, wrong types are refused with their place", () => {
    expect(SettingsLayer.parse({ model: "m", nonsense: 1 })).toEqual({ model: "m" });
    const wrong = SettingsLayer.safeParse({ limits: { maxIterations: "many" } });
    expect(wrong.error?.issues[0]?.path).toEqual(["limits", "maxIterations"]);
  });
});

it("S4: a change of a server's address in the same layer takes its headers away as well", () => {
  const headers = { authorization: "secret" };
  const base = { mcp: { servers: { a: { url: "https://a.example/", headers } } } };
  const moved = patchLayer(base, { mcp: { servers: { a: { url: "https://b.example/" } } } });
  expect(moved.mcp?.servers?.a).toEqual({ url: "https://b.example/" });
  const same = patchLayer(base, {
    mcp: { servers: { a: { url: "https://a.example/", enabled: false } } },
  });
  expect(same.mcp?.servers?.a?.headers).toEqual(headers);
  expect(patchLayer({}, base)).toEqual(base);
});
