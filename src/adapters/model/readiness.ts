/** Whether the model that would be asked is configured, and whether its endpoint can be reached: for a health check. */
import { LIMITS } from "../../core/limits.ts";
import { type ModelEnv, missingIn, providers, resolve } from "./providers.ts";

export type Ready = { ok: true; detail: string } | { ok: false; detail: string; fix: string };

const bad = (detail: string, fix: string): Ready => ({ ok: false, detail, fix });

/** Asks nobody. */
export function readiness(env: ModelEnv, provider: string, model: string): Ready {
  const target = resolve(env, provider, model);
  const missing = missingIn(env, target.provider, target.model);
  if (missing !== null) return bad("The default model cannot be asked.", missing);
  return target.provider === "practice"
    ? { ok: true, detail: "The practice model answers, which is no AI." }
    : { ok: true, detail: `${target.provider}, model ${target.model}.` };
}

/** The list of models costs nothing, and every OpenAI-compatible endpoint that has none says 404. Never rejects. */
export async function reach(env: ModelEnv, id: string): Promise<Ready> {
  const provider = providers(env).find((p) => p.id === resolve(env, id, "").provider);
  if (!provider || provider.baseURL === "" || provider.fetch) {
    return { ok: true, detail: "It is asked over no network." };
  }
  const { host } = new URL(provider.baseURL);
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), LIMITS.reachMs);
  try {
    const response = await fetch(`${provider.baseURL.replace(/\/+$/, "")}/models`, {
      headers: {
        "user-agent": "Dormouse",
        ...(provider.apiKey === "" ? {} : { authorization: `Bearer ${provider.apiKey}` }),
      },
      redirect: "manual",
      signal: abort.signal,
    });
    await response.body?.cancel();
    return told(host, response.status);
  } catch {
    const why = abort.signal.aborted
      ? `did not answer within ${LIMITS.reachMs} ms`
      : "cannot be reached";
    return bad(`${host} ${why}.`, "Check the address, and whether the provider is up.");
  } finally {
    clearTimeout(timer);
  }
}

function told(host: string, status: number): Ready {
  if (status === 401 || status === 403)
    return bad(`${host} refused the key (${status}).`, "Correct the provider's key.");
  if (status >= 500) return bad(`${host} has a fault of its own (${status}).`, "Try again later.");
  if (status >= 300 && status < 400)
    return bad(`${host} sends elsewhere (${status}).`, "Correct the provider's address.");
  return { ok: true, detail: `${host} answered (${status}).` };
}
