/**
 * Cloudflare Access: who its signed assertion says is asking.
 *
 * J1  Signature, issuer, audience and times are checked against the team's keys, whatever stands before the Worker:
 *     a request that went around Access brings no assertion that passes.
 * J2  The keys are fetched when first needed, kept by this isolate, and fetched again when an unknown one signs.
 * J3  Neither the assertion nor what is wrong with it is told to the client.
 */
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { log } from "./log.ts";
import { problem } from "./problem.ts";

/** Access puts its assertion into a header of every request, and into a cookie for browsers. */
export const ACCESS_HEADER = "cf-access-jwt-assertion";
export const ACCESS_COOKIE = "CF_Authorization";
/** Clocks differ. */
const TOLERANCE_S = 30;

export interface AccessVars {
  ACCESS_TEAM_DOMAIN?: string;
  ACCESS_AUD?: string;
}

/** The team's address and the application's audience; null: Access is not wanted. Half a configuration is none. */
export function accessOf(env: AccessVars): { team: string; audience: string } | null {
  const domain = env.ACCESS_TEAM_DOMAIN?.trim() ?? "";
  const audience = env.ACCESS_AUD?.trim() ?? "";
  if (domain === "" && audience === "") return null;
  const host = domain.replace(/^https:\/\//, "").replace(/\/+$/, "");
  if (audience !== "" && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(host)) {
    return { team: `https://${host.toLowerCase()}`, audience };
  }
  throw problem(
    503,
    "auth_not_configured",
    "Cloudflare Access needs both ACCESS_TEAM_DOMAIN (like team.cloudflareaccess.com) and ACCESS_AUD (the application's audience tag). Correct them and deploy again.",
  );
}

const keySets = new Map<string, JWTVerifyGetKey>();

/** The team's keys. Whatever keeps them from being read is the deployment's trouble, never the client's. */
async function keysOf(team: string): Promise<JWTVerifyGetKey> {
  const held = keySets.get(team);
  if (held) return held;
  const { createRemoteJWKSet, errors } = await import("jose");
  const remote = createRemoteJWKSet(new URL(`${team}/cdn-cgi/access/certs`));
  const keys: JWTVerifyGetKey = async (header, token) => {
    try {
      return await remote(header, token);
    } catch (error) {
      const unknown = error instanceof errors.JWKSNoMatchingKey;
      if (unknown || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      log("error", "access_keys_unread", {}, error);
      throw unreachable();
    }
  };
  keySets.set(team, keys);
  return keys;
}

/** The e-mail address in a valid assertion, or a service token's name; null when the assertion does not pass. */
export async function ownerOfAssertion(env: AccessVars, assertion: string): Promise<string | null> {
  const access = accessOf(env);
  if (!access) return null;
  const { errors, jwtVerify } = await import("jose");
  try {
    const { payload } = await jwtVerify(assertion, await keysOf(access.team), {
      issuer: access.team,
      audience: access.audience,
      algorithms: ["RS256", "ES256"],
      clockTolerance: TOLERANCE_S,
      requiredClaims: ["exp", "iat"],
    });
    return nameIn(payload);
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

function nameIn({ email, common_name }: JWTPayload): string | null {
  if (typeof email === "string" && email !== "") return email.toLowerCase();
  return typeof common_name === "string" && common_name !== "" ? common_name : null;
}

const unreachable = () =>
  problem(
    503,
    "access_unavailable",
    "The keys of Cloudflare Access could not be read, so nobody can be let in. Try again in a moment.",
  );
