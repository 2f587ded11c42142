/** What the flow asks for (`Act`) and what it takes in (`Outcome`). A new kind of either starts here. */

import type { Call } from "./call.ts";
import type { Errand } from "./errand.ts";
import type { Delivery, FileInfo } from "./events.ts";
import type { Boundary, MemoryName, Row } from "./memory.ts";
import type { ModelFailure, Refusal, Reply } from "./ports.ts";
import type { Listed } from "./servers.ts";
import type { Settings, SettingsLayer } from "./settings.ts";
import type { ToolResult } from "./tool.ts";
import type { Usage } from "./usage.ts";

export type Act =
  | { type: "rest" }
  /** Everything that must happen is under way. */
  | { type: "hold" }
  | { type: "sleep"; until: number }
  /** To be sent off, whatever else there is to do: what follows is asked for again. */
  | { type: "errands"; errands: Errand[] }
  /** The turn's MCP servers are to be asked for their tools. */
  | { type: "prepare"; key: string }
  | { type: "ask"; key: string }
  | { type: "run"; calls: Call[] };

/** What people send may set a session to work. `left`: tokens that its owner may still use today; see budget.ts. */
interface Allotted {
  left?: number | null;
}
export interface Said extends Allotted {
  type: "said";
  clientId: string;
  text: string;
  attachments: FileInfo[];
  delivery: Delivery;
  /** Effective settings, for a turn that begins with this message. */
  settings: Settings;
  /** Its sender says that it is a task, whatever it begins with. */
  plain?: boolean;
  /** `traceparent` of whoever sends it: the turn that it begins belongs to their trace. */
  trace?: string;
  /** What was said so far, when this may change the mode: other memories do not know it. */
  before?: string;
}
export type Outcome =
  | Said
  | ({ type: "answered"; clientId: string; text: string } & Allotted)
  | ({ type: "decided"; clientId: string; approved: boolean } & Allotted)
  | { type: "stopped"; clientId: string }
  | { type: "prepared"; era: number; listed: Listed[] }
  | { type: "replied"; era: number; reply: Reply; inputChars: number }
  | { type: "model_failed"; era: number; failure: ModelFailure; inputChars: number }
  | { type: "ran"; era: number; callId: string; result: ToolResult; spent?: Usage | undefined }
  /** `to`: the session that it made; null: none, or it could not be done. */
  | { type: "errand"; id: string; to: string | null }
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
  /** Others have used of what the owner may use today, or there is more of it. `at`: the turn's tokens when it was told. */
  | { type: "allotted"; run: number; left: number; at: number }
  | { type: "lost" }
  /** The platform killed the object for its memory, again and again; or a memory is too large to be loaded. */
  | { type: "out_of_memory" }
  /** An outcome could not be stored, and never will be as it is. */
  | { type: "unstorable"; why: Refusal };
