/** Faults of an MCP server, and deaths of the session under its calls. The ledger must come out right all the same. */
import { failed, http, type McpFault, type McpReply } from "../support/mcp-script.ts";
import type { Kind } from "./kind.ts";

/** Calls of tools: read, append, read in each of the two steps; read, append in the small task. */
const ANY = {
  first: { big: 1, small: 1 },
  middle: { big: 5, small: 2 },
  last: { big: 6, small: 2 },
};
const WRITES = { first: { big: 2, small: 2 }, last: { big: 5, small: 2 } };

const answers =
  (reply: McpReply): McpFault =>
  () =>
    reply;
/** Does what is asked, and answers with something else. */
const after =
  (reply: McpReply): McpFault =>
  (perform) => {
    perform();
    return reply;
  };
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const says = (id: unknown, more: object): McpReply =>
  http(200, JSON.stringify({ jsonrpc: "2.0", id, ...more }), "application/json");
/** Does what is asked, and answers so. */
const saying =
  (more: object): McpFault =>
  (perform, { id }) => {
    perform();
    return says(id, more);
  };
/** Does nothing, and answers as a tool that failed. */
const failing: McpFault = (_, { id }) => says(id, { result: failed("EAGAIN") });

const JSON_HEAD = { "content-type": "application/json" };
const STREAM = "text/event-stream";
const QUICK = { limits: { toolTimeoutMs: 1_000 } };

type Fault = Pick<Kind, "settings" | "times" | "costs" | "dies"> & { name: string; mcp: McpFault };
/** They strike any call. */
const EARLY: readonly Fault[] = [
  { name: "reset before it began", mcp: answers({ type: "reset" }) },
  { name: "reset before it began, twice", mcp: answers({ type: "reset" }), times: 2 },
  { name: "503", mcp: answers(http(503, "starting")) },
  { name: "503, three times", mcp: answers(http(503, "starting")), times: 3 },
  { name: "429", mcp: answers(http(429, "slower")) },
  { name: "400", mcp: answers(http(400, "not now")), costs: 2 },
  { name: "the tool's own error", mcp: failing, costs: 2 },
  { name: "its session is forgotten", mcp: answers(http(404, "no such session")) },
  { name: "no answer, nothing done", mcp: answers({ type: "hang" }), settings: QUICK, costs: 2 },
  { name: "slow", mcp: async (perform) => sleep(80).then(perform) },
  { name: "the session dies before it began", mcp: answers({ type: "hang" }), dies: true },
];
/** They strike after an effect. */
const LATE: readonly Fault[] = [
  { name: "reset after the effect", mcp: after({ type: "reset" }) },
  { name: "reset after the effect, twice", mcp: after({ type: "reset" }), times: 2 },
  {
    name: "answer cut in the middle",
    mcp: after({ type: "broken", headers: JSON_HEAD, body: '{"jsonrpc":"2.0","id' }),
  },
  {
    name: "stream cut in the middle",
    mcp: after({ type: "broken", headers: { "content-type": STREAM }, body: "data: {" }),
  },
  { name: "stream ends without the answer", mcp: after(http(200, ": bye\n\n", STREAM)) },
  { name: "500 after the effect", mcp: after(http(500, "oops")) },
  { name: "502 after the effect", mcp: after(http(502, "bad gateway")) },
  { name: "a page in place of the answer", mcp: after(http(200, "<html>", "text/html")) },
  {
    name: "internal error after the effect",
    mcp: saying({ error: { code: -32603, message: "it broke" } }),
    costs: 2,
  },
  { name: "an answer that is no result", mcp: saying({ result: { content: "?" } }), costs: 2 },
  { name: "done, no answer in time", mcp: after({ type: "hang" }), settings: QUICK, costs: 2 },
  { name: "the session dies after the effect", mcp: after({ type: "hang" }), dies: true },
];
const kind = (fault: Fault, at: Kind["at"], modest: boolean): Kind => {
  const { name, costs = modest ? 3 : 0, ...rest } = fault;
  return {
    ...rest,
    name: `MCP: ${name}${modest ? ", keys not claimed" : ""}`,
    group: "mcp",
    at: at as NonNullable<Kind["at"]>,
    positions: at === WRITES ? ["first", "last"] : ["first", "middle", "last"],
    costs,
    alone: true,
    ...(modest ? { modest: true as const } : {}),
  };
};

export const MCP: readonly Kind[] = [false, true].flatMap((modest) => [
  ...EARLY.map((fault) => kind(fault, ANY, modest)),
  ...LATE.map((fault) => kind(fault, WRITES, modest)),
]);
