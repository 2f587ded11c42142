import { describe, expect, it } from "vitest";
import { profileFor } from "../../src/adapters/model/providers.ts";
import {
  choiceFor,
  downgrade,
  fieldsOf,
  type Hint,
  PRESETS,
  Profile,
  profileOf,
  shapeMessage,
  toolFieldsOf,
} from "../../src/core/profile.ts";

const HINTS: Hint[] = [
  "tool_choice_named",
  "tool_choice",
  "tool_choice_auto",
  "parallel_tool_calls",
  "reasoning_missing",
  "reasoning_unknown",
  "stream_options",
  "null_content",
  "max_tokens_field",
  "schema",
  "strict",
];
const { openai, custom, deepseek, mistral } = PRESETS;

describe("presets", () => {
  it("X1: are plain JSON and pass their own schema", () => {
    for (const preset of Object.values(PRESETS)) {
      expect(Profile.parse(JSON.parse(JSON.stringify(preset)))).toEqual(preset);
    }
  });

  it.each([
    ["openai", "gpt-5", "", openai],
    ["nonsense", "m", "", custom],
    ["custom", "m", "example.com", custom],
    ["custom", "m", "API.DeepSeek.com", deepseek],
    ["custom", "m", "localhost:11434", PRESETS.ollama],
    ["custom", "m", "vllm.internal:8000", PRESETS.vllm],
    ["custom", "m", "api.groq.com", PRESETS.groq],
    ["custom", "m", "api.mistral.ai", mistral],
    ["custom", "m", "notmistral.ai", custom],
    ["custom", "m", "joe.openai.azure.com", openai],
    ["custom", "@cf/qwen/qwq", "proxy.example", PRESETS["workers-ai"]],
    [
      "custom",
      "DeepSeek-V4",
      "h",
      { ...custom, toolChoice: "auto", reasoning: "reasoning_content" },
    ],
    ["custom", "org/Ministral-8B", "h", { ...custom, callIds: "nine" }],
    ["custom", "google/gemini-3", "h", { ...custom, dialect: "gemini" }],
  ])("%s %s at %s", (provider, model, host, expected) => {
    expect(profileOf(provider, model, host)).toEqual(expected);
  });

  it("V4: are overlaid by the deployment's variable", () => {
    const env = {
      CUSTOM_BASE_URL: "https://api.groq.com/openai/v1",
      CUSTOM_MODEL_PROFILE: '{"toolChoice":"auto","extraBody":{"seed":1}}',
    };
    expect(profileFor(env, "custom", "m")).toEqual({
      ...PRESETS.groq,
      toolChoice: "auto",
      extraBody: { seed: 1 },
    });
    const named = { ...env, CUSTOM_MODEL_PROFILE: '{"preset":"deepseek","maxTokens":5}' };
    expect(profileFor(named, "custom", "m")).toEqual({ ...deepseek, maxTokens: 5 });
  });
});

describe("a downgrade", () => {
  it("A15: gives up the named function before any forced choice, and that before auto", () => {
    const one = downgrade(openai, "tool_choice_named");
    expect(one?.toolChoice).toBe("required");
    const two = one && downgrade(one, "tool_choice");
    expect(two?.toolChoice).toBe("auto");
    const three = two && downgrade(two, "tool_choice_auto");
    expect(three?.toolChoice).toBe("none");
    expect(three && downgrade(three, "tool_choice_auto")).toBeNull();
    expect(downgrade(openai, "tool_choice")?.toolChoice).toBe("auto");
    expect(two && downgrade(two, "tool_choice_named")).toBeNull();
  });

  it("A16: sends reasoning where it is missed, and leaves it out where it is unknown", () => {
    expect(downgrade(openai, "reasoning_missing")?.reasoning).toBe("reasoning_content");
    expect(downgrade(deepseek, "reasoning_missing")).toBeNull();
    expect(downgrade(deepseek, "reasoning_unknown")?.reasoning).toBe("none");
    expect(downgrade(openai, "reasoning_unknown")).toBeNull();
  });

  it("gives up one thing and keeps everything else", () => {
    const full: Profile = { ...openai, parallelToolCalls: "send-true", strict: true, maxTokens: 9 };
    expect(downgrade(full, "stream_options")).toEqual({ ...full, streamUsage: false });
    expect(downgrade(full, "parallel_tool_calls")).toEqual({ ...full, parallelToolCalls: "omit" });
    expect(downgrade(full, "null_content")).toEqual({ ...full, emptyContent: "empty" });
    expect(downgrade(custom, "null_content")?.emptyContent).toBe("omit");
    expect(downgrade(full, "max_tokens_field")?.maxTokensField).toBeNull();
    expect(downgrade({ ...custom, maxTokens: 9 }, "max_tokens_field")?.maxTokensField).toBe(
      "max_completion_tokens",
    );
    expect(downgrade(openai, "max_tokens_field")).toBeNull();
    expect(downgrade(full, "strict")).toEqual({ ...full, strict: false });
    expect(downgrade(full, "schema")).toEqual({ ...full, strict: false });
    expect(downgrade(openai, "schema")?.dialect).toBe("plain");
  });

  it("X3: ends for every hint, whatever the profile", () => {
    for (const preset of Object.values(PRESETS)) {
      for (const hint of HINTS) {
        let left: Profile | null = preset;
        for (let n = 0; left !== null; n++) {
          expect(n).toBeLessThan(5);
          left = downgrade(left, hint);
          if (left) expect(Profile.parse(left)).toEqual(left);
        }
      }
    }
  });
});

