/** What any part of the page can ask of the whole: a dialog, a few words at its edge, the list anew. */
import { createContext } from "preact";
import type { SessionInfo } from "../core/wire.ts";

export type DialogShown =
  | { type: "settings"; session: SessionInfo | null }
  | { type: "rename"; session: SessionInfo }
  | { type: "share"; session: SessionInfo }
  | { type: "help" }
  | { type: "palette" };

export interface Notice {
  text: string;
  problem?: boolean;
  action?: { label: string; act(): void };
}

export interface Shell {
  open(dialog: DialogShown): void;
  say(notice: Notice): void;
  /** Asks for the list of sessions again. */
  reload(): void;
  /** Deletes it in a moment; until then it can be undone. */
  remove(session: SessionInfo): void;
}

const none = () => undefined;
export const Shell = createContext<Shell>({ open: none, say: none, reload: none, remove: none });
