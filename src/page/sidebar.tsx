/** The list of sessions: what needs you, what works, what is done. */
import { useContext, useRef } from "preact/hooks";
import type { SessionInfo } from "../core/wire.ts";
import { api, errorWords } from "./api.ts";
import { IconButton } from "./head.tsx";
import { Icon } from "./icons.tsx";
import { goTo, sessionHref } from "./route.ts";
import { SessionMenu } from "./session-menu.tsx";
import { Shell } from "./shell.ts";
import { StateMark } from "./status.tsx";
import { t } from "./strings.ts";
import { ago, exact, useNow } from "./time.ts";
import type { SessionList } from "./use-sessions.ts";

interface Props {
  list: SessionList;
  current: string | null;
  open: boolean;
  onNew(): void;
  onClose(): void;
  onSignedOut(): void;
}

export function Sidebar({ list, current, open, onNew, onClose, onSignedOut }: Props) {
  const now = useNow(true, 20_000);
  const waiting = list.sessions.filter((s) => s.status === "waiting").length;
  return (
    <nav class={`sidebar ${open ? "open" : ""}`} aria-label={t("sessions")}>
      <Brand onClose={onClose} />
      <button type="button" class="button new-session" onClick={onNew}>
        <Icon name="plus" /> {t("newSession")} <span class="key">N</span>
      </button>
      <Search list={list} />
      {waiting > 0 && (
        <p class="waiting-count">
          <Icon name="dot" /> {t("waitingCount", { n: waiting })}
        </p>
      )}
      <ul class="session-list">
        {list.sessions.map((info) => (
          <SessionRow key={info.id} info={info} now={now} current={info.id === current} />
        ))}
      </ul>
      {list.loaded && list.sessions.length === 0 && (
        <p class={list.error ? "problem pad" : "muted pad"}>
          {list.error ?? t(list.query ? "noMatches" : "noSessions")}
        </p>
      )}
      {list.hasMore && (
        <button type="button" class="link-button" onClick={list.more}>
          {t("more")}
        </button>
      )}
      <Footer onSignedOut={onSignedOut} />
    </nav>
  );
}

function Brand({ onClose }: { onClose(): void }) {
  return (
    <div class="brand">
      <img src="/favicon.svg" alt="" width="28" height="28" />
      <strong>{t("product")}</strong>
      <button type="button" class="icon-button only-narrow" onClick={onClose} title={t("close")}>
        <Icon name="cross" />
        <span class="sr-only">{t("close")}</span>
      </button>
    </div>
  );
}

function Search({ list }: { list: SessionList }) {
  return (
    <label class="search">
      <Icon name="search" />
      <span class="sr-only">{t("search")}</span>
      <input
        type="search"
        placeholder={t("search")}
        value={list.query}
        onInput={(e) => list.setQuery(e.currentTarget.value)}
      />
    </label>
  );
}

function SessionRow(props: { info: SessionInfo; now: number; current: boolean }) {
  const { info, now, current } = props;
  return (
    <li class={`session-item ${info.pinned ? "is-pinned" : ""}`} data-testid="session">
      <a
        class="session-row"
        href={sessionHref(info.id)}
        aria-current={current ? "page" : undefined}
      >
        <span class="session-title" dir="auto">
          {info.pinned && <Icon name="pin" class="pin" />}
          {info.title || t("untitled")}
        </span>
        <span class="session-meta">
          <StateMark state={info.status} />
          <time dateTime={info.updated_at} title={exact(info.updated_at)}>
            {ago(info.updated_at, now)}
          </time>
        </span>
      </a>
      <SessionMenu session={info} small />
    </li>
  );
}

function Footer({ onSignedOut }: { onSignedOut(): void }) {
  const shell = useContext(Shell);
  return (
    <div class="sidebar-foot">
      <button
        type="button"
        class="link-button"
        onClick={() => shell.open({ type: "settings", session: null })}
      >
        <Icon name="gear" /> {t("settings")}
      </button>
      <span class="sidebar-tools">
        <ImportButton />
        <IconButton
          icon="help"
          label={t("shortcuts")}
          onClick={() => shell.open({ type: "help" })}
        />
        <IconButton
          icon="exit"
          label={t("signOut")}
          onClick={() => void api.logout().then(onSignedOut, onSignedOut)}
        />
      </span>
    </div>
  );
}

function ImportButton() {
  const shell = useContext(Shell);
  const input = useRef<HTMLInputElement>(null);
  const take = (file: File | undefined) => {
    if (!file) return;
    api.importSession(file).then(
      (session) => {
        goTo(session.id);
        shell.reload();
        shell.say({ text: t("imported") });
      },
      (error: unknown) => shell.say({ text: errorWords(error), problem: true }),
    );
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept=".jsonl,application/jsonl"
        hidden
        data-testid="import-file"
        onChange={(e) => {
          take(e.currentTarget.files?.[0]);
          e.currentTarget.value = "";
        }}
      />
      <IconButton icon="up" label={t("import")} onClick={() => input.current?.click()} />
    </>
  );
}
