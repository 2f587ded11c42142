/**
 * `/api/health`: for anyone, that it is up; with `?deep=1`, for an owner, what works and what to do about the rest.
 *
 * H1  Whoever is no owner gets what anyone gets, whatever they ask for.
 * H2  It costs no model call: `reach=1` asks the provider for its list of models, for a few seconds at the most.
 * H3  It holds no secret: of a variable it says whether it can be used, and of an address only the host.
 */
import type { Context } from "hono";
import { reach, readiness } from "../adapters/model/readiness.ts";
import { otlpSetup } from "../adapters/otlp/setup.ts";
import { searchSetup } from "../adapters/search/index.ts";
import { mergeSettings } from "../core/settings-merge.ts";
import type { HealthCheck } from "../core/wire.ts";
import { admit } from "./admit.ts";
import { type App, isOpenHouse } from "./auth.ts";
import { outerLayers, profiles, sandboxOf, VERSION } from "./config.ts";
import { directoryStub } from "./directory.ts";
import type { Bindings } from "./env.ts";
import { levelOf, log } from "./log.ts";
import { HttpProblem } from "./problem.ts";
import { hostOf } from "./served.ts";

type Finding = Omit<HealthCheck, "name">;
const good = (detail: string): Finding => ({ ok: true, detail });
const bad = (detail: string, fix: string): Finding => ({ ok: false, detail, fix });

/** How far the clocks of two machines may be apart. */
const CLOCK_MS = 5_000;

export async function health(c: Context<App>): Promise<Response> {
  const owner = c.req.query("deep") === "1" ? await ownerOf(c) : null;
  if (owner === null) return c.json({ ok: true, version: VERSION });
  const wanted = checksFor(c, owner);
  const checks = await Promise.all(
    Object.entries(wanted).map(async ([name, look]) => ({ name, ...(await found(name, look)) })),
  );
  const ok = checks.every((check) => check.ok);
  return c.json({ ok, version: VERSION, checks }, ok ? 200 : 503);
}

async function ownerOf(c: Context<App>): Promise<string | null> {
  try {
    return await admit(c);
  } catch (error) {
    if (error instanceof HttpProblem) return null;
    throw error;
  }
}

/** A check that fails itself is a finding too. */
async function found(name: string, look: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof HttpProblem) return bad("It cannot be used.", error.problem.message);
    log("error", "health_check_failed", { check: name }, error);
    return bad("The check itself failed.", "Look for health_check_failed in the log.");
  }
}

type Checks = Record<string, () => Finding | Promise<Finding>>;

function checksFor(c: Context<App>, owner: string): Checks {
  const { env } = c;
  const host = hostOf(c);
  const own = () => directoryStub(env, owner).settings();
  return {
    access: () => good(isOpenHouse(c) ? "Open, on loopback alone." : "Owners sign in."),
    bindings: () => bindings(env),
    storage: () => storage(env, owner),
    clock: () => clock(env, owner),
    settings: () => settings(env),
    provider: async () => provider(env, await own(), c.req.query("reach") === "1"),
    sandbox: () => sandbox(env, host),
    search: () => search(env),
    browser: () => good(env.BROWSER ? "Bound: browser tools are offered." : "Not bound."),
    mcp: async () => mcp(env, await own()),
    log: () => logLevel(env),
    traces: () => traces(env),
    counters: () =>
      good(env.ANALYTICS ? "A dataset is bound." : "No dataset is bound: nothing is counted."),
  };
}

const NEEDED = ["SESSION", "DIRECTORY", "ASSETS"] as const;
const OPTIONAL = ["RATE_LIMIT", "Sandbox", "AI", "BROWSER", "ANALYTICS"] as const;

function bindings(env: Bindings): Finding {
  const bound = { ...env } as Record<string, unknown>;
  const missing = NEEDED.filter((name) => bound[name] === undefined);
  if (missing.length > 0) {
    return bad(
      `Missing: ${missing.join(", ")}.`,
      "Compare wrangler.toml with the one of this version, and deploy again.",
    );
  }
  const there = OPTIONAL.filter((name) => bound[name] !== undefined);
  return good(`Optional ones that are bound: ${there.join(", ") || "none"}.`);
}

async function storage(env: Bindings, owner: string): Promise<Finding> {
  const text = crypto.randomUUID();
  const { read } = await directoryStub(env, owner).probe(text);
  return read === text
    ? good("A row was written, read and deleted.")
    : bad("What was read is not what was written.", "Ask Cloudflare's status page and support.");
}

/** An object lives on another machine: its clock is as good a witness as there is. */
async function clock(env: Bindings, owner: string): Promise<Finding> {
  const before = Date.now();
  const { now } = await directoryStub(env, owner).probe("");
  const apart = Math.max(before - now, now - Date.now(), 0);
  return apart <= CLOCK_MS
    ? good(`Worker and storage agree; it is ${new Date(now).toISOString()}.`)
    : bad(
        `Worker and storage are ${apart} ms apart.`,
        "Waits and retries will be off by that much.",
      );
}

function settings(env: Bindings): Finding {
  outerLayers(env, {}, undefined);
  return good(`SETTINGS can be read; PROFILES name ${Object.keys(profiles(env)).length}.`);
}

type Own = Parameters<typeof outerLayers>[1];

async function provider(env: Bindings, own: Own, reaches: boolean): Promise<Finding> {
  const { provider: id, model } = mergeSettings(outerLayers(env, own, undefined));
  const ready = readiness({ ...env }, id, model);
  if (!ready.ok) return bad(ready.detail, ready.fix);
  if (!reaches) return good(ready.detail);
  const reached = await reach({ ...env }, id);
  return reached.ok ? good(`${ready.detail} ${reached.detail}`) : bad(reached.detail, reached.fix);
}

function sandbox(env: Bindings, host: string): Finding {
  const kind = sandboxOf(env, host);
  return kind === "container" && !env.Sandbox
    ? bad(
        "A container is wanted, and none is bound.",
        "Deploy with containers, or set SANDBOX to embedded.",
      )
    : good(`Commands run in the ${kind} sandbox.`);
}

function search(env: Bindings): Finding {
  const setup = searchSetup(env);
  if (setup.type === "wrong") return bad("It is not offered.", setup.why);
  return good(setup.type === "on" ? "Configured; not asked." : "Not configured: not offered.");
}

function mcp(env: Bindings, own: Own): Finding {
  const { servers } = mergeSettings(outerLayers(env, own, undefined)).mcp;
  const on = Object.values(servers).filter((server) => server.enabled !== false);
  return good(
    `Servers in your settings that are on: ${on.length}. A turn asks them when it begins.`,
  );
}

function logLevel({ LOG_LEVEL }: Bindings): Finding {
  const level = levelOf(LOG_LEVEL);
  return level === null
    ? bad("LOG_LEVEL is no level, so info counts.", "Set it to debug, info, warn, error or off.")
    : good(`The level is ${level}.`);
}

function traces(env: Bindings): Finding {
  const setup = otlpSetup(env, VERSION);
  if (setup.type === "wrong") return bad("Nothing is sent.", setup.why);
  if (setup.type === "off") return good("OTEL_EXPORTER_OTLP_ENDPOINT is not set: nothing is sent.");
  return good(`Sent to ${new URL(setup.to.url).host}; what is lost is logged as spans_dropped.`);
}
