/**
 * What the first run has asked, kept outside of any repository: `$XDG_CONFIG_HOME/dormouse/config.json`.
 *
 * F1  Only its owner can read it: it may hold a token.
 * F2  A token is only ever sent to the server that it was given for.
 */
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Language } from "./strings.ts";

export interface Config {
  language?: Language;
  url?: string;
  token?: string;
}
type Env = Record<string, string | undefined>;

export const LOCAL = "http://localhost:8787";

export const configPath = (env: Env): string =>
  join(env.XDG_CONFIG_HOME || join(homedir(), ".config"), "dormouse", "config.json");

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** null: there is none, or nothing in it can be used. */
export async function loadConfig(path: string): Promise<Config | null> {
  try {
    const held = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
    const language = held.language === "zh" || held.language === "en" ? held.language : undefined;
    const url = text(held.url);
    const token = text(held.token);
    return {
      ...(language && { language }),
      ...(url && { url }),
      ...(token && { token }),
    };
  } catch {
    return null;
  }
}

/** Written whole or not at all. */
export async function saveConfig(path: string, config: Config): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  await chmod(fresh, 0o600);
  await rename(fresh, path);
}

/** An address as the client wants it, or null: it is none. A name or password in it is refused. */
export function serverUrl(given: string): string | null {
  const url = URL.parse(/^https?:\/\//i.test(given) ? given : `http://${given}`);
  const plain = url && url.username === "" && url.password === "" && url.search === "";
  if (!plain) return null;
  return url.href.replace(/\/+$/, "");
}

export interface Target {
  url: string;
  token?: string;
}

/** Which server, and with which token: what was stated now, else the environment, else what is kept. */
export function targetOf(stated: string | undefined, env: Env, config: Config): Target | null {
  const url = serverUrl(stated ?? (env.DORMOUSE_URL || config.url || LOCAL));
  if (!url) return null;
  const kept = config.token && serverUrl(config.url ?? LOCAL) === url ? config.token : undefined;
  const token = env.DORMOUSE_TOKEN || kept;
  return { url, ...(token ? { token } : {}) };
}
