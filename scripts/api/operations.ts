/** Every operation of the API: a test holds this list against the app's routes, and real replies against it. */
import * as z from "zod";
import { ListQuery, PageQuery, UsageQuery } from "../../src/core/wire.ts";
import type { Operation } from "./operation.ts";
import { FILES } from "./operations-files.ts";
import { OTHERS } from "./operations-others.ts";

const ID = "{id}";
const GONE = [404];
const session = `/api/sessions/${ID}`;
const Flag = z.literal("1").optional();

const SESSIONS: Operation[] = [
  {
    ...{ method: "post", path: "/api/sessions", id: "createSession", tag: "sessions" },
    summary: "Make a session",
    more: "A known `key` gives its session (200), unless `fresh` is true.",
    body: "CreateBody",
    bare: true,
    replies: {
      201: { what: "It was made.", schema: "Session" },
      200: { what: "The session that the key is bound to.", schema: "Session" },
    },
  },
  {
    ...{ method: "get", path: "/api/sessions", id: "listSessions", tag: "sessions" },
    summary: "Your sessions, newest activity first",
    query: ListQuery.unwrap(),
    replies: { 200: { what: "A page of them.", schema: "SessionPage" } },
  },
  {
    ...{ method: "get", path: session, id: "getSession", tag: "sessions" },
    summary: "One session as it is now",
    replies: { 200: { what: "The snapshot, at most 256 KiB.", schema: "Session" } },
    errors: GONE,
  },
  {
    ...{ method: "get", path: `${session}/settings`, id: "getSessionSettings", tag: "sessions" },
    summary: "What the session states, and what holds without it",
    replies: { 200: { what: "Both.", schema: "SettingsLayers" } },
    errors: GONE,
  },
  {
    ...{ method: "patch", path: session, id: "changeSession", tag: "sessions" },
    summary: "Change its title, pin or settings",
    more: "Settings count from the next turn.",
    body: "PatchBody",
    replies: { 200: { what: "As it is now.", schema: "Session" } },
    errors: GONE,
  },
  {
    ...{ method: "delete", path: session, id: "deleteSession", tag: "sessions" },
    summary: "Delete it: rows, files and sandbox",
    replies: { 204: { what: "It is gone." } },
    errors: GONE,
  },
  {
    ...{ method: "post", path: `${session}/rotate`, id: "rotateSession", tag: "sessions" },
    summary: "A new session in its place",
    more: "Mode, settings and keys go over; the old one stays.",
    replies: { 201: { what: "The new one.", schema: "Session" } },
    errors: GONE,
  },
  {
    ...{ method: "post", path: `${session}/fork`, id: "forkSession", tag: "sessions" },
    summary: "A copy, as it stood at the end of a turn",
    body: "ForkBody",
    bare: true,
    replies: { 201: { what: "The copy.", schema: "Session" } },
    errors: [404, 409],
  },
  {
    ...{ method: "get", path: `${session}/export`, id: "exportSession", tag: "sessions" },
    summary: "Everything of it as lines of JSON, without secrets",
    replies: { 200: { what: "The lines.", types: ["application/x-ndjson"] } },
    errors: GONE,
  },
  {
    ...{ method: "post", path: "/api/sessions/import", id: "importSession", tag: "sessions" },
    summary: "Make a session of an export",
    body: { type: "application/x-ndjson", what: "An export, at most 25 MiB." },
    replies: { 201: { what: "It was made.", schema: "Imported" } },
  },
];

