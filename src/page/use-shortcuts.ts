/** Keys that work everywhere: ⌘K or Ctrl-K finds, `?` explains. The list stands in help.tsx. */
import { useEffect } from "preact/hooks";
import type { DialogShown } from "./shell.ts";
import { singleKeys } from "./storage.ts";

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable);

export function useShortcuts(
  open: (dialog: DialogShown) => void,
  openNew: () => void,
  active: boolean,
): void {
  useEffect(() => {
    if (!active) return;
    const press = (event: KeyboardEvent) => {
      const command = (event.metaKey || event.ctrlKey) && !event.altKey;
      const key = event.key.toLowerCase();
      const modal = document.querySelector("dialog[open]") !== null;
      if (event.isComposing || modal) return;
      if (command && key === "k") act(event, () => open({ type: "palette" }));
      else if (command || event.altKey || isField(event.target) || !singleKeys()) return;
      else if (event.key === "?") act(event, () => open({ type: "help" }));
      else if (key === "n") act(event, openNew);
      else if (event.key === "/") act(event, focusComposer);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [active]);
}

function act(event: KeyboardEvent, does: () => void): void {
  event.preventDefault();
  does();
}
const focusComposer = () => document.querySelector<HTMLElement>("#main .dock textarea")?.focus();
