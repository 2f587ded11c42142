/** A status or a step's state as an icon and a word; never as a colour alone. */
import type { Status as StatusName } from "../core/events.ts";
import { Icon, type IconName } from "./icons.tsx";
import { t } from "./strings.ts";

type State = StatusName | "pending" | "lost";
const ICONS: Record<State, IconName> = {
  idle: "ring",
  running: "half",
  waiting: "dot",
  completed: "check",
  failed: "cross",
  stopped: "square",
  pending: "ring",
  lost: "square",
};

export function StateMark({ state, quiet = false }: { state: State; quiet?: boolean }) {
  return (
    <span class={`state state-${state}`}>
      <Icon name={ICONS[state]} />
      <span class={quiet ? "sr-only" : ""}>{t(state)}</span>
    </span>
  );
}
