/**
 * A session as lines of JSON: a header, then its events with the resting points between them, its memories, its
 * files in chunks. What comes from outside is held against these schemas, line by line.
 */
import * as z from "zod";
import { EventBody } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import { Rest } from "../core/rest.ts";
import { SettingsBody } from "../core/wire.ts";

/** Raised when a reader of today could not read tomorrow's lines. */
export const FORMAT = 1;

export const Header = z.lazy(() =>
  z.object({
    type: z.literal("header"),
    dormouse: z.int(),
    session: z.object({ id: z.string().max(100), settings: SettingsBody, rest: Rest }),
  }),
);
export type Header = z.infer<typeof Header>;

const Call = () =>
  z.object({
    id: z.string().min(1).max(200),
    type: z.literal("function"),
    function: z.object({
      name: z.string().min(1).max(200),
      arguments: z.string().refine(isObject),
    }),
  });
function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
/** A message as a role's memory keeps it; keys of ours alone, in our order, so that its bytes stay the same. */
const Message = () =>
  z.union([
    z.object({ role: z.literal("user"), content: z.string() }),
    z.object({ role: z.literal("tool"), tool_call_id: z.string().max(200), content: z.string() }),
    z.object({
      role: z.literal("assistant"),
      content: z.string().nullable(),
      tool_calls: z
        .array(Call())
        .min(1)
        .max(LIMITS.replyCalls)
        .refine((calls) => new Set(calls.map((c) => c.id)).size === calls.length)
        .optional(),
      reasoning_content: z.string().optional(),
    }),
  ]);
const RowId = () =>
  z
    .int()
    .min(1)
    .max(2 ** 40);

export const Line = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("rest"), rest: Rest }),
    z.object({
      type: z.literal("memory"),
      id: RowId(),
      memory: z.enum(["planner", "executor", "reviewer", "assistant"]),
      kind: z.enum(["prompt", "said", "answer", "reply", "result", "nudge", "hint"]),
      message: Message(),
    }),
    z.object({
      type: z.literal("file"),
      path: z.string().max(4096),
      kind: z.enum(["file", "folder"]),
      size: z.int().min(0),
      mode: z.int().min(0).max(0o7777),
      modified: z.int().min(0).max(8.64e15),
    }),
    z.object({ type: z.literal("chunk"), data: z.base64() }),
    z.object({ type: z.literal("end") }),
  ]),
);
export type Line = z.infer<typeof Line>;

/** An event's own time, and what it says; its number and its session are given anew. */
export const EventLine = z.lazy(() =>
  z.intersection(z.object({ ts: z.iso.datetime() }), EventBody),
);
