/** Notifications of the browser: asked for by a click only, sent only while nobody looks. */
import { goTo } from "./route.ts";
import { readChoice, writeChoice } from "./storage.ts";

const KEY = "notify";
export const canNotify = (): boolean => "Notification" in globalThis;
export const isNotifying = (): boolean =>
  canNotify() && Notification.permission === "granted" && readChoice(KEY) === "yes";

/** true: it will. false: the browser, or its user, said no. */
export async function startNotifying(): Promise<boolean> {
  if (!canNotify()) return false;
  const granted = (await Notification.requestPermission()) === "granted";
  writeChoice(KEY, granted ? "yes" : "no");
  return granted;
}
export const stopNotifying = (): void => writeChoice(KEY, "no");

/** A second one of the same session takes the place of the first. Choosing it goes there. */
export function notify(title: string, body: string, session: string): void {
  if (!isNotifying() || document.visibilityState === "visible") return;
  try {
    const note = new Notification(title, { body, tag: session, icon: "/favicon.svg" });
    note.onclick = () => {
      focus();
      goTo(session);
      note.close();
    };
  } catch {
    // Some phones only allow them from a service worker.
  }
}
