/** The address: `#/s/<id>` is a session, everything else the empty page. Reload and second tabs just work. */
import { useEffect, useState } from "preact/hooks";

const read = (): string | null => {
  const match = /^#\/s\/([A-Za-z0-9_-]+)$/.exec(location.hash);
  return match?.[1] ?? null;
};

export const sessionHref = (id: string): string => `#/s/${id}`;
export const goTo = (id: string | null): void => {
  location.hash = id ? sessionHref(id) : "#/";
};

export function useRoute(): string | null {
  const [id, setId] = useState(read);
  useEffect(() => {
    const follow = () => setId(read());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return id;
}
