/**
 * Tells an address of the owner's choice when a session waits or a turn ends: the setting `webhook {url, secret}`.
 *
 * H1  What is to be told is stored with the commit that it tells of, and goes only when it was taken or given up;
 *     nothing is stored or run where no webhook is set.
 * H2  At least once, under the same id each time; a delivery is tried again with growing pauses, for about a day.
 * H3  Only addresses of the public web are asked, at the time of asking too; redirects are not followed.
 * H4  Nothing in it is a secret; the signature (HMAC-SHA-256 over `timestamp.body`) tells that it comes from here.
 */
import { refusalOf } from "../adapters/web/address.ts";
import { head } from "../core/chars.ts";
import type { Event, EventData } from "../core/events.ts";
import type { Change } from "../core/ports.ts";
import type { Session } from "../core/session.ts";
import type { SettingsLayer } from "../core/settings.ts";
import { authConfigured } from "./auth.ts";
import type { Bindings } from "./env.ts";
import { type Jobs, WEBHOOK } from "./jobs.ts";
import { log } from "./log.ts";
import { problem } from "./problem.ts";

interface Pending {
  url: string;
  secret: string;
  body: string;
  tries: number;
}

const SECOND = 1_000;
const PAUSES = [10, 60, 300, 1_800, 7_200, 21_600, 43_200].map((s) => s * SECOND);
const TIMEOUT_MS = 10 * SECOND;
/** What one session may have waiting; older ones are given up. */
const MAX_PENDING = 20;
const MESSAGE_CHARS = 8_000;
const PREFIX = "webhook:";

/** Why this address may not be told; null: it may. Without access control only this machine is served, so it may be asked too. */
function refusal(env: Bindings, url: string): string | null {
  const host = URL.parse(url)?.host;
  const open = !authConfigured(env) && host ? [host] : [];
  const listed = (env.WEBHOOK_ALLOW_PRIVATE ?? "").split(",");
  return refusalOf(url, { allow: [...listed, ...open] });
}

/** Settings that name an address which is never told are refused when they are stated. */
export function checkWebhook(env: Bindings, settings: SettingsLayer | undefined): void {
  const url = settings?.webhook?.url;
  const why = url ? refusal(env, url) : null;
  if (why) throw problem(400, "invalid_request", `settings.webhook.url: ${why}`);
}

type Ended = Extract<Event, { event: "status_update" }>;

function bodyOf(s: Session, e: Ended, events: readonly Event[]): string {
  const said = events.findLast(
    (x): x is Extract<Event, { event: "message" }> =>
      x.event === "message" && x.data.role === "assistant" && x.data.kind !== "notice",
  );
  const failure = events.find((x): x is Extract<Event, { event: "error" }> => x.event === "error");
  const error: EventData<"error"> | undefined = failure?.data;
  return JSON.stringify({
    id: `${s.id}.${s.epoch}.${e.seq}`,
    type: `session.${e.data.status}`,
    created_at: e.ts,
    session: { id: s.id, title: s.title, mode: s.mode, run: s.run },
    seq: e.seq,
    message: said ? head(said.data.content, MESSAGE_CHARS) : null,
    wait: s.wait && { ...s.wait, text: head(s.wait.text, MESSAGE_CHARS) },
    ...(error ? { error: { code: error.code, message: error.message } } : {}),
  });
}

export class Webhook {
  readonly #kv: DurableObjectStorage["kv"];
  readonly #env: Bindings;

  constructor(storage: DurableObjectStorage, env: Bindings) {
    this.#kv = storage.kv;
    this.#env = env;
  }

  /**
   * Called at once after a commit that ended or paused a turn: written in the same breath, it is as durable. Never
   * throws: what is stored is stored, whether others can be told of it or not.
   */
  note(change: Change): void {
    try {
      this.#keep(change);
    } catch (error) {
      log("error", "webhook_not_stored", {}, error);
    }
  }
  #keep({ session, events }: Change): void {
    const { url = "", secret = "" } = session.turn?.settings.webhook ?? {};
    const ended = events.findLast(
      (e): e is Ended => e.event === "status_update" && e.data.status !== "running",
    );
    if (url === "" || !ended) return;
    const key = `${PREFIX}${String(ended.seq).padStart(12, "0")}`;
    const body = bodyOf(session, ended, events);
    this.#kv.put<Pending>(key, { url, secret, body, tries: 0 });
    const held = [...this.#kv.list({ prefix: PREFIX })].map(([name]) => name);
    for (const old of held.slice(0, Math.max(0, held.length - MAX_PENDING))) this.#kv.delete(old);
  }

  #untold(): string[] {
    const held = [...this.#kv.list<Pending>({ prefix: PREFIX })];
    return held.filter(([, { tries }]) => tries === 0).map(([id]) => id);
  }
  /** There is something that may have no job yet; asking costs no row. */
  pending(): boolean {
    return this.#untold().length > 0;
  }
  /** Sets the jobs that it needs. */
  async arm(jobs: Jobs): Promise<void> {
    for (const id of this.#untold()) await jobs.push({ id, fn: WEBHOOK, time: Date.now() });
  }

  /** Tries to deliver what a job is for; when to try again, or undefined: it is over. Never throws. */
  async due(id: string): Promise<{ rescheduleAt: number } | undefined> {
    const pending = this.#kv.get<Pending>(id);
    if (!pending) return undefined;
    const over = await this.#tell(pending, Date.now());
    // The session may have been deleted meanwhile, or this one given up.
    if (!this.#kv.get(id)) return undefined;
    const pause = PAUSES[pending.tries];
    if (over || pause === undefined) {
      if (!over) log("warn", "webhook_given_up", { tries: pending.tries + 1 });
      this.#kv.delete(id);
      return undefined;
    }
    this.#kv.put<Pending>(id, { ...pending, tries: pending.tries + 1 });
    return { rescheduleAt: Date.now() + pause };
  }

  /** True: taken, or never to be sent again. */
  async #tell({ url, secret, body }: Pending, now: number): Promise<boolean> {
    if (refusal(this.#env, url)) return true;
    const seconds = String(Math.floor(now / SECOND));
    const { id, type } = JSON.parse(body) as { id: string; type: string };
    const headers: Record<string, string> = {
      "content-type": "application/json",
      "user-agent": "Dormouse",
      "dormouse-event": type,
      "dormouse-event-id": id,
      "dormouse-timestamp": seconds,
    };
    if (secret) headers["dormouse-signature"] = `v1=${await sign(secret, `${seconds}.${body}`)}`;
    return post(url, headers, body);
  }
}

/** A timer that is left behind would keep the object awake, so it is cleared whatever happens. */
async function post(url: string, headers: Record<string, string>, body: string): Promise<boolean> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
  const { signal } = abort;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal,
    });
    await response.body?.cancel();
    return response.ok || response.status === 410;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

async function sign(secret: string, text: string): Promise<string> {
  const bytes = (t: string) => new TextEncoder().encode(t);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes(secret), algorithm, false, ["sign"]);
  const signed = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(text)));
  return Array.from(signed, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
