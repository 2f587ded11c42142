/**
 * 07 · A webhook, received. It shows: a session tells a server of yours when it waits and when it ends, the signature
 * is checked before anything is believed, and the same event is taken once.
 *
 *   npx node examples/07-webhook.ts
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "../src/client/index.ts";

const { DORMOUSE_URL: baseUrl = "http://localhost:8787", DORMOUSE_TOKEN: token } = process.env;
const secret = randomBytes(24).toString("hex");
/** Seconds after which an event is too old to be believed. */
const OLD = 300;

/** The signature is over the bytes as they came: parse them afterwards. */
function isGenuine({ headers }: IncomingMessage, body: string): boolean {
  const timestamp = String(headers["dormouse-timestamp"]);
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) < OLD)) return false;
  const hmac = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  const [ours, theirs] = [`v1=${hmac}`, String(headers["dormouse-signature"])].map(Buffer.from);
  return ours?.length === theirs?.length && timingSafeEqual(ours as Buffer, theirs as Buffer);
}

const client = createClient({ baseUrl, ...(token ? { token } : {}) });
const seen = new Set<string>();
interface Told {
  id: string;
  type: string;
  session: { id: string };
  message: string | null;
  wait: { wait_id: string; text: string } | null;
}
async function take(told: Told): Promise<void> {
  // It is sent again until it was taken, so it may come twice.
  if (seen.has(told.id)) return;
  seen.add(told.id);
  console.log(`${told.type}: ${told.wait?.text ?? told.message}`);
  if (told.wait) await client.answer(told.session.id, { wait_id: told.wait.wait_id, text: "yes" });
  else server.close();
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const part of request.setEncoding("utf8")) body += part;
  const genuine = isGenuine(request, body);
  response.writeHead(genuine ? 204 : 401, { connection: "close" }).end();
  if (genuine) await take(JSON.parse(body) as Told);
}

const server = createServer((request, response) => void receive(request, response));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const session = await client.createSession({ settings: { webhook: { url, secret } } });
await client.sendMessage(session.id, { text: "Shall I (yes/no)?" });