describe("what is sent", () => {
  it("is the choice that was wanted, or the strongest below it", () => {
    const named = { type: "function", function: { name: "create_plan" } };
    const level = (toolChoice: Profile["toolChoice"]) => {
      const p: Profile = { ...openai, toolChoice };
      return [
        choiceFor(p, { name: "create_plan" }),
        choiceFor(p, "required"),
        choiceFor(p, "auto"),
      ];
    };
    expect(level("named")).toEqual([named, "required", "auto"]);
    expect(level("required")).toEqual(["required", "required", "auto"]);
    expect(level("auto")).toEqual(["auto", "auto", "auto"]);
    expect(level("none")).toEqual([null, null, null]);
  });

  it("is what the profile's fields say, and nothing of the harness's own can be overridden", () => {
    expect(fieldsOf(openai)).toEqual({ stream: true, stream_options: { include_usage: true } });
    const p: Profile = {
      ...mistral,
      maxTokens: 7,
      parallelToolCalls: "send-true",
      extraBody: { stream: false, messages: [], tools: [], top_k: 1 },
    };
    expect(fieldsOf(p)).toEqual({ stream: true, max_tokens: 7, top_k: 1 });
    expect(toolFieldsOf(p, "auto")).toEqual({ tool_choice: "auto", parallel_tool_calls: true });
    expect(toolFieldsOf({ ...openai, toolChoice: "none" }, "required")).toEqual({});
  });
});

describe("X4: a kept message", () => {
  const trap = '{"reasoning_content":"x"},"reasoning_content":"y","id":"c1n9","content":null';
  const call = (id: string) => ({
    id,
    type: "function",
    function: { name: "f", arguments: JSON.stringify({ trap }) },
  });
  const kept = (content: string | null, thought?: string) =>
    JSON.stringify({
      role: "assistant",
      content,
      tool_calls: [call("c1n2"), call("c1n20")],
      ...(thought === undefined ? {} : { reasoning_content: thought }),
    });
  const shaped = (json: string, p: Partial<Profile>) =>
    JSON.parse(shapeMessage(json, { ...openai, ...p })) as Record<string, unknown>;

  it("has its reasoning in the field that is asked for, empty where there was none, or not at all", () => {
    const json = kept(trap, trap);
    expect(shaped(json, {})).toEqual(JSON.parse(kept(trap)));
    expect(shaped(json, { reasoning: "reasoning_content" })).toEqual(JSON.parse(json));
    expect(shaped(json, { reasoning: "reasoning" }).reasoning).toBe(trap);
    const plain = JSON.stringify({ role: "assistant", content: "hi" });
    expect(shaped(plain, { reasoning: "reasoning_content" }).reasoning_content).toBe("");
    expect(shapeMessage(plain, openai)).toBe(plain);
  });

  it("has null, nothing or no content beside its calls", () => {
    const json = kept(null, "t");
    expect(shaped(json, {})).toHaveProperty("content", null);
    expect(shaped(json, { emptyContent: "empty" })).toHaveProperty("content", "");
    expect(shaped(json, { emptyContent: "omit" })).not.toHaveProperty("content");
    expect(shaped(kept("said"), { emptyContent: "omit" })).toHaveProperty("content", "said");
  });

  it("has call ids of nine characters where they must be, the same on both sides, none twice", () => {
    const reply = shapeMessage(kept(trap, trap), mistral);
    const calls = (
      JSON.parse(reply) as { tool_calls: { id: string; function: { arguments: string } }[] }
    ).tool_calls;
    expect(calls.map((c) => c.id)).toEqual(["00000c1n2", "0000c1n20"]);
    expect(JSON.parse(calls[0]?.function.arguments ?? "")).toEqual({ trap });
    const result = JSON.stringify({ role: "tool", tool_call_id: "c1n2", content: trap });
    expect(JSON.parse(shapeMessage(result, mistral))).toEqual({
      role: "tool",
      tool_call_id: "00000c1n2",
      content: trap,
    });
  });

  it("of another role stays as it is", () => {
    const said = JSON.stringify({ role: "user", content: trap });
    for (const p of Object.values(PRESETS)) expect(shapeMessage(said, p)).toBe(said);
  });
});
