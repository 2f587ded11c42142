/**
 * The address: `#/s/<id>` is a session, `/shared/<id>` a share, everything else the empty page. Reload and second tabs
 * just work.
 */
import { useEffect, useState } from "preact/hooks";

export type Route = { type: "home" } | { type: "session" | "shared"; id: string };

const read = (): Route => {
  const shared = /^\/shared\/([A-Za-z0-9_-]+)\/?$/.exec(location.pathname)?.[1];
  if (shared) return { type: "shared", id: shared };
  const id = /^#\/s\/([A-Za-z0-9_-]+)$/.exec(location.hash)?.[1];
  return id ? { type: "session", id } : { type: "home" };
};

export const sessionHref = (id: string): string => `#/s/${id}`;
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
