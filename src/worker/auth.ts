/**
 * Who is asking. Fail closed: without any configuration only loopback is served, as owner `local`.
 *
 * A1  Tokens are compared in constant time, and never appear in an error, a log or a cookie.
 * A2  A token in a URL is refused: URLs end in logs and histories.
 * A3  Whatever changes state, and every upgrade, comes from our own origin or from no browser at all.
 * A4  Two ways in: tokens and Cloudflare Access. One that is half configured closes the house.
 */
import type { Context } from "hono";
import { deleteCookie, getCookie, getSignedCookie, setSignedCookie } from "hono/cookie";
import * as z from "zod";
import { ACCESS_COOKIE, ACCESS_HEADER, accessOf, ownerOfAssertion } from "./access-jwt.ts";
import type { Bindings } from "./env.ts";
import { problem } from "./problem.ts";
import { hostOf, isLoopback, nameOf } from "./served.ts";

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

/** Somebody must sign in; without, only loopback is served. */
export const authConfigured = (env: Bindings): boolean =>
  Boolean(env.AUTH_TOKENS?.trim() || env.AUTH_TOKEN?.trim() || env.ACCESS_TEAM_DOMAIN);

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

/**
 * The cookie's keys: the first signs, any of them is believed. They follow from the tokens, so that who changes those
 * signs everyone out, and from COOKIE_SECRET, which is changed without that: `new,old`, then `new`.
 */
function cookieSecrets(env: Bindings, tokens: Map<string, string>): [string, ...string[]] {
  const of = (secret: string) =>
    `dormouse cookie v1 ${JSON.stringify([...tokens].sort())}${secret && ` ${secret}`}`;
  const [first = "", ...others] = (env.COOKIE_SECRET ?? "").split(",").map((s) => s.trim());
  return [of(first), ...others.filter((s) => s !== "").map(of)];
}

async function ownerOfCookie(c: Ctx, tokens: Map<string, string>): Promise<string | null> {
  let value: string | false | undefined;
  for (const secret of cookieSecrets(c.env, tokens)) {
    value ||= await getSignedCookie(c, secret, COOKIE);
  }
  if (!value) return null;
  const [expires = "0", ...rest] = value.split(".");
  const owner = decodeURIComponent(rest.join("."));
  return Number(expires) > Date.now() && [...tokens.values()].includes(owner) ? owner : null;
}

export async function signIn(c: Ctx, token: string): Promise<string> {
  const tokens = tokensOf(c.env);
  if (!tokens) {
    const access = accessOf(c.env);
    if (!access && isLoopback(hostname(c))) return "local";
    throw access ? throughAccess() : notConfigured();
  }
  const owner = await ownerOfToken(tokens, token);
  if (!owner)
    throw problem(401, "bad_token", "This token is not known here. Check it and try again.");
  const value = `${Date.now() + COOKIE_SECONDS * 1000}.${encodeURIComponent(owner)}`;
  await setSignedCookie(c, COOKIE, value, cookieSecrets(c.env, tokens)[0], {
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
    "No access is configured, so only loopback is served. Set the secret AUTH_TOKENS (or AUTH_TOKEN), or put Cloudflare Access before it, and deploy again.",
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
  const ambient = [COOKIE, ACCESS_COOKIE].some((name) => getCookie(c, name) !== undefined);
  if (origin === undefined && ambient) {
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

/** Nothing is configured: whoever runs it on loopback is its one owner. */
export const isOpenHouse = (c: Ctx): boolean => !tokensOf(c.env) && !accessOf(c.env);

/** The owner of a request, or a problem that says how to become one. */
export async function authenticate(c: Ctx): Promise<string> {
  refuseUrlTokens(c);
  checkOrigin(c);
  const tokens = tokensOf(c.env);
  const access = accessOf(c.env);
  if (!tokens && !access) {
    if (isLoopback(hostname(c))) return "local";
    throw notConfigured();
  }
  const bearer = /^Bearer\s+(.+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  if (bearer !== undefined && tokens) {
    const owner = await ownerOfToken(tokens, bearer.trim());
    if (owner) return owner;
    throw problem(401, "bad_token", "This token is not known here.");
  }
  const signedIn = tokens ? await ownerOfCookie(c, tokens) : null;
  const owner = signedIn ?? (access ? await ownerThroughAccess(c) : null);
  if (owner) return owner;
  if (!tokens) throw throughAccess();
  throw problem(
    401,
    "sign_in_required",
    "Send `Authorization: Bearer …`, or sign in with POST /api/login.",
  );
}

const throughAccess = () =>
  problem(
    401,
    "sign_in_required",
    "Sign in through Cloudflare Access: this request brought no valid assertion of it.",
  );

async function ownerThroughAccess(c: Ctx): Promise<string | null> {
  const assertion = c.req.header(ACCESS_HEADER) ?? getCookie(c, ACCESS_COOKIE);
  return assertion === undefined ? null : ownerOfAssertion(c.env, assertion);
}

/** For what needs no sign-in: a deployment that lets nobody in serves it on loopback alone. */
export function checkOpen(c: Ctx): void {
  refuseUrlTokens(c);
  if (isOpenHouse(c) && !isLoopback(hostname(c))) throw notConfigured();
}
