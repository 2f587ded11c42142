/** The OpenAI-compatible face (contract 6): a guarded completion for any client that speaks it. Stores nothing. */
import { type Context, Hono } from "hono";
import {
  createModelPort,
  defaultProvider,
  profileFor,
  providers,
  resolve,
} from "../../adapters/model/providers.ts";
import { traceHeader } from "../../adapters/otlp/ids.ts";
import type { Ask } from "../../core/complete.ts";
import { CompletionBody } from "../../core/completion-body.ts";
import { estimated, spend } from "../../core/ledger.ts";
import { harnessOf, mergeSettings } from "../../core/settings-merge.ts";
import type { JsonObject } from "../../core/tool.ts";
import { admit } from "../admit.ts";
import type { App } from "../auth.ts";
import { outerLayers } from "../config.ts";
import { directoryStub } from "../directory.ts";
import type { Bindings } from "../env.ts";
import { log } from "../log.ts";
import { observe } from "../observe.ts";
import { badRequest, errorOf, errorResponse, OpenAIProblem, openaiError } from "../openai-error.ts";
import { unwrap } from "../problem.ts";
import { type Job, jsonReply, streamReply } from "../proxy.ts";
import { watchedModel } from "../proxy-facts.ts";
import type { Form } from "../proxy-reply.ts";
import { quotasOf } from "../quotas.ts";
import { parseJson, readBytes } from "../validate.ts";

/** A client's whole history comes with every request, pictures included. */
const MAX_BODY = 25 * 1024 * 1024;

async function readBody(request: Request): Promise<CompletionBody> {
  const text = new TextDecoder().decode(await readBytes(request, MAX_BODY));
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw badRequest(null, "The body is not valid JSON.");
  }
  const parsed = CompletionBody.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  const param = path
    .map((key, i) => (typeof key === "number" ? `[${key}]` : `${i > 0 ? "." : ""}${String(key)}`))
    .join("");
  throw badRequest(param || null, `${param || "the body"}: ${issue?.message ?? "is wrong"}`);
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/** Letters and digits at random; close enough to even for names. */
const randomName = (length: number): string =>
  [...crypto.getRandomValues(new Uint8Array(length))].map((b) => LETTERS[b % 62]).join("");

function jobOf(env: Bindings, body: CompletionBody, signal: AbortSignal, spent: Job["spent"]): Job {
  const vars = { ...env };
  const { dormouse, ...own } = body;
  const override = dormouse?.harness ?? {};
  const layers = outerLayers(env, {}, undefined);
  const settings = mergeSettings([...layers, { roles: { assistant: { harness: override } } }]);
  const { provider, model } = resolve(vars, settings.provider, own.model || settings.model);
  const ask: Ask = {
    body: own as JsonObject,
    harness: harnessOf(settings, "assistant"),
    // A deployment's mode is about its chat sessions; here it is the client's choice alone.
    mode: override.mode ?? "workflow",
    target: { provider, model, profile: profileFor(vars, provider, model) },
    newId: () => randomName(9),
  };
  return {
    ask,
    model: createModelPort(vars),
    timeoutMs: settings.limits.modelTimeoutMs,
    signal,
    spent,
  };
}

/** Counted for the owner, once, when the reply is here; a reply is not held up for it. */
function account(c: Context<App>, model: string): Job["spent"] {
  return (reply, bodyChars) => {
    const usage = reply.usage ?? estimated(bodyChars, reply);
    const one = { model_calls: 1, ...usage, measured: reply.usage !== null };
    const told = directoryStub(c.env, c.var.owner)
      .spend(spend({}, Date.now(), reply.model || model || "unknown", one))
      .catch((error: unknown) => log("error", "usage_not_counted", {}, error));
    c.executionCtx.waitUntil(told);
  };
}

/** Whoever runs the deployment hears of each call to the model. */
function watched(c: Context<App>, job: Job, id: string): Job {
  const observer = observe(c.env, (work) => c.executionCtx.waitUntil(work));
  const trace = traceHeader(c.req.header("traceparent"));
  return { ...job, model: watchedModel(job.model, observer, id, trace) };
}

/** The practice model is one only where it answers. */
const models = (env: Bindings) => {
  const standIn = defaultProvider({ ...env }) === "practice";
  return providers({ ...env })
    .filter((p, i, all) => p.model !== "" && all.findIndex((q) => q.model === p.model) === i)
    .filter((p) => p.id !== "practice" || standIn)
    .map((p) => ({ id: p.model, object: "model", created: 0, owned_by: p.id }));
};

export const openaiRoutes = new Hono<App>();

openaiRoutes.onError((error) => errorResponse(errorOf(error)));

openaiRoutes.use("*", async (c, next) => {
  c.set("owner", await admit(c));
  await next();
});

/** A day whose tokens are used up asks nothing more of a model. */
async function roomFor(c: Context<App>): Promise<void> {
  const quotas = quotasOf(c.env);
  if (quotas.tokensPerDay === null) return;
  unwrap(await directoryStub(c.env, c.var.owner).admit(quotas, ["tokensPerDay"]));
}

openaiRoutes.post("/chat/completions", async (c) => {
  const body = await readBody(c.req.raw);
  await roomFor(c);
  const id = `chatcmpl-${randomName(24)}`;
  const job = watched(c, jobOf(c.env, body, c.req.raw.signal, account(c, body.model ?? "")), id);
  const form: Form = {
    id,
    created: Math.floor(Date.now() / 1000),
    model: job.ask.target.model,
    includeUsage: body.stream_options?.include_usage === true,
  };
  return body.stream ? streamReply(job, form) : jsonReply(job, form);
});

openaiRoutes.get("/models", (c) => c.json({ object: "list", data: models(c.env) }));
openaiRoutes.get("/models/:id{.+}", (c) => {
  const model = models(c.env).find((m) => m.id === c.req.param("id"));
  if (model) return c.json(model);
  throw new OpenAIProblem(
    openaiError(404, "model_not_found", "There is no such model. See GET /v1/models.", "model"),
  );
});

openaiRoutes.all("/chat/completions", () => {
  const error = openaiError(405, "method_not_allowed", "Send a POST request here.");
  return errorResponse({ ...error, headers: { allow: "POST" } });
});
openaiRoutes.all("*", () => {
  throw new OpenAIProblem(
    openaiError(404, "not_found", "There is nothing at this address. See docs/proxy.md."),
  );
});
