/** What a model is sent: the system prompt's parts, prompts that name only tools that exist, settings that reach it. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TERMINALS } from "../../src/core/terminal.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { complete, Harness, KIT, plan, text, work } from "../fakes.ts";

const run = (settings = {}, kit = KIT) =>
  new Harness({ script: [plan("a"), work(), complete(true)], settings, kit }).run("Do");
const system = (h: Harness, n: number) => h.requests[n - 1]?.messages[0]?.content ?? "";

describe("AM-66: the system prompt", () => {
  it("is core, rules of each toolkit that is offered, role, project instructions, in this order", async () => {
    const h = await run({ instructions: "Use tabs." });
    const order = [
      "You are Dormouse",
      "<shell_rules>\nA test shell.\n</shell_rules>",
      "<file_rules>",
      "<message_rules>",
      "You are the executor",
      "<project_instructions>\nUse tabs.\n</project_instructions>",
    ].map((part) => system(h, 2).indexOf(part));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order[0]).toBe(0);
    expect(order).not.toContain(-1);
  });

  it("has no rules of a toolkit that is switched off, and its tools are not offered", async () => {
    const h = await run({ tools: { enabled: ["file_*", "message_*"] } });
    expect(system(h, 2)).not.toContain("shell_rules");
    expect(h.offered(2)).not.toContain("shell_exec");
    expect(system(h, 1)).not.toContain("shell_exec");
  });

  it("gives the planner an overview in place of rules and schemas", async () => {
    const h = await run();
    expect(system(h, 1)).toContain("<executor_capabilities>\n- shell: shell_exec");
    expect(system(h, 1)).not.toContain("_rules>");
  });

  it("has a role's own prompt when the settings bring one", async () => {
    const h = await run({ roles: { executor: { prompt: "Be a pirate." } } });
    expect(system(h, 2)).toContain("Be a pirate.");
    expect(system(h, 2)).not.toContain("You are the executor");
    expect(system(h, 1)).toContain("You are the planner");
  });
});

it("a denied tool is not offered", async () => {
  const h = await run({ tools: { approval: { "shell_*": "deny" } } });
  expect(h.offered(2)).not.toContain("shell_exec");
});

it("model and provider of a role reach its requests alone", async () => {
  const h = await run({ model: "big", roles: { executor: { model: "small" } } });
  const models = h.model.bodies.map((b) => (JSON.parse(b) as { model: string }).model);
  expect(models).toEqual(["big", "small", "small"]);
});

it("the body's keys stand in a fixed order, messages last", async () => {
  const h = await run();
  for (const body of h.model.bodies) {
    expect(Object.keys(JSON.parse(body))).toEqual([
      "model",
      "stream",
      "stream_options",
      "tools",
      "tool_choice",
      "messages",
    ]);
  }
});

it("a chat without any tool sends no tools", async () => {
  const h = new Harness({
    mode: "chat",
    script: [text("hi")],
    settings: { tools: { enabled: [] } },
  });
  await h.run("q");
  expect(h.requests[0]).not.toHaveProperty("tools");
  expect(h.requests[0]).not.toHaveProperty("tool_choice");
});

describe("AM-69: prompts", () => {
  const dir = new URL("../../prompts/", import.meta.url);
  const known = new Set([...TOOLS.map((t) => t.name), ...Object.keys(TERMINALS)]);
  const arguments_ = new Set([
    "start_line",
    "end_line",
    "executor_capabilities",
    "next_action",
    "retry_actor",
  ]);

  it("name only tools that exist", () => {
    const stale = readdirSync(dir).flatMap((name) => {
      const words = readFileSync(new URL(name, dir), "utf8").match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
      return words.filter((w) => !known.has(w) && !arguments_.has(w)).map((w) => `${name}: ${w}`);
    });
    expect(stale).toEqual([]);
  });

  it("tell the executor to verify before it completes, and the planner not to plan questions", () => {
    const read = (name: string) => readFileSync(new URL(`${name}.md`, dir), "utf8");
    expect(read("executor")).toMatch(/complete_step.*only after.*verified/s);
    expect(read("planner")).toMatch(/No steps about .*asking the user/);
  });
});
