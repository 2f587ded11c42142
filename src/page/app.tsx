/** The whole page: who you are, which session is looked at, and the columns around it. */
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { Config } from "../core/wire.ts";
import { api } from "./api.ts";
import { Conversation } from "./conversation.tsx";
import { Dialogs } from "./dialogs.tsx";
import { Icon } from "./icons.tsx";
import { lazyPart, useLazy } from "./lazy.ts";
import { Notices, useNotices } from "./notices.tsx";
import { useNewsOfOthers } from "./others.ts";
import { goTo, useRoute } from "./route.ts";
import { type DialogShown, Shell } from "./shell.ts";
import { Sidebar } from "./sidebar.tsx";
import { SignIn } from "./sign-in.tsx";
import { t } from "./strings.ts";
import { useRemoval } from "./use-removal.ts";
import { type SessionList, useSessions } from "./use-sessions.ts";
import { useShortcuts } from "./use-shortcuts.ts";
import { Welcome } from "./welcome.tsx";

const shared = lazyPart(() => import("./share/shared.tsx"));

export function App() {
  const route = useRoute();
  return route.type === "shared" ? <SharedPage key={route.id} id={route.id} /> : <Own />;
}

/** A share needs no sign-in and nothing of the rest. */
function SharedPage({ id }: { id: string }) {
  const part = useLazy(shared);
  return part ? <part.Shared id={id} /> : <p class="loading">{t("loading")}</p>;
}

function Own() {
  const route = useRoute();
  const current = route.type === "session" ? route.id : null;
  const all = useSessions();
  const config = useConfig(all.signedOut);
  const [menu, setMenu] = useState(false);
  const [dialog, open] = useState<DialogShown | null>(null);
  const { notice, say, clear } = useNotices();
  const removal = useRemoval(say, all.reload);
  const shell = useMemo<Shell>(
    () => ({
      open,
      say,
      reload: all.reload,
      remove: (session) => {
        removal.remove(session);
        if (location.hash.endsWith(`/${session.id}`)) goTo(null);
      },
    }),
    [all.reload],
  );
  const openNew = useCallback(() => {
    setMenu(false);
    goTo(null);
  }, []);
  useEffect(() => setMenu(false), [route]);
  useSheet(menu, () => setMenu(false));
  useShortcuts(open, openNew, !all.signedOut);
  const list = without(all, removal.hidden);
  useTabMark(list, current);
  useNewsOfOthers(list.loaded, list.sessions, current);
  if (all.signedOut) return <SignIn onSignedIn={all.reload} />;
  return (
    <Shell.Provider value={shell}>
      <div class="app">
        <Skip />
        {config?.practice && <PracticeBanner />}
        <div class="columns">
          <Sidebar
            list={list}
            current={current}
            open={menu}
            onNew={openNew}
            onClose={() => setMenu(false)}
            onSignedOut={all.reload}
          />
          {current ? (
            <Conversation
              key={current}
              id={current}
              onChange={all.reload}
              onMenu={() => setMenu(true)}
            />
          ) : (
            <Welcome config={config} onMenu={() => setMenu(true)} onSignedOut={all.reload} />
          )}
        </div>
        <Dialogs shown={dialog} config={config} list={list} onShow={open} />
        <Notices notice={notice} onClear={clear} />
      </div>
    </Shell.Provider>
  );
}

/** On a phone the list is a sheet: whoever opens it is taken into it, and Escape closes it. */
function useSheet(open: boolean, close: () => void): void {
  useEffect(() => {
    if (!open) return;
    const opener = document.activeElement;
    document.querySelector<HTMLElement>(".sidebar .new-session")?.focus();
    const press = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) close();
    };
    addEventListener("keydown", press);
    return () => {
      removeEventListener("keydown", press);
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, [open]);
}

const without = (list: SessionList, hidden: ReadonlySet<string>): SessionList =>
  hidden.size === 0
    ? list
    : { ...list, sessions: list.sessions.filter((session) => !hidden.has(session.id)) };

/** Something waits for an answer: the tab's picture says so wherever the reader is. */
function useTabMark(list: SessionList, current: string | null): void {
  const waiting = list.sessions.some((session) => session.status === "waiting");
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    const name = waiting ? "/favicon-waiting.svg" : "/favicon.svg";
    if (icon && icon.getAttribute("href") !== name) icon.href = name;
    if (current === null)
      document.title = waiting ? `${t("badge")} · ${t("product")}` : t("product");
  }, [waiting, current]);
}

function PracticeBanner() {
  return (
    <aside class="banner" aria-label={t("practiceName")}>
      <Icon name="alert" /> <span>{t("practice")}</span>
    </aside>
  );
}

function Skip() {
  const skip = () => document.querySelector<HTMLElement>("#main textarea, #main button")?.focus();
  return (
    <button type="button" class="skip" onClick={skip}>
      {t("skip")}
    </button>
  );
}

/** What it may say depends on who asks: after signing in it is asked for again. */
function useConfig(signedOut: boolean): Config | null {
  const [config, setConfig] = useState<Config | null>(null);
  useEffect(() => {
    // Without it the page works; only the banner and the list of modes are missing.
    if (!signedOut) api.config().then(setConfig, () => undefined);
  }, [signedOut]);
  return config;
}
