/** What a fault is: where it strikes, what it does, and what must come of it. */
import type { ErrorCode } from "../../src/core/events.ts";
import type { SettingsLayer } from "../../src/core/settings.ts";
import type { ToolResult } from "../../src/core/tool.ts";
import type { McpFault } from "../support/mcp-script.ts";
import type { Body, Task } from "./model.ts";
import type { Manner, Spoken } from "./spoken.ts";

export type Format = "sse" | "json";
export type Position = "first" | "middle" | "last";
export const POSITIONS: readonly Position[] = ["first", "middle", "last"];

/** What the server does with one request. */
export type Answer =
  | { type: "say"; spoken: Spoken; manner?: Manner }
  | { type: "http"; status: number; headers?: Record<string, string>; body: string }
  | {
      type: "bytes";
      parts: (string | Uint8Array)[];
      gapMs?: number;
      /** `reset` breaks the connection, `hang` neither ends nor closes. */
      end: "end" | "reset" | "hang";
      contentType?: string;
    }
  /** Broken before the response head. */
  | { type: "drop" }
  /** Accepted, and never answered. */
  | { type: "hang" };

export interface Struck {
  body: Body;
  raw: string;
  /** What would have been right. */
  right: Spoken;
  /** 0 for the first request that the fault meets, then 1, 2 … */
  nth: number;
  format: Format;
  /** Kept from one request to the next, for one fault of one run. */
  memo: Record<string, number>;
}

export interface ToolStruck {
  /** Does what the tool does. */
  perform(): Promise<ToolResult>;
  signal: AbortSignal;
}

export interface Kind {
  name: string;
  group: "transport" | "content" | "endpoint" | "tool" | "mcp" | "fatal" | "for ever";
  positions?: readonly Position[];
  /** Which call stands for a position, when it is not the usual one; the small task has one step. */
  at?: Partial<Record<Position, { big: number; small: number }>>;
  formats?: readonly Format[];
  settings?: SettingsLayer;
  /** `CUSTOM_MODEL_PROFILE`. */
  profile?: object;
  task?: Partial<Task>;
  /** The one task it is for. */
  size?: "big" | "small";
  /** Characters that every read of the ledger has beside the ledger. */
  padding?: number;
  /** Every reply carries reasoning. */
  thinks?: boolean;
  /** Requests that it meets in a row; default 1. */
  times?: number;
  /** null: this request is answered rightly. */
  strike?: (struck: Struck) => Answer | null;
  /** On the side of an MCP server, for each call of a tool; positions are then calls. */
  mcp?: McpFault;
  /** The session's object dies under the call, and comes back. */
  dies?: true;
  /** Of an MCP server that does not claim to know the keys of its calls, though it does. */
  modest?: true;
  /** On the tool side; positions are then runs of tools. */
  tool?: (struck: ToolStruck) => Promise<ToolResult>;
  /** Extra model requests that it may cost; default 5. */
  costs?: number;
  /** It is waited for at least so long before the next request. */
  waitsMs?: number;
  /** The turn must end with this error; after the fault is gone the next message must work. */
  loud?: readonly ErrorCode[];
  /** It may end without an error event when this notice says why. */
  notice?: string;
  /** Requests that a loud fault may meet; default 2. */
  meets?: number;
  /** It is no fault to draw by lot in chaos. */
  alone?: true;
}

export const say = (spoken: Spoken, manner?: Manner): Answer => ({
  type: "say",
  spoken,
  ...(manner ? { manner } : {}),
});
/** Text that must never reach a client as something the model said in earnest. */
export const JUNK = "JUNKTEXT";
