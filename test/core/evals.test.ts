/** The evaluations as tests: each scenario passes, and the command's exit codes mean what they say. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sharedPrefix } from "../evals/prefix.ts";
import { play, runEvals } from "../evals/run.ts";
import type { Scenario } from "../evals/scenario.ts";
import { SCENARIOS } from "../evals/scenarios.ts";
import { plan } from "../fakes.ts";

const quiet = () => {};
const named = (name: string) => SCENARIOS.find((s) => s.name === name) as Scenario;

describe("evals", () => {
  it.each(SCENARIOS.map((s) => [s.name, s] as const))("%s passes", async (_, scenario) => {
    expect((await play(scenario)).check_failures).toEqual([]);
  });

  it("have names that are used once", () => {
    expect(new Set(SCENARIOS.map((s) => s.name)).size).toBe(SCENARIOS.length);
  });

  it("end with 0 and write the scores as JSON", async () => {
    const folder = await mkdtemp(join(tmpdir(), "evals-"));
    const file = join(folder, "scores.json");
    const argv = ["--json", file, "--scenario", "two_steps", "--scenario", "chat_with_tool"];
    expect(await runEvals(argv, SCENARIOS, quiet)).toBe(0);
    const { scenarios } = JSON.parse(await readFile(file, "utf8"));
    expect(scenarios).toMatchObject([
      { name: "two_steps", passed: true, model_calls: 6, remaining_replies: 0 },
      { name: "chat_with_tool", passed: true, model_calls: 2, remaining_replies: 0 },
    ]);
    await rm(folder, { recursive: true });
  });

  it("end with 1 when an expectation is not met, and say which", async () => {
    const planted = { ...named("two_steps"), expect: { model_calls: 7 } };
    const shown: string[] = [];
    expect(await runEvals([], [planted], (line) => shown.push(line))).toBe(1);
    expect(shown).toContain("two_steps: model_calls: expected 7, was 6");
  });

  it("end with 1 when a part of the script was not used", async () => {
    const { options, ...rest } = named("empty_plan_direct_answer");
    const script = [...(options.script as []), plan("never asked for")];
    const planted = { ...rest, options: { ...options, script } };
    expect(await runEvals([], [planted], quiet)).toBe(1);
  });

  it("end with 1 when a scenario throws", async () => {
    const planted = { ...named("two_steps"), play: () => Promise.reject(new Error("planted")) };
    expect(await runEvals([], [planted], quiet)).toBe(1);
  });

  it("end with 2 when no scenario matches, or an option is unknown", async () => {
    expect(await runEvals(["--scenario", "nope"], SCENARIOS, quiet)).toBe(2);
    expect(
      await runEvals(["--scenario", "two_steps", "--scenario", "nope"], SCENARIOS, quiet),
    ).toBe(2);
    expect(await runEvals(["--nope"], SCENARIOS, quiet)).toBe(2);
  });
});

describe("prefix stability", () => {
  it("is the share of the earlier text's bytes with which the later one begins", () => {
    expect(sharedPrefix("abcd", "abcdef")).toBe(1);
    expect(sharedPrefix("abcd", "abXdef")).toBe(0.5);
    expect(sharedPrefix("é", "èx")).toBe(0.5);
    expect(sharedPrefix("", "a")).toBe(1);
  });
});
