/** Counters: the data points of Workers Analytics Engine, column by column. */
import { describe, expect } from "vitest";
import { api, Client, it, until, useVars } from "./support/client.ts";
import { listen } from "./support/log.ts";
import { complete, plan, text, write } from "./support/replies.ts";
import { scripted } from "./support/upstream.ts";

/** A dataset that takes what the platform's takes, and nothing else. */
class Dataset {
  readonly points: { index: string; blobs: string[]; doubles: number[] }[] = [];
  writeDataPoint({ indexes = [], blobs = [], doubles = [] }: AnalyticsEngineDataPoint): void {
    const bytes = new TextEncoder().encode(blobs.join("")).byteLength;
    const index = String(indexes[0] ?? "");
    if (indexes.length > 1 || new TextEncoder().encode(index).byteLength > 96)
      throw new Error("index");
    if (blobs.length > 20 || bytes > 16 * 1024) throw new Error("blobs");
    if (doubles.length > 20 || doubles.some((n) => !Number.isFinite(n))) throw new Error("doubles");
    this.points.push({ index, blobs: blobs.map(String), doubles });
  }
}
const bound = (): Dataset => {
  const dataset = new Dataset();
  useVars({ ANALYTICS: dataset });
  return dataset;
};

describe("counters", () => {
  it("are one point for each model call, tool call and turn, under the session's id", async () => {
    const dataset = bound();
    const c = await Client.create([plan("a"), write("private.txt"), complete()]);
    const prices = { [c.model.name]: { input: 1_000_000, output: 2_000_000 } };
    await c.fetch("", { method: "PATCH", json: { settings: { prices } } });
    await c.say("said-words");
    await c.status("completed");
    await until(() => expect(dataset.points.at(-1)?.blobs[0]).toBe("turn"));
    expect(new Set(dataset.points.map((p) => p.index))).toEqual(new Set([c.id]));
    const model = c.model.name;
    expect(dataset.points.map((p) => p.blobs)).toEqual([
      ["model_call", "agent", "ok", "planner", "custom", model, "tool_calls", "", "", ""],
      ["model_call", "agent", "ok", "executor", "custom", model, "tool_calls", "", "", ""],
      ["tool_call", "agent", "ok", "", "", "", "", "file_write", "file", ""],
      ["model_call", "agent", "ok", "executor", "custom", model, "tool_calls", "", "", ""],
      ["turn", "agent", "completed", "", "", "", "", "", "", ""],
    ]);
    const amounts = dataset.points.map((p) => p.doubles.slice(1));
    expect(amounts).toEqual([
      [10, 5, 0, 20, 1, 1, 0, 1],
      [10, 5, 0, 20, 1, 1, 0, 1],
      [0, 0, 0, 0, 0, 0, 1, 0],
      [10, 5, 0, 20, 1, 1, 0, 1],
      [30, 15, 0, 60, 1, 3, 1, 0],
    ]);
    for (const { doubles } of dataset.points) expect(doubles[0]).toBeGreaterThanOrEqual(0);
    expect(JSON.stringify(dataset.points)).not.toMatch(/said-words|private/);
  });

  it("say what failed, and that a cost is not known", async () => {
    const dataset = bound();
    const refusal = { status: 401, body: { error: { message: "provider-words" } } };
    const c = await Client.create([refusal], { mode: "chat" });
    await c.say("q");
    await c.status("failed");
    await until(() => expect(dataset.points).toHaveLength(2));
    const [call, turn] = dataset.points;
    expect([call?.blobs[2], call?.blobs[9], call?.doubles[5]]).toEqual([
      "provider_auth",
      "provider_auth",
      0,
    ]);
    expect([turn?.blobs[2], turn?.blobs[9]]).toEqual(["failed", "provider_auth"]);
  });

  it("count the proxy's calls too", async () => {
    const dataset = bound();
    const model = scripted([text("hi")]);
    const json = { model: model.name, messages: [{ role: "user", content: "q" }] };
    const { id } = await (await api("/v1/chat/completions", { json })).json<{ id: string }>();
    await until(() => expect(dataset.points).toHaveLength(1));
    expect(dataset.points[0]).toMatchObject({ index: id });
    expect(dataset.points[0]?.blobs.slice(0, 3)).toEqual(["model_call", "proxy", "ok"]);
  });

  it("that cannot be written disturb nothing", async () => {
    const writeDataPoint = () => {
      throw new Error("full");
    };
    useVars({ ANALYTICS: { writeDataPoint } });
    const heard = listen("error");
    const c = await Client.create([text("ok")], { mode: "chat" });
    await c.say("q");
    await c.status("completed");
    const model = scripted([text("hi")]);
    const json = { model: model.name, messages: [{ role: "user", content: "q" }] };
    expect((await api("/v1/chat/completions", { json })).status).toBe(200);
    heard.stop();
    const untold = heard.of("fact_not_told").map((l) => l.fact);
    expect(untold).toEqual(["model_call_ended", "turn_ended", "model_call_ended"]);
  });
});
