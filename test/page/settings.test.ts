import { describe, expect, it } from "vitest";
import type { SettingsLayer } from "../../src/core/settings.ts";
import { patchLayer } from "../../src/core/settings-merge.ts";
import { SettingsPatchBody, withoutCleared } from "../../src/core/settings-patch.ts";
import {
  type Draft,
  isUnfinished,
  numberOf,
  toDraft,
  toPatch,
} from "../../src/page/settings/draft.ts";

const change = (settings: SettingsLayer, part: Partial<Draft>) => {
  const before = toDraft(settings);
  return toPatch(before, { ...before, ...part });
};

const OWN: SettingsLayer = {
  model: "m",
  budget: { maxTokens: 5 },
  reviewer: { enabled: true, maxRetries: 1 },
  mcp: { servers: { a: { url: "https://a.example", headers: { key: "***", more: "***" } } } },
};
const [server] = toDraft(OWN).servers;

describe("what a settings form sends", () => {
  it("S1: holds what is stated, and nothing that is inherited", () => {
    const { servers, prices, ...rest } = toDraft({});
    expect([servers, prices]).toEqual([[], []]);
    expect(new Set(Object.values(rest))).toEqual(new Set([""]));
    expect(toDraft({ harness: { enabled: false } }).harness).toBe("off");
  });

  it("S2: nothing that was not changed", () => {
    expect(change(OWN, {})).toEqual({});
    expect(change(OWN, { model: "n", reviewer: "off" })).toEqual({
      model: "n",
      reviewer: { enabled: false },
    });
  });

  it("S2: what was emptied is taken back", () => {
    const part = { model: "", maxTokens: "", reviewer: "", reviewRounds: " " } as const;
    const patch = change(OWN, part);
    expect(patch).toEqual({
      model: null,
      budget: { maxTokens: null },
      reviewer: { enabled: null, maxRetries: null },
    });
    const { stated, cleared } = SettingsPatchBody.parse(patch);
    expect(stated).toEqual({});
    expect(withoutCleared(OWN, cleared)).toEqual({ mcp: OWN.mcp });
  });

  it("S2: a server that was removed is taken back, and so is a header", () => {
    if (!server) throw new Error("no server");
    expect(change(OWN, { servers: [] })).toEqual({ mcp: { servers: { a: null } } });
    const left = { ...server, headers: server.headers.slice(1) };
    expect(change(OWN, { servers: [left] }).mcp?.servers?.a?.headers).toEqual({ key: null });
  });

  it("S3: a header that the server keeps is not sent; a new value is", () => {
    if (!server) throw new Error("no server");
    const moved = { ...server, url: "https://b.example" };
    expect(change(OWN, { servers: [moved] }).mcp?.servers?.a).not.toHaveProperty("headers");
    const keyed = { ...server, headers: [["key", "new"], ...server.headers.slice(1)] };
    const sent = change(OWN, { servers: [keyed as typeof server] }).mcp?.servers?.a?.headers;
    expect(sent).toEqual({ key: "new" });
  });

  it("S4: a price is sent when it has both its ends, is changed, and is taken back", () => {
    const priced: SettingsLayer = { prices: { a: { input: 1, cached: 0.5, output: 2 } } };
    const [row] = toDraft(priced).prices;
    if (!row) throw new Error("no price");
    expect(change(priced, {})).toEqual({});
    const emptied = { ...row, input: "", cached: "", output: "" };
    expect(change(priced, { prices: [emptied] })).toEqual({ prices: { a: null } });
    expect(change(priced, { prices: [] })).toEqual({ prices: { a: null } });
    const dearer = { ...row, output: "3", cached: "" };
    const patch = change(priced, { prices: [dearer] });
    expect(patch).toEqual({ prices: { a: { input: 1, cached: null, output: 3 } } });
    const { stated, cleared } = SettingsPatchBody.parse(patch);
    expect(withoutCleared(patchLayer(priced, stated), cleared)).toEqual({
      prices: { a: { input: 1, output: 3 } },
    });
    const fresh = { ...row, model: " b ", saved: false };
    expect(change({}, { prices: [{ ...fresh, input: "0" }] })).toEqual({
      prices: { b: { input: 0, cached: 0.5, output: 2 } },
    });
    for (const part of [{ input: "" }, { output: "x" }, { cached: "-1" }, { model: "" }])
      expect(change({}, { prices: [{ ...fresh, ...part }] })).toEqual({});
    const draft = (prices: Draft["prices"]) => ({ ...toDraft({}), prices });
    for (const part of [{ input: "" }, { output: "x" }, { cached: "-1" }, { model: "" }])
      expect(isUnfinished(draft([{ ...fresh, ...part }]))).toBe(true);
    const nothing = { input: "", cached: "", output: "" };
    for (const part of [{}, { ...nothing, model: "" }, { ...nothing, saved: true }])
      expect(isUnfinished(draft([{ ...fresh, ...part }]))).toBe(false);
  });

  it("is always a change that the server's schema takes", () => {
    const patch = change(
      {},
      {
        provider: "openai",
        locale: "zh",
        commands: "ask",
        reviewRounds: "0",
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
    expect(SettingsPatchBody.parse(patch)).toEqual({ stated: patch, cleared: {} });
    expect(Object.keys(patch)).toHaveLength(6);
  });

  it("takes for a number only what is one, and leaves out what is none", () => {
    expect(numberOf("", true)).toBeNull();
    expect(numberOf("12", true)).toBe(12);
    for (const bad of ["-1", "0", "x", "1.5", "1e999"]) expect(numberOf(bad, true)).toBeUndefined();
    expect(numberOf("1.5", false)).toBe(1.5);
    expect(numberOf("0", true, 0)).toBe(0);
    expect(change({}, { maxCostUsd: "0.5", maxToolCalls: "2.5" })).toEqual({
      budget: { maxCostUsd: 0.5 },
    });
  });
});
