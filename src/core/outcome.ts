/** What the flow asks for (`Act`) and what it takes in (`Outcome`). A new kind of either starts here. */

import type { Call } from "./call.ts";
import type { Delivery, FileInfo } from "./events.ts";
import type { Boundary, MemoryName, Row } from "./memory.ts";
import type { ModelFailure, Reply } from "./ports.ts";
import type { Listed } from "./servers.ts";
import type { Settings, SettingsLayer } from "./settings.ts";
import type { ToolResult } from "./tool.ts";

export type Act =
  | { type: "rest" }
  /** Everything that must happen is under way. */
  | { type: "hold" }
  | { type: "sleep"; until: number }
  /** The turn's MCP servers are to be asked for their tools. */
  | { type: "prepare"; key: string }
  | { type: "ask"; key: string }
  | { type: "run"; calls: Call[] };

export interface Said {
  type: "said";
  clientId: string;
  text: string;
  attachments: FileInfo[];
  delivery: Delivery;
  /** Effective settings, for a turn that begins with this message. */
  settings: Settings;
  /** Its sender says that it is a task, whatever it begins with. */
  plain?: boolean;
  /** What was said so far, when this may change the mode: other memories do not know it. */
  before?: string;
}
export type Outcome =
  | Said
  | { type: "answered"; clientId: string; text: string }
  | { type: "decided"; clientId: string; approved: boolean }
  | { type: "stopped"; clientId: string }
  | { type: "prepared"; era: number; listed: Listed[] }
  | { type: "replied"; era: number; reply: Reply; inputChars: number }
  | { type: "model_failed"; era: number; failure: ModelFailure; inputChars: number }
  | { type: "ran"; era: number; callId: string; result: ToolResult }
  | { type: "repaired"; memory: MemoryName; rows: Row[] }
  | { type: "compacted"; memory: MemoryName; boundary: Boundary; from: number }
  /** `settings`: the whole layer as it is to be from now on. */
  | { type: "patched"; title?: string; pinned?: boolean; settings?: SettingsLayer }
  /** A queued message is changed, or taken back; `id`: the client's of it, or its own. */
  | {
      type: "edited";
      id: string;
      text?: string | undefined;
      delivery?: Exclude<Delivery, "reject"> | undefined;
    }
  | { type: "removed"; id: string }
  /** Files changed from outside, by an upload or a delete. */
  | { type: "touched" }
  /** The sandbox has something to say to people. */
  | { type: "noticed"; code: "sandbox_starting" | "sandbox_restored" }
  | { type: "lost" }
  /** The platform killed the object for its memory, again and again. */
  | { type: "out_of_memory" };
