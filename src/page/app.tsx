/** The whole page: who you are, which session is looked at, and the columns around it. */
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Config } from "../core/wire.ts";
import { api } from "./api.ts";
import { Conversation } from "./conversation.tsx";
import { Icon } from "./icons.tsx";
import { goTo, useRoute } from "./route.ts";
import { Sidebar } from "./sidebar.tsx";
import { SignIn } from "./sign-in.tsx";
import { t } from "./strings.ts";
import { useSessions } from "./use-sessions.ts";
import { Welcome } from "./welcome.tsx";

export function App() {
  const route = useRoute();
  const list = useSessions();
  const config = useConfig();
  const [menu, setMenu] = useState(false);
  const openNew = useCallback(() => {
    setMenu(false);
    goTo(null);
  }, []);
  useEffect(() => setMenu(false), [route]);
  useShortcut(openNew);
  if (list.signedOut) return <SignIn onSignedIn={list.reload} />;
  return (
    <div class="app">
      <Skip />
      {config?.practice && <PracticeBanner />}
      <div class="columns">
        <Sidebar
          list={list}
          current={route}
          open={menu}
          onNew={openNew}
          onClose={() => setMenu(false)}
          onSignedOut={list.reload}
        />
        {route ? (
          <Conversation
            key={route}
            id={route}
            onChange={list.reload}
            onMenu={() => setMenu(true)}
          />
        ) : (
          <Welcome config={config} onMenu={() => setMenu(true)} onSignedOut={list.reload} />
        )}
      </div>
    </div>
  );
}

function PracticeBanner() {
  return (
    <p class="banner">
      <Icon name="alert" /> {t("practice")}
    </p>
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

function useConfig(): Config | null {
  const [config, setConfig] = useState<Config | null>(null);
  useEffect(() => {
    // Without it the page works; only the banner and the list of modes are missing.
    api.config().then(setConfig, () => undefined);
  }, []);
  return config;
}

/** Ctrl or ⌘ and K: a new session, from anywhere. */
function useShortcut(openNew: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      openNew();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [openNew]);
}
