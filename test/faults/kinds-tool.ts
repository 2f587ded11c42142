/** Faults of the tools: errors, hangs, huge results, and effects whose answer was lost. */
import type { ToolResult } from "../../src/core/tool.ts";
import type { Kind, ToolStruck } from "./kind.ts";

const G = "tool";
const never = (): Promise<ToolResult> => new Promise(() => {});
const QUICK = { limits: { toolTimeoutMs: 60 } };
/** Runs of tools: read, append, read in each of the two steps; read, append in the small task. */
const ANY = {
  first: { big: 1, small: 1 },
  middle: { big: 5, small: 2 },
  last: { big: 6, small: 2 },
};
const WRITES = { first: { big: 2, small: 2 }, last: { big: 5, small: 2 } };
const EFFECT = { group: G, at: WRITES, positions: ["first", "last"] } as const;

const lost =
  (result: ToolResult) =>
  async ({ perform }: ToolStruck): Promise<ToolResult> => {
    await perform();
    return result;
  };
const UNKNOWN: ToolResult = {
  ok: false,
  unknown: true,
  text: "The connection broke after the request was sent; it may have been done.",
};

export const TOOL: readonly Kind[] = [
  {
    name: "tool fails once",
    group: G,
    at: ANY,
    costs: 2,
    tool: async () => ({ ok: false, text: "EAGAIN: try again" }),
  },
  {
    name: "tool fails twice in a row",
    group: G,
    at: ANY,
    times: 2,
    alone: true,
    tool: async () => ({ ok: false, text: "EAGAIN: try again" }),
  },
  {
    name: "tool throws",
    group: G,
    at: ANY,
    costs: 2,
    tool: () => Promise.reject(new Error("ECONNRESET")),
  },
  { name: "tool hangs", group: G, at: ANY, costs: 2, settings: QUICK, tool: never },
  {
    name: "tool result of 400 kB",
    group: G,
    at: ANY,
    costs: 0,
    tool: async ({ perform }) => {
      const { text, ...rest } = await perform();
      return { ...rest, text: `${text}\n${"x🚀\n".repeat(80_000)}` };
    },
  },
  {
    name: "tool result with NULs and half characters",
    group: G,
    at: ANY,
    costs: 0,
    tool: async ({ perform }) => {
      const { text, ...rest } = await perform();
      return { ...rest, text: `${text}\n\0\0\ud83d broken \udc00` };
    },
  },
  { ...EFFECT, name: "effect done, answer lost", costs: 2, tool: lost(UNKNOWN) },
  {
    ...EFFECT,
    name: "effect done, then the tool throws",
    costs: 2,
    tool: async ({ perform }) => {
      await perform();
      throw new Error("socket hang up");
    },
  },
  {
    ...EFFECT,
    name: "effect done, then the tool hangs",
    costs: 2,
    settings: QUICK,
    tool: async ({ perform }) => {
      await perform();
      return never();
    },
  },
  {
    ...EFFECT,
    name: "effect done, answer lost, repeated unseen",
    costs: 1,
    task: { blind: true },
    alone: true,
    tool: lost(UNKNOWN),
  },
  {
    ...EFFECT,
    name: "effect done, tool throws, repeated unseen",
    costs: 1,
    task: { blind: true },
    alone: true,
    tool: async ({ perform }) => {
      await perform();
      throw new Error("socket hang up");
    },
  },
  {
    ...EFFECT,
    name: "effect done, tool hangs, repeated unseen",
    costs: 1,
    task: { blind: true },
    alone: true,
    settings: QUICK,
    tool: async ({ perform }) => {
      await perform();
      return never();
    },
  },
];
