/** The log: G1 … G3 of src/worker/log.ts. Run with a real session, listened to at the console. */
import { describe, expect } from "vitest";
import { log } from "../../src/worker/log.ts";
import { api, Client, it, until, useVars } from "./support/client.ts";
import { plant, settle } from "./support/crash.ts";
import { listen } from "./support/log.ts";
import { askUser, complete, plan, text, write } from "./support/replies.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("a turn in the log", () => {
  it("is one JSON line for each thing worth knowing, with its ids", async () => {
    const heard = listen("info");
    const c = await Client.create([plan("a"), write(), complete()]);
    await c.say("Do it");
    await c.status("completed");
    await until(() => expect(heard.of("turn_ended")).toHaveLength(1));
    heard.stop();
    for (const line of heard.lines) {
      expect(line.time).toMatch(TIME);
      expect(["debug", "info", "warn", "error"]).toContain(line.level);
    }
    const mine = heard.lines.filter((l) => l.session === c.id && l.message !== "request");
    expect(mine.map((l) => [l.message, l.turn])).toEqual([
      ["turn_started", 1],
      ["model_call_ended", 1],
      ["model_call_ended", 1],
      ["tool_call_ended", 1],
      ["model_call_ended", 1],
      ["turn_ended", 1],
    ]);
    expect(heard.of("model_call_ended")[0]).toMatchObject({
      level: "info",
      role: "planner",
      provider: "custom",
      model: c.model.name,
      finish: "tool_calls",
      input_tokens: 10,
      output_tokens: 5,
      error: null,
      ms: expect.any(Number),
    });
    const [tool] = await c.of("tool");
    expect(heard.of("tool_call_ended")).toMatchObject([
      { tool: "file_write", call: tool?.tool_call_id, ok: true, ms: expect.any(Number) },
    ]);
    expect(heard.of("turn_ended")).toMatchObject([
      { outcome: "completed", model_calls: 3, tool_calls: 1, input_tokens: 30 },
    ]);
  });

  it("G1: holds nothing that people, models or tools said, no file's name, no owner", async () => {
    const tokens = { "a-long-token": "someone@example.com" };
    useVars({ AUTH_TOKENS: JSON.stringify(tokens) });
    const headers = { authorization: "Bearer a-long-token" };
    const heard = listen("debug");
    const script = [
      plan("step-words"),
      write("private-name.txt"),
      askUser("asked-words"),
      complete(),
    ];
    const c = await Client.create(script, { headers });
    await c.say("said-words");
    await c.status("waiting");
    await c.answer("answer-words");
    await c.status("completed");
    const file = await c.fetch("/files/private-name.txt");
    expect(file.status).toBe(200);
    const link = await c.post<{ share_id: string }>("/share", {}, 201);
    expect((await api(`/api/shared/${link.share_id}`)).status).toBe(200);
    await c.fetch("/files/%E7%A7%81.txt?token-like=secret-query");
    heard.stop();
    const whole = heard.texts.map(([, line]) => line).join("\n");
    const secrets = ["-words", "private-name", "example.com", "a-long-token", "secret-query"];
    for (const secret of [...secrets, link.share_id, "%E7", "/workspace"]) {
      expect(whole).not.toContain(secret);
    }
    expect(heard.of("wait_ended")).toMatchObject([{ kind: "question", answered: true }]);
  });

  it("that dies and is brought back says so", async () => {
    const heard = listen("warn");
    const c = await Client.create([plan("a"), write(), complete()]);
    const crash = await plant(c, 3, "die");
    await c.say("Do it");
    await settle(c, crash);
    heard.stop();
    expect(heard.of("woken")).toMatchObject([{ level: "warn", session: c.id, restarts: 1 }]);
  });

  it("that failed is a warning with the error's code, and so is each try", async () => {
    const heard = listen("warn");
    const refusal = { status: 401, body: { error: { message: "provider-words" } } };
    const c = await Client.create([refusal], { mode: "chat" });
    await c.say("q");
    await c.status("failed");
    heard.stop();
    expect(heard.of("model_call_ended")).toMatchObject([{ error: "provider_auth", finish: null }]);
    expect(heard.of("turn_ended")).toMatchObject([{ outcome: "failed", error: "provider_auth" }]);
    expect(JSON.stringify(heard.lines)).not.toContain("provider-words");
  });
});

