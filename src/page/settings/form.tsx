/** How it works: the owner's settings, or one session's. */
import type { Config } from "../../core/wire.ts";
import { t } from "../strings.ts";
import { type Draft, numberOf } from "./draft.ts";
import { AreaField, ChoiceField, SwitchField, TextField } from "./fields.tsx";
import { Servers } from "./servers.tsx";
import { answerLocales, deliveries, summaries, verdicts } from "./words.ts";

interface Props {
  draft: Draft;
  config: Config | null;
  onChange(part: Partial<Draft>): void;
}

export function SettingsForm(props: Props) {
  const { draft, onChange } = props;
  return (
    <div class="settings-form">
      <ModelFields {...props} />
      <AreaField
        label={t("instructions")}
        hint={t("instructionsHint")}
        value={draft.instructions}
        onChange={(instructions) => onChange({ instructions })}
      />
      <WorkFields {...props} />
      <BudgetFields {...props} />
      <Servers servers={draft.servers} onChange={(servers) => onChange({ servers })} />
    </div>
  );
}

function ModelFields({ draft, config, onChange }: Props) {
  const inherited = (used: string | undefined) => (used ? t("inherited", { what: used }) : "");
  return (
    <div class="field-row">
      <ChoiceField
        label={t("provider")}
        value={draft.provider}
        options={[
          ["", inherited(config?.provider) || "–"],
          ...(config?.providers ?? []).map((name) => [name, name] as const),
        ]}
        onChange={(provider) => onChange({ provider })}
      />
      <TextField
        label={t("model")}
        value={draft.model}
        placeholder={inherited(config?.models[0])}
        known={config?.models ?? []}
        onChange={(model) => onChange({ model })}
      />
      {(config?.profiles.length ?? 0) > 0 && (
        <ChoiceField
          label={t("profile")}
          value={draft.profile}
          options={[
            ["", t("noProfile")],
            ...(config?.profiles ?? []).map((name) => [name, name] as const),
          ]}
          onChange={(profile) => onChange({ profile })}
        />
      )}
    </div>
  );
}

function WorkFields({ draft, onChange }: Props) {
  return (
    <>
      <div class="field-row">
        <ChoiceField
          label={t("answerLocale")}
          value={draft.locale}
          options={answerLocales()}
          onChange={(locale) => onChange({ locale })}
        />
        <ChoiceField
          label={t("commands")}
          value={draft.commands}
          options={verdicts()}
          onChange={(commands) => onChange({ commands })}
        />
        <ChoiceField
          label={t("onBusy")}
          value={draft.onBusyMessage}
          options={deliveries()}
          onChange={(onBusyMessage) => onChange({ onBusyMessage })}
        />
        <ChoiceField
          label={t("summarize")}
          value={draft.summarize}
          options={summaries()}
          onChange={(summarize) => onChange({ summarize })}
        />
      </div>
      <SwitchField
        label={t("harness")}
        hint={t("harnessHint")}
        on={draft.harness}
        onChange={(harness) => onChange({ harness })}
      />
      <SwitchField
        label={t("reviewer")}
        hint={t("reviewerHint")}
        on={draft.reviewer}
        onChange={(reviewer) => onChange({ reviewer })}
      />
      {draft.reviewer && (
        <TextField
          label={t("reviewRounds")}
          value={draft.reviewRounds}
          number
          onChange={(reviewRounds) => onChange({ reviewRounds })}
        />
      )}
    </>
  );
}

function BudgetFields({ draft, onChange }: Props) {
  const field = (key: "maxTokens" | "maxCostUsd" | "maxToolCalls") => (
    <TextField
      label={t(key)}
      value={draft[key]}
      placeholder={t("noLimit")}
      number
      wrong={numberOf(draft[key], key !== "maxCostUsd") === undefined ? t("notANumber") : null}
      onChange={(value) => onChange({ [key]: value })}
    />
  );
  return (
    <fieldset>
      <legend>{t("budgets")}</legend>
      <div class="field-row">
        {field("maxTokens")}
        {field("maxCostUsd")}
        {field("maxToolCalls")}
      </div>
    </fieldset>
  );
}
