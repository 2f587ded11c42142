import { afterEach, describe, expect, it } from "vitest";
import {
  createModel,
  createModelPort,
  defaultProvider,
  providers,
  resolve,
} from "../../src/adapters/model/providers.ts";
import type { ModelOutcome } from "../../src/core/ports.ts";
import { type MockModel, startMockModel } from "../support/mock-model.ts";

const request = (provider: string, model = "m") => ({
  provider,
  model,
  body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "hi" }] }),
  timeoutMs: 5_000,
});
const call = (
  env: Record<string, unknown>,
  provider: string,
  model?: string,
): Promise<ModelOutcome> =>
  createModel(env)(request(provider, model), () => {}, new AbortController().signal);

let mock: MockModel | undefined;
afterEach(async () => {
  await mock?.close();
  mock = undefined;
});

describe("the providers of a deployment", () => {
  it("V2: without a key it is the practice model alone", () => {
    expect(providers({}).map((p) => p.id)).toEqual(["practice"]);
    expect(
      providers({ OPENAI_API_KEY: " ", OPENAI_BASE_URL: "http://x" }).map((p) => p.id),
    ).toEqual(["practice"]);
    expect(defaultProvider({})).toBe("practice");
    expect(resolve({}, "", "")).toEqual({ provider: "practice", model: "practice" });
  });

  it("are those with a key, custom the one with an address, and practice as the last", () => {
    const env = {
      OPENAI_API_KEY: "k1",
      OPENAI_MODEL_NAME: "gpt-x",
      ANTHROPIC_API_KEY: "k2",
      GEMINI_API_KEY: "k3",
      CUSTOM_BASE_URL: "http://127.0.0.1:8000/v1",
      CUSTOM_MODEL_NAME: "local",
    };
    const found = providers(env);
    expect(found.map((p) => p.id)).toEqual(["openai", "anthropic", "gemini", "custom", "practice"]);
    expect(found[0]).toEqual({
      id: "openai",
      baseURL: "https://api.openai.com/v1",
      apiKey: "k1",
      model: "gpt-x",
    });
    expect(found[1]?.baseURL).toBe("https://api.anthropic.com/v1/");
    expect(found[2]?.baseURL).toBe("https://generativelanguage.googleapis.com/v1beta/openai/");
    expect(found[3]).toEqual({
      id: "custom",
      baseURL: "http://127.0.0.1:8000/v1",
      apiKey: "",
      model: "local",
    });
    expect(defaultProvider(env)).toBe("openai");
    expect(resolve(env, "custom", "")).toEqual({ provider: "custom", model: "local" });
    expect(resolve({ ...env, PROVIDER: "anthropic" }, "", "any-model")).toEqual({
      provider: "anthropic",
      model: "any-model",
    });
  });
});

it("Workers AI is reached by account, and needs its key", () => {
  const env = { WORKERS_AI_ACCOUNT_ID: "abc", WORKERS_AI_API_KEY: "k" };
  expect(providers(env)[0]).toMatchObject({
    id: "workers-ai",
    baseURL: "https://api.cloudflare.com/client/v4/accounts/abc/ai/v1",
    apiKey: "k",
  });
  expect(providers({ WORKERS_AI_ACCOUNT_ID: "abc" }).map((p) => p.id)).toEqual(["practice"]);
});

describe("a call", () => {
  it("V1: to a provider that is not configured says what is missing, and goes to no other", async () => {
    const env = {
      OPENAI_API_KEY: "k",
      OPENAI_BASE_URL: "http://127.0.0.1:1/v1",
      PROVIDER: "gemini",
    };
    const outcome = await call(env, "");
    expect(outcome).toMatchObject({
      type: "failed",
      failure: { code: "no_provider", retryable: false },
    });
    expect(JSON.stringify(outcome)).toContain("GEMINI_API_KEY");
    expect(await call(env, "nonsense")).toMatchObject({ failure: { code: "no_provider" } });
    expect(await call(env, "workers-ai")).toMatchObject({ failure: { code: "no_provider" } });
  });

  it("without any model's name says which variable to set", async () => {
    const outcome = await call({ CUSTOM_BASE_URL: "http://127.0.0.1:1/v1" }, "custom", "");
    expect(outcome).toMatchObject({ failure: { code: "no_provider" } });
    expect(JSON.stringify(outcome)).toContain("CUSTOM_MODEL_NAME");
  });

  it("V4: with a profile that cannot be read says what is wrong with it", async () => {
    for (const [text, words] of [
      ["{", "not valid JSON"],
      ['{"toolChoice":"any"}', "wrong at toolChoice"],
    ] as const) {
      const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
      const outcome = await call({ ...env, OPENAI_MODEL_PROFILE: text }, "openai");
      expect(outcome).toMatchObject({ failure: { code: "no_provider" } });
      expect(JSON.stringify(outcome)).toContain(`OPENAI_MODEL_PROFILE is ${words}`);
    }
  });

  it("goes to the practice model by name, even when a key is configured", async () => {
    const outcome = await call({ OPENAI_API_KEY: "k" }, "practice");
    expect(outcome).toMatchObject({ type: "reply", reply: { model: "practice" } });
  });

  it("goes to the configured address with its key", async () => {
    mock = await startMockModel({ script: [{ text: "hello" }] });
    const env = { OPENAI_API_KEY: "sk-1", OPENAI_BASE_URL: mock.url };
    expect(await call(env, "")).toMatchObject({ type: "reply", reply: { text: "hello" } });
    expect(mock.requests[0]?.headers.authorization).toBe("Bearer sk-1");
  });

  it("through the port can be cancelled, twice, and then still settles", async () => {
    mock = await startMockModel({ script: [{ text: "never", delay_ms: 60_000 }] });
    const model = createModelPort({ CUSTOM_BASE_URL: mock.url });
    const flight = model.call(request("custom"), () => {});
    flight.cancel();
    flight.cancel();
    expect(await flight.outcome).toMatchObject({ type: "failed", failure: { retryable: false } });
  });
});
