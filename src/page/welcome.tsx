/** The empty page: what it is for, three tasks to try, and where to write the first one. */
import { useRef, useState } from "preact/hooks";
import { newId } from "../client/index.ts";
import type { Mode } from "../core/session.ts";
import type { Config } from "../core/wire.ts";
import { api, errorWords, isSignedOut } from "./api.ts";
import { Composer } from "./composer.tsx";
import { EXAMPLES } from "./examples.ts";
import { Icon, Sleeper } from "./icons.tsx";
import { goTo } from "./route.ts";
import { keepDraft } from "./storage.ts";
import { locale, type StringKey, t } from "./strings.ts";

interface Props {
  config: Config | null;
  onMenu(): void;
  onSignedOut(): void;
}

export function Welcome({ config, onMenu, onSignedOut }: Props) {
  const [mode, setMode] = useState<Mode>("agent");
  const [offer, setOffer] = useState({ text: "", count: 0 });
  const { busy, problem, start } = useStart(mode, onSignedOut, (text) =>
    setOffer((o) => ({ text, count: o.count + 1 })),
  );
  return (
    <main class="conversation" id="main">
      <header class="head only-narrow">
        <button type="button" class="icon-button" onClick={onMenu}>
          <Icon name="panel" />
          <span class="sr-only">{t("showSessions")}</span>
        </button>
      </header>
      <Intro onChoose={(text) => setOffer({ text, count: offer.count + 1 })} />
      <div class="dock">
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <Composer
          name="new"
          mode="idle"
          delivery="steer"
          placeholder={t("messageHint")}
          disabled={busy}
          offer={offer}
          onSend={start}
        >
          <ModePicker mode={mode} modes={config?.modes ?? ["agent"]} onChange={setMode} />
        </Composer>
      </div>
    </main>
  );
}

function Intro({ onChoose }: { onChoose(text: string): void }) {
  return (
    <div class="welcome">
      <Sleeper class="big" />
      <h1>{t("welcome")}</h1>
      <p class="muted">{t("welcomeText")}</p>
      <h2>{t("examples")}</h2>
      <ul class="examples">
        {EXAMPLES[locale].map((example) => (
          <li key={example.title}>
            <button type="button" class="example" onClick={() => onChoose(example.text)}>
              <strong>{example.title}</strong>
              <span>{example.hint}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Creates the session and sends its first message; a second try is never a second session. */
function useStart(mode: Mode, onSignedOut: () => void, giveBack: (text: string) => void) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const key = useRef(newId());
  const start = async (text: string) => {
    setBusy(true);
    setProblem(null);
    try {
      const session = await api.createSession({ mode, key: key.current });
      try {
        await api.sendMessage(session.id, { id: key.current, text });
      } catch (error) {
        if (isSignedOut(error)) throw error;
        keepDraft(session.id, text);
      }
      goTo(session.id);
    } catch (error) {
      giveBack(text);
      if (isSignedOut(error)) onSignedOut();
      else setProblem(errorWords(error));
      setBusy(false);
    }
  };
  return { busy, problem, start: (text: string) => void start(text) };
}

const MODES: Record<Mode, StringKey> = {
  agent: "modeAgent",
  chat: "modeChat",
  workflow: "modeWorkflow",
  direct: "modeDirect",
};
function ModePicker(props: { mode: Mode; modes: Mode[]; onChange(mode: Mode): void }) {
  return (
    <label class="mode">
      <span class="sr-only">{t("mode")}</span>
      <select
        value={props.mode}
        onChange={(e) => {
          const chosen = props.modes.find((mode) => mode === e.currentTarget.value);
          if (chosen) props.onChange(chosen);
        }}
      >
        {props.modes.map((mode) => (
          <option key={mode} value={mode}>
            {t(MODES[mode])}
          </option>
        ))}
      </select>
    </label>
  );
}
