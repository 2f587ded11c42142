/** A sandbox that this deployment asks for and cannot have: every call says so. Never a fallback to another. */
import { type Box, BoxUnavailable } from "../../tools/box.ts";

export function absentBox(kind: Box["kind"], why: string): Box {
  const refuse = (): Promise<never> => Promise.reject(new BoxUnavailable(why));
  return {
    kind,
    about: why,
    exec: refuse,
    read: refuse,
    write: refuse,
    list: refuse,
    outside: () => {},
    news: () => null,
    rest: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
}
