/** Settings: of this page in this browser, of everything you own, or of one session. */
import { useContext, useEffect, useState } from "preact/hooks";
import { ApiError } from "../../client/index.ts";
import type { Config, SessionInfo, SettingsLayers } from "../../core/wire.ts";
import { api, errorWords } from "../api.ts";
import { Dialog } from "../dialog.tsx";
import { Shell } from "../shell.ts";
import {
  applyTheme,
  readChoice,
  readTheme,
  setSingleKeys,
  singleKeys,
  writeChoice,
} from "../storage.ts";
import { LOCALE_CHOICE, t } from "../strings.ts";
import { type Draft, isUnfinished, toDraft, toPatch } from "./draft.ts";
import { ChoiceField, SwitchField } from "./fields.tsx";
import { SettingsForm } from "./form.tsx";

interface Props {
  /** null: the owner's settings only. */
  session: SessionInfo | null;
  config: Config | null;
  onClose(): void;
}

export function SettingsDialog({ session, config, onClose }: Props) {
  return (
    <Dialog
      title={session ? t("sessionSettings") : t("settings")}
      kind="settings"
      onClose={onClose}
    >
      {session ? (
        <p class="muted" dir="auto">
          {session.title || t("untitled")} · {t("fromNextTurn")}
        </p>
      ) : (
        <PageFields />
      )}
      <Stored session={session} config={config} onClose={onClose} />
    </Dialog>
  );
}

/** Kept by the browser, in force at once. */
function PageFields() {
  const [theme, setTheme] = useState(readTheme);
  const [keys, setKeys] = useState(singleKeys);
  const held = readChoice(LOCALE_CHOICE);
  return (
    <>
      <div class="field-row">
        <ChoiceField
          label={t("themeField")}
          value={theme}
          options={[
            ["auto", t("themeAuto")],
            ["light", t("themeLight")],
            ["dark", t("themeDark")],
          ]}
          onChange={(next) => {
            applyTheme(next);
            setTheme(next);
          }}
        />
        <ChoiceField
          label={t("pageLocale")}
          value={held === "en" || held === "zh" ? held : "auto"}
          options={[
            ["auto", t("themeAuto")],
            ["en", "English"],
            ["zh", "中文"],
          ]}
          onChange={(next) => {
            writeChoice(LOCALE_CHOICE, next);
            location.reload();
          }}
        />
      </div>
      <SwitchField
        label={t("singleKeys")}
        hint={t("singleKeysHint")}
        on={keys}
        onChange={(on) => {
          setSingleKeys(on);
          setKeys(on);
        }}
      />
    </>
  );
}

function Stored({ session, config, onClose }: Props) {
  const shell = useContext(Shell);
  const { stored, problem, missing } = useStored(session);
  const [draft, setDraft] = useState<Draft | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  useEffect(() => setDraft(stored && toDraft(stored.own)), [stored]);
  if (missing) return <p class="muted">{t("settingsMissing")}</p>;
  if (problem) {
    return (
      <p class="problem" role="alert">
        {problem}
      </p>
    );
  }
  if (!stored || !draft) return <p class="muted">{t("loading")}</p>;
  const patch = toPatch(toDraft(stored.own), draft);
  const changed = Object.keys(patch).length > 0;
  const save = () => {
    if (isUnfinished(draft)) return setRefused(t("unfinished"));
    const sent: Promise<unknown> = session
      ? api.patchSession(session.id, { settings: patch })
      : api.patchSettings(patch);
    sent.then(
      () => {
        shell.say({ text: t("saved") });
        onClose();
      },
      (error: unknown) => setRefused(errorWords(error)),
    );
  };
  return (
    <>
      <SettingsForm
        draft={draft}
        inherited={stored.inherited}
        config={config}
        onChange={(part) => setDraft((now) => now && { ...now, ...part })}
      />
      {refused && (
        <p class="problem" role="alert">
          {refused}
        </p>
      )}
      <footer class="dialog-foot">
        <button type="button" class="button" onClick={onClose}>
          {t("cancel")}
        </button>
        <button
          type="button"
          class="button primary"
          disabled={!changed && !isUnfinished(draft)}
          onClick={save}
        >
          {t("save")}
        </button>
      </footer>
    </>
  );
}

function useStored(session: SessionInfo | null) {
  const [stored, setStored] = useState<SettingsLayers | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [missing, setMissing] = useState(false);
  useEffect(() => {
    const asked = session ? api.getSessionSettings(session.id) : api.getOwnSettings();
    asked.then(setStored, (error: unknown) => {
      if (error instanceof ApiError && error.status === 404) setMissing(true);
      else setProblem(errorWords(error));
    });
  }, []);
  return { stored, problem, missing };
}
