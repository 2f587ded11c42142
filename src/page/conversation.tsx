/** One session in the middle: its head, its timeline, and the dock where you answer or write. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { announcement } from "./activity.ts";
import { api, errorWords } from "./api.ts";
import { Ask } from "./ask.tsx";
import { Composer } from "./composer.tsx";
import { Detail, type Shown } from "./detail.tsx";
import { Icon } from "./icons.tsx";
import { goTo } from "./route.ts";
import { StateMark } from "./status.tsx";
import { t } from "./strings.ts";
import { Timeline } from "./timeline.tsx";
import { type LiveSession, useSession } from "./use-session.ts";

interface Props {
  id: string;
  /** The list has to be asked for again. */
  onChange(): void;
  onMenu(): void;
}

export function Conversation({ id, onChange, onMenu }: Props) {
  const session = useSession(id);
  const { view } = session;
  const { shown, select, toggleFiles, close } = useDetail();
  useEffect(() => {
    if (session.ready || session.gone) onChange();
  }, [view.status, view.title, session.ready, session.gone]);
  useTitle(session);
  if (session.gone) return <Gone session={session} />;
  return (
    <>
      <main class="conversation" id="main">
        <Head
          session={session}
          onMenu={onMenu}
          onFiles={toggleFiles}
          onRemoved={() => {
            goTo(null);
            onChange();
          }}
        />
        <Timeline
          session={session}
          selected={shown?.type === "tool" ? shown.id : null}
          onSelect={select}
        />
        <Dock session={session} />
        <p class="sr-only" aria-live="polite">
          {session.ready ? announcement(view) : ""}
        </p>
      </main>
      <Detail shown={shown} view={view} session={id} onClose={close} />
    </>
  );
}

/** What the right column shows; choosing the same thing again closes it, and so does Escape. */
function useDetail() {
  const [shown, setShown] = useState<Shown>(null);
  const select = useCallback(
    (id: string) =>
      setShown((now) => (now?.type === "tool" && now.id === id ? null : { type: "tool", id })),
    [],
  );
  const toggleFiles = () => setShown((now) => (now?.type === "files" ? null : { type: "files" }));
  const close = useCallback(() => setShown(null), []);
  useEscape(shown !== null, close);
  return { shown, select, toggleFiles, close };
}

function useTitle({ view, ready }: LiveSession): void {
  const waits = view.wait !== null;
  useEffect(() => {
    const name = ready ? view.title || t("untitled") : t("product");
    document.title = waits ? `${t("badge")} · ${name}` : name;
    return () => {
      document.title = t("product");
    };
  }, [waits, view.title, ready]);
}

function useEscape(active: boolean, close: () => void): void {
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    if (!active) return;
    const press = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.isComposing) latest.current();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [active]);
}

function Head(props: { session: LiveSession; onMenu(): void; onFiles(): void; onRemoved(): void }) {
  const { session, onMenu, onFiles, onRemoved } = props;
  const { view, ready } = session;
  return (
    <header class="head">
      <button type="button" class="icon-button only-narrow" onClick={onMenu}>
        <Icon name="panel" />
        <span class="sr-only">{t("showSessions")}</span>
      </button>
      <h1>{ready ? view.title || t("untitled") : t("connecting")}</h1>
      {ready && (
        <span class="status" data-testid="status" data-status={view.status}>
          <StateMark state={view.status} />
        </span>
      )}
      {session.connection === "offline" && (
        <span class="offline" role="status">
          <Icon name="alert" /> {t("offline")}
        </span>
      )}
      <span class="head-actions">
        <button type="button" class="icon-button" onClick={onFiles} title={t("filesUsage")}>
          <Icon name="folder" />
          <span class="sr-only">{t("filesUsage")}</span>
        </button>
        <RemoveButton id={session.id} onRemoved={onRemoved} />
      </span>
    </header>
  );
}

function RemoveButton({ id, onRemoved }: { id: string; onRemoved(): void }) {
  const [sure, setSure] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (!sure) {
    return (
      <button
        type="button"
        class="icon-button"
        onClick={() => setSure(true)}
        title={problem ?? t("remove")}
      >
        <Icon name="trash" />
        <span class="sr-only">{t("remove")}</span>
      </button>
    );
  }
  const failed = (error: unknown) => {
    setProblem(errorWords(error));
    setSure(false);
  };
  return (
    <button
      type="button"
      class="button danger"
      onBlur={() => setSure(false)}
      onClick={() => void api.deleteSession(id).then(onRemoved, failed)}
    >
      {t("removeSure")}
    </button>
  );
}

function Dock({ session }: { session: LiveSession }) {
  const { view } = session;
  const { wait } = view;
  const answer = wait && (
    <Ask
      key={wait.wait_id}
      wait={wait}
      onAnswer={(given) => session.answer(wait.wait_id, given)}
      onStop={session.stop}
    />
  );
  if (wait?.kind === "question") return <div class="dock">{answer}</div>;
  const running = view.status === "running";
  return (
    <div class="dock">
      {answer}
      <Composer
        name={session.id}
        mode={wait ? "held" : running ? "running" : "idle"}
        delivery={view.snapshot?.settings.onBusyMessage ?? "steer"}
        placeholder={t(running ? "steerHint" : "replyHint")}
        onSend={session.send}
        {...(running && { onStop: session.stop })}
      />
    </div>
  );
}

function Gone({ session }: { session: LiveSession }) {
  return (
    <main class="conversation empty" id="main">
      <div class="notice-box">
        <p>{session.gone ? errorWords(session.gone) : ""}</p>
        <button type="button" class="button primary" onClick={() => goTo(null)}>
          {t("home")}
        </button>
      </div>
    </main>
  );
}
