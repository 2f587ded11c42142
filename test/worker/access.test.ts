/** Contract 1: Cloudflare Access as the way in, with a team's keys served by the test. */
import { exports } from "cloudflare:workers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect } from "vitest";
import type { SessionView } from "../../src/core/wire.ts";
import { failureOf, it as guarded, useVars } from "./support/client.ts";
import { serveAt } from "./support/upstream.ts";

const SITE = "https://dormouse.example";
const AUD = "audience-tag";
let teams = 0;

interface Team {
  vars: Record<string, string>;
  url: string;
  sign(claims: Record<string, unknown>, over?: Partial<Signing>): Promise<string>;
  /** How often its keys were read. */
  reads(): number;
  down(): void;
}
interface Signing {
  audience: string;
  issuer: string;
  expires: string;
  key: CryptoKey;
  kid: string;
}

/** A team of its own, since its keys are kept as long as the isolate lives. */
async function team(): Promise<Team> {
  teams += 1;
  const name = `team${teams}.cloudflareaccess.com`;
  const url = `https://${name}`;
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "k1", alg: "RS256", use: "sig" };
  let reads = 0;
  const down = serveAt(`${url}/cdn-cgi/access/certs`, () => {
    reads += 1;
    return Response.json({ keys: [jwk] });
  });
  return {
    vars: { ACCESS_TEAM_DOMAIN: name, ACCESS_AUD: AUD },
    url,
    reads: () => reads,
    down,
    sign(claims, over = {}) {
      return new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", kid: over.kid ?? "k1" })
        .setIssuedAt()
        .setIssuer(over.issuer ?? url)
        .setAudience(over.audience ?? AUD)
        .setExpirationTime(over.expires ?? "5m")
        .sign(over.key ?? privateKey);
    },
  };
}

function it(name: string, body: (t: Team) => Promise<void>): void {
  guarded(name, async () => {
    const t = await team();
    useVars(t.vars);
    try {
      await body(t);
    } finally {
      t.down();
    }
  });
}
const list = (headers: Record<string, string>, at = SITE) =>
  exports.default.fetch(`${at}/api/sessions`, { headers });
const refusal = async (response: Response) => [response.status, (await failureOf(response)).code];