const TURNS: Operation[] = [
  {
    ...{ method: "post", path: `${session}/messages`, id: "say", tag: "turns" },
    summary: "Say something: a task, an answer, a command",
    more: "The same `id` again is acknowledged and changes nothing. While a question waits, a message answers it.",
    headers: {
      prefer: "`wait=N` (at most 300 s): the reply comes when the turn ends or waits.",
      traceparent: "W3C Trace Context: the turn belongs to this trace, where traces are sent.",
    },
    body: "MessageBody",
    replies: {
      202: { what: "It is durable.", schema: "MessageReceipt" },
      200: { what: "With `Prefer: wait=N`, what the turn has come to.", schema: "TurnResult" },
    },
    errors: [404, 409],
  },
  {
    ...{ method: "post", path: `${session}/answers`, id: "answer", tag: "turns" },
    summary: "Answer what waits: a question, an approval, a budget",
    body: "AnswerBody",
    replies: { 202: { what: "It is durable.", schema: "Receipt" } },
    errors: [404, 409],
  },
  {
    ...{ method: "post", path: `${session}/stop`, id: "stop", tag: "turns" },
    summary: "Stop the turn under way, if there is one",
    body: "StopBody",
    bare: true,
    replies: { 202: { what: "It is durable.", schema: "Receipt" } },
    errors: GONE,
  },
  {
    ...{ method: "patch", path: `${session}/queue/{message}`, id: "changeQueued", tag: "turns" },
    summary: "Change a message that waits for the running turn",
    body: "QueueBody",
    replies: { 200: { what: "The session.", schema: "Session" } },
    errors: GONE,
  },
  {
    ...{ method: "delete", path: `${session}/queue/{message}`, id: "takeBack", tag: "turns" },
    summary: "Take back a message that waits",
    replies: { 204: { what: "It is gone." } },
    errors: GONE,
  },
  {
    ...{ method: "get", path: `${session}/events`, id: "events", tag: "turns" },
    summary: "Stored events after a cursor, as a page or as a stream",
    headers: {
      accept: "`text/event-stream` for a stream: `id:` is the seq, `event:` the name.",
      "last-event-id": "The cursor of a stream that is taken up again.",
    },
    query: PageQuery.unwrap(),
    replies: { 200: { what: "A page; or the stream.", schema: "EventPage" } },
    errors: GONE,
  },
  {
    ...{ method: "get", path: `${session}/ws`, id: "socket", tag: "turns" },
    summary: "The WebSocket of a session",
    more: "Frames are described in frames.schema.json.",
    query: PageQuery.unwrap().omit({ limit: true }),
    replies: { 101: { what: "Switched." } },
    errors: [404, 426],
  },
];

const OWNER: Operation[] = [
  {
    ...{ method: "get", path: "/api/settings", id: "getSettings", tag: "owner" },
    summary: "Your settings, as they come out together with the deployment's",
    replies: { 200: { what: "The settings.", schema: "Settings" } },
  },
  {
    ...{ method: "get", path: "/api/settings/own", id: "getOwnSettings", tag: "owner" },
    summary: "What you state, and what holds without it",
    replies: { 200: { what: "Both.", schema: "SettingsLayers" } },
  },
  {
    ...{ method: "patch", path: "/api/settings", id: "changeSettings", tag: "owner" },
    summary: "Change your own settings",
    more: "null takes back what was stated.",
    body: "SettingsPatchBody",
    replies: { 200: { what: "As they come out now.", schema: "Settings" } },
  },
  {
    ...{ method: "get", path: "/api/usage", id: "usage", tag: "owner" },
    summary: "What you have used, by day and model",
    query: UsageQuery.unwrap(),
    replies: { 200: { what: "The report.", schema: "UsageReport" } },
  },
  {
    ...{ method: "get", path: "/api/health", id: "health", tag: "deployment", open: true },
    summary: "Whether it is up; for owners, what works",
    query: z.object({
      deep: Flag.describe("For owners: look at storage, provider, bindings and the rest."),
      reach: Flag.describe("With `deep`: ask the provider for its list of models."),
    }),
    replies: {
      200: { what: "It is well.", schema: "Health" },
      503: { what: "Something of the deep check is not.", schema: "Health" },
    },
  },
  {
    ...{ method: "get", path: "/api/config", id: "config", tag: "deployment" },
    summary: "What this deployment offers",
    replies: { 200: { what: "The configuration.", schema: "Config" } },
  },
];

export const OPERATIONS: Operation[] = [...SESSIONS, ...TURNS, ...FILES, ...OWNER, ...OTHERS];
