import { describe, expect, it } from "vitest";
import { SettingsLayer } from "../../src/core/settings.ts";
import { type Draft, numberOf, toDraft, toPatch } from "../../src/page/settings/draft.ts";

const change = (settings: SettingsLayer, part: Partial<Draft>) => {
  const before = toDraft(settings);
  return toPatch(before, { ...before, ...part });
};

describe("what a settings form sends", () => {
  it("S1: nothing that was not changed", () => {
    const settings: SettingsLayer = {
      model: "m",
      budget: { maxTokens: 5 },
      reviewer: { enabled: true },
      mcp: { servers: { a: { url: "https://a.example", headers: { key: "***" } } } },
    };
    expect(change(settings, {})).toEqual({});
    expect(change(settings, { model: "n", reviewer: false })).toEqual({
      model: "n",
      reviewer: { enabled: false },
    });
  });

  it("S1: a budget that was emptied is a budget without limit", () => {
    expect(change({ budget: { maxTokens: 5 } }, { maxTokens: "" })).toEqual({
      budget: { maxTokens: null },
    });
    expect(change({}, { maxCostUsd: "0.5", maxToolCalls: "2.5" })).toEqual({
      budget: { maxCostUsd: 0.5 },
    });
  });

  it("S2: a header that the server keeps is not sent; a new value is", () => {
    const settings: SettingsLayer = {
      mcp: { servers: { a: { url: "https://a.example", headers: { key: "***" } } } },
    };
    const [server] = toDraft(settings).servers;
    if (!server) throw new Error("no server");
    const moved = { ...server, url: "https://b.example" };
    expect(change(settings, { servers: [moved] }).mcp?.servers?.a).not.toHaveProperty("headers");
    const keyed = { ...server, headers: [["key", "new"]] as [string, string][] };
    expect(change(settings, { servers: [keyed] }).mcp?.servers?.a?.headers).toEqual({ key: "new" });
  });

  it("is always a layer that the server's schema takes", () => {
    const patch = change(
      {},
      {
        provider: "openai",
        locale: "zh",
        commands: "ask",
        reviewRounds: "3",
        onBusyMessage: "follow_up",
        servers: [
          {
            name: "x",
            url: "https://x.example/mcp",
            enabled: true,
            approval: "ask",
            headers: [["a", "b"]],
            saved: false,
          },
        ],
      },
    );
    expect(SettingsLayer.parse(patch)).toEqual(patch);
    expect(Object.keys(patch)).toHaveLength(6);
  });

  it("takes for a number only what is one above zero", () => {
    expect(numberOf("", true)).toBeNull();
    expect(numberOf("12", true)).toBe(12);
    for (const bad of ["-1", "0", "x", "1.5", "1e999"]) expect(numberOf(bad, true)).toBeUndefined();
    expect(numberOf("1.5", false)).toBe(1.5);
  });
});