describe("an assertion of Cloudflare Access", () => {
  it("makes its e-mail address the owner", async (t) => {
    const headers = {
      "cf-access-jwt-assertion": await t.sign({ email: "Ann@Example.com", sub: "1" }),
    };
    const made = await exports.default.fetch(`${SITE}/api/sessions`, {
      method: "POST",
      body: JSON.stringify({ title: "Ann's" }),
      headers,
    });
    expect(made.status).toBe(201);
    const { id } = await made.json<SessionView>();
    const see = async (email: string) => {
      const assertion = { "cf-access-jwt-assertion": await t.sign({ email }) };
      return (await exports.default.fetch(`${SITE}/api/sessions/${id}`, { headers: assertion }))
        .status;
    };
    expect(await see("ann@example.com")).toBe(200);
    expect(await see("bob@example.com")).toBe(404);
    expect(t.reads()).toBe(1);
  });

  it("may stand in its cookie, and then an acting request needs its Origin", async (t) => {
    const cookie = `CF_Authorization=${await t.sign({ email: "ann@example.com" })}`;
    expect((await list({ cookie })).status).toBe(200);
    const make = (headers: Record<string, string>) =>
      exports.default.fetch(`${SITE}/api/sessions`, {
        method: "POST",
        body: "{}",
        headers: { cookie, ...headers },
      });
    expect((await make({ origin: SITE })).status).toBe(201);
    expect(await refusal(await make({}))).toEqual([403, "origin_required"]);
    expect(await refusal(await make({ origin: "https://evil.example" }))).toEqual([
      403,
      "bad_origin",
    ]);
  });

  it("of a service token names the token", async (t) => {
    const headers = { "cf-access-jwt-assertion": await t.sign({ common_name: "ci.access" }) };
    expect((await list(headers)).status).toBe(200);
  });

  it("that is forged, of others, too old or nameless is refused, and is in no reply", async (t) => {
    const stranger = await generateKeyPair("RS256");
    const ann = { email: "ann@example.com" };
    const good = await t.sign(ann);
    const unsigned = `${btoa('{"alg":"none"}')}.${good.split(".")[1]}.`.replaceAll("=", "");
    const secret = new TextEncoder().encode("a".repeat(32));
    const symmetric = await new SignJWT(ann)
      .setProtectedHeader({ alg: "HS256", kid: "k1" })
      .setIssuedAt()
      .setIssuer(t.url)
      .setAudience(AUD)
      .setExpirationTime("5m")
      .sign(secret);
    const bad: [what: string, assertion: string][] = [
      ["another key under a known name", await t.sign(ann, { key: stranger.privateKey })],
      ["an unknown key", await t.sign(ann, { key: stranger.privateKey, kid: "k2" })],
      ["another application", await t.sign(ann, { audience: "other" })],
      ["another team", await t.sign(ann, { issuer: "https://evil.cloudflareaccess.com" })],
      ["too old", await t.sign(ann, { expires: "-1h" })],
      ["no name", await t.sign({ sub: "1" })],
      ["an empty name", await t.sign({ email: "" })],
      ["a name that is no text", await t.sign({ email: ["ann@example.com"] })],
      ["no signature", unsigned],
      ["a shared secret", symmetric],
      ["changed", `${good.slice(0, -6)}AAAAAA`],
      ["no token", "nonsense"],
      ["nothing", ""],
    ];
    for (const [what, assertion] of bad) {
      const response = await list({ "cf-access-jwt-assertion": assertion });
      const body = await response.clone().text();
      expect([what, ...(await refusal(response))]).toEqual([what, 401, "sign_in_required"]);
      if (assertion.length > 10) expect(body).not.toContain(assertion);
    }
    expect((await list({ "cf-access-jwt-assertion": good })).status).toBe(200);
  });

  it("is wanted on loopback too", async () => {
    expect(await refusal(await list({}, "http://localhost"))).toEqual([401, "sign_in_required"]);
    const login = await exports.default.fetch("http://localhost/api/login", {
      method: "POST",
      body: JSON.stringify({ token: "x" }),
    });
    expect(await refusal(login)).toEqual([401, "sign_in_required"]);
  });

  it("stands beside tokens: either lets in", async (t) => {
    useVars({ AUTH_TOKENS: JSON.stringify({ "token-of-bob": "bob" }) });
    const assertion = await t.sign({ email: "ann@example.com" });
    expect((await list({ "cf-access-jwt-assertion": assertion })).status).toBe(200);
    expect((await list({ authorization: "Bearer token-of-bob" })).status).toBe(200);
    expect((await list({ authorization: "Bearer nobody" })).status).toBe(401);
    expect((await list({})).status).toBe(401);
  });
});

describe("the team's keys", () => {
  it("that cannot be read let nobody in, and say that it is not the client's fault", async (t) => {
    t.down();
    for (const answer of [
      () => new Response("down", { status: 500 }),
      () => new Response("<html>"),
      () => Response.json({ keys: "none" }),
    ]) {
      const stop = serveAt(`${t.url}/cdn-cgi/access/certs`, answer);
      const headers = { "cf-access-jwt-assertion": await t.sign({ email: "ann@example.com" }) };
      expect(await refusal(await list(headers))).toEqual([503, "access_unavailable"]);
      stop();
    }
  });
});

describe("a configuration of Access that is not whole", () => {
  for (const [what, vars] of [
    ["no audience", { ACCESS_TEAM_DOMAIN: "team.cloudflareaccess.com" }],
    ["no team", { ACCESS_AUD: AUD }],
    ["a team that is no host", { ACCESS_TEAM_DOMAIN: "team/../x", ACCESS_AUD: AUD }],
  ] as const) {
    guarded(`serves nobody: ${what}`, async () => {
      useVars(vars);
      expect(await refusal(await list({}, "http://localhost"))).toEqual([
        503,
        "auth_not_configured",
      ]);
    });
  }
});

describe("the secret of the cookie", () => {
  const tokens = { AUTH_TOKENS: JSON.stringify({ "token-of-ann": "ann" }) };
  const signIn = async () => {
    const response = await exports.default.fetch(`${SITE}/api/login`, {
      method: "POST",
      body: JSON.stringify({ token: "token-of-ann" }),
    });
    return (response.headers.get("set-cookie") ?? "").split(";")[0] as string;
  };

  guarded("is changed without signing anyone out, and the old one can be withdrawn", async () => {
    useVars({ ...tokens, COOKIE_SECRET: "old" });
    const before = await signIn();
    useVars({ ...tokens, COOKIE_SECRET: "new, old" });
    expect((await list({ cookie: before })).status).toBe(200);
    const after = await signIn();
    useVars({ ...tokens, COOKIE_SECRET: "new" });
    expect((await list({ cookie: before })).status).toBe(401);
    expect((await list({ cookie: after })).status).toBe(200);
  });
});
