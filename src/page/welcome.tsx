/** The empty page: what it is for, three tasks to try, and where to write the first one. */
import { useRef, useState } from "preact/hooks";
import { type CreateSession, newId } from "../client/index.ts";
import type { Mode } from "../core/session.ts";
import type { Config } from "../core/wire.ts";
import { api, errorWords, isSignedOut } from "./api.ts";
import { Composer } from "./composer.tsx";
import { EXAMPLES } from "./examples.ts";
import { useUploads } from "./files/use-uploads.ts";
import { firstMessage } from "./first-message.ts";
import { IconButton } from "./head.tsx";
import { Sleeper } from "./icons.tsx";
import { goTo } from "./route.ts";
import { keepDraft } from "./storage.ts";
import { locale, type StringKey, t } from "./strings.ts";
import type { Attached } from "./use-outbox.ts";

interface Props {
  config: Config | null;
  onMenu(): void;
  onSignedOut(): void;
}

export function Welcome({ config, onMenu, onSignedOut }: Props) {
  const [mode, setMode] = useState<Mode>("agent");
  const [profile, setProfile] = useState("");
  const [offer, setOffer] = useState({ text: "", count: 0 });
  const { busy, made, problem, session, start } = useStart(
    { mode, ...(profile && { settings: { profile } }) },
    onSignedOut,
    (text) => setOffer((o) => ({ text, count: o.count + 1 })),
  );
  const uploads = useUploads(session);
  const [askedForNew, setAskedForNew] = useState(false);
  const isNothing = (text: string) => {
    const nothing = firstMessage(text, mode) === null;
    setAskedForNew(nothing);
    return nothing;
  };
  return (
    <main class="conversation" id="main">
      <header class="head only-narrow">
        <IconButton icon="panel" label={t("showSessions")} onClick={onMenu} />
      </header>
      <Intro onChoose={(text) => setOffer({ text, count: offer.count + 1 })} />
      <div class="dock">
        <p class="muted" role="status">
          {askedForNew && t("alreadyNew")}
        </p>
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
          uploads={uploads}
          isNothing={isNothing}
          onSend={(text, files) => start(firstMessage(text, mode) ?? text, files)}
        >
          <ModePicker
            mode={mode}
            modes={config?.modes ?? ["agent"]}
            fixed={made}
            onChange={setMode}
          />
          <ProfilePicker
            profile={profile}
            profiles={config?.profiles ?? []}
            fixed={made}
            onChange={setProfile}
          />
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

/** Creates the session, at the latest for its first message; a second try is never a second session. */
function useStart(how: CreateSession, onSignedOut: () => void, giveBack: (text: string) => void) {
  const [busy, setBusy] = useState(false);
  /** The session is there: how it works can no longer be chosen. */
  const [made, setMade] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const key = useRef(newId());
  const coming = useRef<Promise<string> | null>(null);
  const session = (): Promise<string> => {
    coming.current ??= api.createSession({ ...how, key: key.current }).then(
      ({ id }) => {
        setMade(true);
        return id;
      },
      (error: unknown) => {
        coming.current = null;
        throw error;
      },
    );
    return coming.current;
  };
  const start = async (text: string, files: Attached[]) => {
    setBusy(true);
    setProblem(null);
    const attachments = files.map((file) => file.path);
    try {
      const id = await session();
      try {
        await api.sendMessage(id, { id: key.current, text, attachments });
      } catch (error) {
        if (isSignedOut(error)) throw error;
        keepDraft(id, text);
      }
      goTo(id);
    } catch (error) {
      giveBack(text);
      if (isSignedOut(error)) onSignedOut();
      else setProblem(errorWords(error));
      setBusy(false);
    }
  };
  const send = (text: string, files: Attached[]) => void start(text, files);
  return { busy, made, problem, session, start: send };
}

const MODES: Record<Mode, StringKey> = {
  agent: "modeAgent",
  chat: "modeChat",
  workflow: "modeWorkflow",
  direct: "modeDirect",
};
interface ModeProps {
  mode: Mode;
  modes: Mode[];
  fixed: boolean;
  onChange(mode: Mode): void;
}
function ModePicker(props: ModeProps) {
  return (
    <label class="mode">
      <span class="sr-only">{t("mode")}</span>
      <select
        value={props.mode}
        disabled={props.fixed}
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

interface ProfileProps {
  profile: string;
  profiles: string[];
  fixed: boolean;
  onChange(profile: string): void;
}
function ProfilePicker({ profile, profiles, fixed, onChange }: ProfileProps) {
  if (profiles.length === 0) return null;
  return (
    <label class="mode">
      <span class="sr-only">{t("profile")}</span>
      <select value={profile} disabled={fixed} onChange={(e) => onChange(e.currentTarget.value)}>
        <option value="">{t("noProfile")}</option>
        {profiles.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
