/**
 * Who is asking. Fail closed: without any configuration only loopback is served, as owner `local`.
 *
 * A1  Tokens are compared in constant time, and never appear in an error, a log or a cookie.
 * A2  A token in a URL is refused: URLs end in logs and histories.
 * A3  Whatever changes state, and every upgrade, comes from our own origin or from no browser at all.
 */
import type { Context } from "hono";
import { deleteCookie, getCookie, getSignedCookie, setSignedCookie } from "hono/cookie";
import * as z from "zod";
import type { Bindings } from "./env.ts";
import { hostOf, isLoopback, nameOf } from "./host.ts";
import { problem } from "./problem.ts";

export type App = { Bindings: Bindings; Variables: { owner: string } };
type Ctx = Context<App>;

const COOKIE = "dormouse";
const COOKIE_SECONDS = 30 * 24 * 3600;
const URL_TOKENS = ["token", "access_token", "auth_token", "api_key", "authorization"];

/** Token → owner; null: none configured. */
function tokensOf(env: Bindings): Map<string, string> | null {
  if (env.AUTH_TOKENS?.trim()) {
    let value: unknown;
    try {
      value = JSON.parse(env.AUTH_TOKENS);
    } catch {
      value = null;
    }
    const parsed = z.record(z.string().min(1), z.string().min(1)).safeParse(value);
    if (parsed.success) return new Map(Object.entries(parsed.data));
    throw problem(
      503,
      "auth_not_configured",
      'AUTH_TOKENS must be a JSON object {"token": "owner"}. Correct the secret.',
    );
  }
  return env.AUTH_TOKEN?.trim() ? new Map([[env.AUTH_TOKEN.trim(), "default"]]) : null;
}

const digest = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

/** Digests have one length, so the comparison takes the same time whatever was sent. */
async function ownerOfToken(tokens: Map<string, string>, sent: string): Promise<string | null> {
  const mine = await digest(sent);
  let owner: string | null = null;
  for (const [token, name] of tokens) {
    if (crypto.subtle.timingSafeEqual(mine, await digest(token))) owner = name;
  }
  return owner;
}

/** Host as the client wrote it, without its port. */
export const hostname = (c: Ctx): string => nameOf(hostOf(c));

/** The cookie's key follows from the tokens: who changes them signs everyone out. */
const cookieSecret = (tokens: Map<string, string>): string =>
  `dormouse cookie v1 ${JSON.stringify([...tokens].sort())}`;

async function ownerOfCookie(c: Ctx, tokens: Map<string, string>): Promise<string | null> {
  const value = await getSignedCookie(c, cookieSecret(tokens), COOKIE);
  if (!value) return null;
  const [expires = "0", ...rest] = value.split(".");
  const owner = decodeURIComponent(rest.join("."));
  return Number(expires) > Date.now() && [...tokens.values()].includes(owner) ? owner : null;
}

export async function signIn(c: Ctx, token: string): Promise<string> {
  const tokens = tokensOf(c.env);
  if (!tokens) {
    if (isLoopback(hostname(c))) return "local";
    throw notConfigured();
  }
  const owner = await ownerOfToken(tokens, token);
  if (!owner)
    throw problem(401, "bad_token", "This token is not known here. Check it and try again.");
  const value = `${Date.now() + COOKIE_SECONDS * 1000}.${encodeURIComponent(owner)}`;
  await setSignedCookie(c, COOKIE, value, cookieSecret(tokens), {
    httpOnly: true,
    sameSite: "Strict",
    secure: !isLoopback(hostname(c)),
    path: "/",
    maxAge: COOKIE_SECONDS,
  });
  return owner;
}
export const signOut = (c: Ctx): void => {
  deleteCookie(c, COOKIE, { path: "/", secure: !isLoopback(hostname(c)) });
};

const notConfigured = () =>
  problem(
    503,
    "auth_not_configured",
    "No access is configured, so only loopback is served. Set the secret AUTH_TOKENS (or AUTH_TOKEN) and deploy again.",
  );

export function refuseUrlTokens(c: Ctx): void {
  if (URL_TOKENS.some((name) => c.req.query(name) !== undefined)) {
    throw problem(
      401,
      "token_in_url",
      "A token in a URL is refused. Send it as `Authorization: Bearer …`, or sign in on the page.",
    );
  }
}

/** Origins of other sites that the deployment lets in. They send a token; the cookie is for our own page. */
export function allowedOrigin(c: Ctx, origin: string): boolean {
  const allowed = (c.env.ALLOWED_ORIGINS ?? "").split(",").map((o) => o.trim());
  return origin !== "" && allowed.includes(origin);
}

function ownOrigin(c: Ctx, origin: string): boolean {
  if (allowedOrigin(c, origin)) return true;
  const host = c.req.header("host") ?? new URL(c.req.url).host;
  return origin === `https://${host}` || origin === `http://${host}`;
}

export const isUpgrade = (c: Ctx): boolean =>
  c.req.header("upgrade")?.toLowerCase() === "websocket";
const changesState = (c: Ctx): boolean =>
  !["GET", "HEAD", "OPTIONS"].includes(c.req.method) || isUpgrade(c);

/** The origin rule alone; also for signing in and out, where there is no owner yet. */
export function checkOrigin(c: Ctx): void {
  if (!changesState(c)) return;
  const origin = c.req.header("origin");
  if (origin === undefined && getCookie(c, COOKIE) !== undefined) {
    throw problem(
      403,
      "origin_required",
      "A signed-in browser must send its Origin with this request.",
    );
  }
  if (origin !== undefined && !ownOrigin(c, origin)) {
    throw problem(
      403,
      "bad_origin",
      "This origin may not act here. List it in ALLOWED_ORIGINS if it is yours.",
    );
  }
}

/** The owner of a request, or a problem that says how to become one. */
export async function authenticate(c: Ctx): Promise<string> {
  refuseUrlTokens(c);
  checkOrigin(c);
  const tokens = tokensOf(c.env);
  const accessWanted = Boolean(c.env.ACCESS_TEAM_DOMAIN || c.env.ACCESS_AUD);
  if (!tokens) {
    if (!accessWanted && isLoopback(hostname(c))) return "local";
    throw notConfigured();
  }
  const bearer = /^Bearer\s+(.+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  if (bearer !== undefined) {
    const owner = await ownerOfToken(tokens, bearer.trim());
    if (owner) return owner;
    throw problem(401, "bad_token", "This token is not known here.");
  }
  const owner = await ownerOfCookie(c, tokens);
  if (!owner)
    throw problem(
      401,
      "sign_in_required",
      "Send `Authorization: Bearer …`, or sign in with POST /api/login.",
    );
  return owner;
}
