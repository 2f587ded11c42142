/** The probe against servers with quirks: what it finds is a profile that they never refuse. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, probe } from "../../scripts/probe.ts";
import type { Profile } from "../../src/core/profile.ts";
import { type ChatRequest, type MockModel, startMockModel } from "../support/mock-model.ts";

let mock: MockModel | undefined;
afterEach(() => mock?.close());

const refusal = (message: string) => ({ status: 400, body: { error: { message } } });

/** A server that refuses what `quirk` names, and answers everything else. */
async function server(quirk: (body: ChatRequest) => string | false | undefined): Promise<string> {
  mock = await startMockModel({
    script: ({ body }) => {
      const why = quirk(body);
      return why ? refusal(why) : { text: "hello" };
    },
  });
  return mock.url;
}
async function probed(
  url: string,
  model = "m",
): Promise<{ profile: Profile | null; answers: Answer[] }> {
  const answers: Answer[] = [];
  const target = { baseURL: url, model, apiKey: "", timeoutMs: 5_000 };
  return { profile: await probe(target, (a) => answers.push(a)), answers };
}
const replies = (body: ChatRequest) => body.messages.filter((m) => m.role === "assistant");

describe("a server that", () => {
  it("takes everything has the full profile, and is asked little", async () => {
    const { profile } = await probed(await server(() => false));
    expect(profile).toMatchObject({
      toolChoice: "named",
      parallelToolCalls: "send-true",
      emptyContent: "null",
      reasoning: "none",
      streamUsage: true,
      maxTokensField: "max_tokens",
      maxTokens: null,
      dialect: "openai",
      systemMidway: true,
      callIds: "own",
    });
    expect(mock?.requests.length).toBe(11);
    expect(mock?.violations).toEqual([]);
  });

  it.each<[string, (body: ChatRequest) => string | false | undefined, Partial<Profile>]>([
    [
      "refuses a named function",
      (b) => typeof b.tool_choice === "object" && "no tool_choice",
      { toolChoice: "required" },
    ],
    [
      "refuses any forced choice",
      (b) => b.tool_choice !== undefined && b.tool_choice !== "auto" && "no tool_choice",
      { toolChoice: "auto" },
    ],
    [
      "refuses parallel_tool_calls",
      (b) => "parallel_tool_calls" in b && "unknown field",
      { parallelToolCalls: "omit" },
    ],
    [
      "refuses stream_options",
      (b) => "stream_options" in b && "unknown field",
      { streamUsage: false },
    ],
    [
      "refuses max_tokens",
      (b) => "max_tokens" in b && "use max_completion_tokens",
      { maxTokensField: "max_completion_tokens" },
    ],
    [
      "refuses null as content",
      (b) => replies(b).some((m) => m.content === null) && "null content",
      { emptyContent: "empty" },
    ],
    [
      "wants no content beside calls",
      (b) => replies(b).some((m) => !m.content && "content" in m) && "empty",
      { emptyContent: "omit" },
    ],
    [
      "wants its reasoning back",
      (b) =>
        replies(b).some((m) => !("reasoning_content" in m)) &&
        "reasoning_content must be passed back",
      { reasoning: "reasoning_content" },
    ],
    [
      "refuses long schemas",
      (b) => JSON.stringify(b.tools ?? []).includes("anyOf") && "invalid schema",
      { dialect: "plain" },
    ],
    [
      "wants system messages first",
      (b) => b.messages.slice(1).some((m) => m.role === "system") && "system first",
      { systemMidway: false },
    ],
    [
      "wants call ids of nine characters",
      (b) =>
        b.messages.some((m) => m.tool_call_id !== undefined && m.tool_call_id.length !== 9) &&
        "length of 9",
      { callIds: "nine" },
    ],
  ])("%s", async (_, quirk, expected) => {
    const { profile } = await probed(await server(quirk));
    expect(profile).toMatchObject(expected);
    expect(mock?.violations).toEqual([]);
  });

  it("does not answer at all has none", async () => {
    const { profile, answers } = await probed(await server(() => "nothing goes"));
    expect(profile).toBeNull();
    expect(answers.map((a) => [a.tried, a.accepted])).toEqual([
      ["whole", false],
      ["stream", false],
    ]);
  });
});

describe("the command", () => {
  const script = fileURLToPath(new URL("../../scripts/probe.ts", import.meta.url));
  const run = (args: string[], env: Record<string, string> = {}) =>
    promisify(execFile)(process.execPath, ["--no-warnings", script, ...args], {
      env: { PATH: process.env.PATH, ...env },
    });

  it("prints the profile alone on standard output, and the key nowhere", async () => {
    const url = await server((b) => "stream_options" in b && "no sk-hidden-0815 stream_options");
    const args = ["--base-url", url, "--model", "m", "--key-env", "MY_KEY"];
    const { stdout, stderr } = await run(args, { MY_KEY: "sk-hidden-0815" });
    expect(JSON.parse(stdout)).toMatchObject({ streamUsage: false });
    expect(stderr).toContain("no   usage in the stream: true");
    expect(stdout + stderr).not.toContain("sk-hidden");
    expect(mock?.requests[0]?.headers.authorization).toBe("Bearer sk-hidden-0815");
  });

  it("says how it is used, and that a key is missing", async () => {
    await expect(run([])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("usage:"),
    });
    const args = ["--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--key-env", "NO_KEY"];
    await expect(run(args)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("NO_KEY"),
    });
  });
});
