/**
 * What has to be done outside and no turn holds together: a new session in this one's place, a specialist that is
 * wanted no longer.
 *
 * R1  It is stored with the commit that wants it, and sent off again after a crash until its outcome is kept; whoever
 *     runs it does it once, by its id.
 * R2  It is of no era: a stop, a new turn, a wait do not call it back.
 */
import type { Session } from "./session.ts";
import type { Locale } from "./text.ts";

/** `/new`. */
export interface Rotation {
  type: "rotate";
  id: string;
  /** The client's id of the message that asked for it: the new session's id follows from it. */
  client: string;
  /** What is said there first; "": nothing. */
  text: string;
  /** The era of the turn that is nothing but this command; null: it was said beside a turn. */
  era: number | null;
  /** In which its end is told. */
  locale: Locale;
}
/** What a call has started outside is to end. */
export interface Release {
  type: "release";
  id: string;
  call: string;
}
export type Errand = Rotation | Release;

export const isRotation = (errand: Errand): errand is Rotation => errand.type === "rotate";

/** The turn under way is a command that waits for its errand, and asks no model. */
export const waitsForErrand = (s: Session): boolean =>
  s.errands.some((errand) => isRotation(errand) && errand.era === s.era);

export const released = (call: string): Release => ({
  type: "release",
  id: `release:${call}`,
  call,
});
