/** The schemas of the API by name, as JSON Schema 2020-12. */
import * as z from "zod";
import { CompletionBody } from "../../src/core/completion-body.ts";
import { FileInfo, Step, Wait } from "../../src/core/events.ts";
import * as frames from "../../src/core/frames.ts";
import * as replies from "../../src/core/replies.ts";
import * as openai from "../../src/core/replies-openai.ts";
import { PatchBody, SettingsPatchBody } from "../../src/core/settings-patch.ts";
import * as wire from "../../src/core/wire.ts";

export type Json = { [key: string]: unknown };

/** What clients send. */
const SENT = {
  ...{ CreateBody: wire.CreateBody, PatchBody, ForkBody: wire.ForkBody },
  ...{ MessageBody: wire.MessageBody, AnswerBody: wire.AnswerBody, StopBody: wire.StopBody },
  ...{
    QueueBody: wire.QueueBody,
    SettingsBody: wire.SettingsBody,
    SettingsPatchBody,
    LoginBody: wire.LoginBody,
  },
  CompletionBody,
};
/** What they get. */
const GIVEN = {
  ...{ Session: replies.SessionView, SessionInfo: replies.SessionInfo },
  ...{ SessionPage: replies.SessionPage, SharedSession: replies.SharedView },
  ...{ Imported: replies.Imported, Plan: replies.PlanView, Step, Wait, FileInfo },
  ...{ FileList: replies.FileList, Link: replies.Link, Owner: replies.Owner },
  ...{
    Settings: replies.SettingsView,
    SettingsLayers: replies.SettingsLayers,
    Usage: replies.UsageView,
  },
  ...{ UsageReport: replies.UsageReport, Receipt: replies.Receipt },
  ...{ MessageReceipt: replies.MessageReceipt, TurnResult: replies.TurnResult },
  ...{ Event: frames.StoredEvent, EventPage: frames.EventPage },
  ...{ Health: replies.Health, Config: replies.Config, Failure: replies.Failure },
  ...{ Completion: openai.Completion, CompletionChunk: openai.Chunk, Model: openai.Model },
  ...{ ModelList: openai.ModelList, OpenAIFailure: openai.OpenAIFailure },
};
const FRAMES = { ServerFrame: frames.ServerFrame, LiveFrame: frames.Live };
const CLIENT_FRAMES = { ClientFrame: wire.ClientFrame };

type Named = Record<string, z.ZodType>;

/** JSON Schemas that refer to each other under `base`. */
function schemasOf(named: Named, io: "input" | "output", base: string): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => `${base}${id}`,
    // What no JSON Schema can say (a number of UTF-8 bytes, blank text) is checked and told by the server.
    unrepresentable: "any",
    override: ({ jsonSchema }) => tolerate(jsonSchema as Json),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const { $schema: _, $id: __, ...rest } = schema as Json;
      return [name, rest];
    }),
  );
}

/** Clients must take fields that a later version adds, and the server ignores those it does not know. */
function tolerate(schema: Json): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  // The bounds of whole numbers in JavaScript say nothing.
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

export function componentSchemas(): Record<string, Json> {
  const base = "#/components/schemas/";
  return { ...schemasOf(SENT, "input", base), ...schemasOf(GIVEN, "output", base) };
}

export function frameSchemas(): Record<string, Json> {
  const base = "#/$defs/";
  const { Event, Session, Usage, Settings, Plan, Step, Wait, FileInfo } = GIVEN;
  const given = { Event, Session, Usage, Settings, Plan, Step, Wait, FileInfo, ...FRAMES };
  return { ...schemasOf(CLIENT_FRAMES, "input", base), ...schemasOf(given, "output", base) };
}

/** The parameters of a query. */
export function queryParameters(query: z.ZodObject): Json[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => tolerate(jsonSchema as Json),
  }) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    ...{ name, in: "query", required: required.includes(name), schema },
    ...(description ? { description } : {}),
  }));
}