describe("a request in the log", () => {
  it("is told by its route, its status and how long it took", async () => {
    const heard = listen("info");
    const c = await Client.create([text("ok")], { mode: "chat" });
    await c.fetch("/files/some/deep/path.txt");
    await api("/api/nothing/here?q=words");
    heard.stop();
    expect(heard.of("request")).toMatchObject([
      { method: "POST", route: "/api/sessions", status: 201 },
      { method: "GET", route: "/api/sessions/:id/files/*", status: 404, session: c.id },
      { method: "GET", status: 404 },
    ]);
    expect(heard.of("request")[0]?.ms).toEqual(expect.any(Number));
  });
});

describe("a look at the health", () => {
  it("is not told while it is well, unless everything is", async () => {
    const told = async (level: string) => {
      const heard = listen(level);
      await api("/api/health");
      heard.stop();
      return heard.of("request").map((l) => l.route);
    };
    expect(await told("info")).toEqual([]);
    expect(await told("debug")).toEqual(["/api/health"]);
  });
});

describe("the level", () => {
  const written = (level: string) => {
    const heard = listen(level);
    for (const each of ["debug", "info", "warn", "error"] as const) log(each, "thing");
    heard.stop();
    return heard.texts.map(([method]) => method);
  };
  it("is the least that is written, each line through the console's own method", async () => {
    expect(written("debug")).toEqual(["debug", "info", "warn", "error"]);
    expect(written("WARN")).toEqual(["warn", "error"]);
    expect(written("off")).toEqual([]);
  });
  it("is info where nothing is said, or nonsense", async () => {
    expect(written("")).toEqual(["info", "warn", "error"]);
    expect(written("loud")).toEqual(["info", "warn", "error"]);
  });
});

describe("an exception in the log", () => {
  const lineOf = (error: unknown) => {
    const heard = listen("error");
    log("error", "thing_failed", {}, error);
    heard.stop();
    return heard.lines[0]?.error;
  };
  it("G2: is its name, its code and its place; not its message, which may quote", async () => {
    const error = lineOf(new TypeError("cannot read private-words"));
    expect(error).toMatchObject({ name: "TypeError", at: expect.any(Array) });
    expect(JSON.stringify(error)).toContain("log.test");
    expect(JSON.stringify(error)).not.toContain("private-words");
    expect(lineOf(new Error("database is full: SQLITE_FULL"))).toMatchObject({
      code: "SQLITE_FULL",
    });
    expect(lineOf("private-words")).toEqual({ name: "string" });
  });
  it("G2: has its message where the deployment asks for it, or where the platform speaks of itself", async () => {
    const reset = new Error("Durable Object reset because its code was updated.");
    expect(lineOf(reset)).toMatchObject({ message: reset.message });
    useVars({ LOG_CONTENT: "true" });
    expect(lineOf(new Error("words"))).toMatchObject({ message: "words" });
  });
  it("G3: that cannot be written breaks nothing", async () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const heard = listen("error");
    log("error", "thing", circle as never);
    heard.stop();
    expect(heard.texts).toEqual([]);
  });
  it("of a request says where it came from, and the client hears nothing of it", async () => {
    const heard = listen("error");
    const getByName = () => {
      throw new RangeError("inner-words");
    };
    useVars({ DIRECTORY: { getByName } });
    const response = await api("/api/sessions");
    heard.stop();
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("inner-words");
    expect(heard.of("request_failed")).toMatchObject([{ error: { name: "RangeError" } }]);
    expect(JSON.stringify(heard.lines)).not.toContain("inner-words");
  });
});
