/** The top of a session: its name, how it stands, and what can be done with it. */
import { useContext, useState } from "preact/hooks";
import type { SessionInfo } from "../core/wire.ts";
import { Icon, type IconName } from "./icons.tsx";
import { canNotify, isNotifying, startNotifying, stopNotifying } from "./notify.ts";
import { SessionMenu } from "./session-menu.tsx";
import { Shell } from "./shell.ts";
import { StateMark } from "./status.tsx";
import { t } from "./strings.ts";
import type { LiveSession } from "./use-session.ts";

interface Props {
  session: LiveSession;
  onMenu(): void;
  onFiles(): void;
}

export function Head({ session, onMenu, onFiles }: Props) {
  const { view, ready } = session;
  return (
    <header class="head">
      <IconButton icon="panel" label={t("showSessions")} more="only-narrow" onClick={onMenu} />
      <h1 dir="auto">{ready ? view.title || t("untitled") : t("connecting")}</h1>
      {ready && (
        <span class="status" data-testid="status" data-status={view.status}>
          <StateMark state={view.status} />
        </span>
      )}
      {session.connection === "offline" && (
        <span class="offline" role="status" data-testid="offline">
          <Icon name="alert" /> {t("offline")}
        </span>
      )}
      <span class="head-actions">
        <Bell />
        <IconButton icon="folder" label={t("filesUsage")} onClick={onFiles} />
        {view.snapshot && <SessionMenu session={infoOf(session, view.snapshot)} />}
      </span>
    </header>
  );
}

/** The snapshot may be older than what events said since. */
const infoOf = ({ view }: LiveSession, snapshot: SessionInfo): SessionInfo => ({
  ...snapshot,
  title: view.title,
  status: view.status,
});

export function IconButton(props: {
  icon: IconName;
  label: string;
  more?: string;
  pressed?: boolean;
  onClick(): void;
}) {
  return (
    <button
      type="button"
      class={`icon-button ${props.more ?? ""}`}
      title={props.label}
      aria-pressed={props.pressed}
      onClick={props.onClick}
    >
      <Icon name={props.icon} />
      <span class="sr-only">{props.label}</span>
    </button>
  );
}

function Bell() {
  const shell = useContext(Shell);
  const [on, setOn] = useState(isNotifying);
  if (!canNotify()) return null;
  const toggle = async () => {
    if (on) stopNotifying();
    const now = !on && (await startNotifying());
    setOn(now);
    shell.say({ text: t(now ? "notifyOn" : on ? "notifyOff" : "notifyRefused") });
  };
  return <IconButton icon="bell" label={t("notify")} pressed={on} onClick={() => void toggle()} />;
}
