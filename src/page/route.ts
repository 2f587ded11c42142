/**
 * The address: `#/s/<id>` is a session, `#/shared/<id>` a share, everything else the empty page. Reload and second
 * tabs just work.
 */
import { useEffect, useState } from "preact/hooks";

export type Route = { type: "home" } | { type: "session" | "shared"; id: string };

const read = (): Route => {
  const [, place, id = ""] = /^#\/(s|shared)\/([A-Za-z0-9_-]+)$/.exec(location.hash) ?? [];
  if (!place) return { type: "home" };
  return { type: place === "s" ? "session" : "shared", id };
};

export const sessionHref = (id: string): string => `#/s/${id}`;
/** The whole address of a share, to be given to others. */
export const sharedUrl = (share: string): string => `${location.origin}/#/shared/${share}`;
export const goTo = (id: string | null): void => {
  location.hash = id ? sessionHref(id) : "#/";
};

export function useRoute(): Route {
  const [route, setRoute] = useState(read);
  useEffect(() => {
    const follow = () => setRoute(read());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
