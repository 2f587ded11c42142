/**
 * How it works: the owner's settings, or one session's. What is stated here stands in the fields; what is inherited
 * stands beside it, as the first choice or as a pale text, and comes back when a field is emptied.
 */
import type { Settings } from "../../core/settings.ts";
import type { Config } from "../../core/wire.ts";
import { t } from "../strings.ts";
import { type Draft, isWrong, type NumberKey } from "./draft.ts";
import { AreaField, ChoiceField, TextField } from "./fields.tsx";
import { Prices } from "./price-fields.tsx";
import { Servers } from "./servers.tsx";
import { answerLocales, deliveries, orInherited, summaries, switches, verdicts } from "./words.ts";

interface Props {
  draft: Draft;
  /** What holds without what is stated here. */
  inherited: Settings;
  config: Config | null;
  onChange(part: Partial<Draft>): void;
}

export function SettingsForm(props: Props) {
  const { draft, inherited, config, onChange } = props;
  return (
    <div class="settings-form">
      <p class="muted">{t("inheritedHint")}</p>
      <ModelFields {...props} />
      <AreaField
        label={t("instructions")}
        hint={t("instructionsHint")}
        value={draft.instructions}
        placeholder={inherited.instructions}
        onChange={(instructions) => onChange({ instructions })}
      />
      <WorkFields {...props} />
      <ReviewFields {...props} />
      <BudgetFields {...props} />
      <Prices
        prices={draft.prices}
        inherited={inherited.prices}
        models={config?.models ?? []}
        onChange={(prices) => onChange({ prices })}
      />
      <Servers
        servers={draft.servers}
        inherited={inherited.mcp.servers}
        onChange={(servers) => onChange({ servers })}
      />
    </div>
  );
}

const names = (list: readonly string[] | undefined) =>
  (list ?? []).map((name) => [name, name] as const);

/** A provider's own, where each has one. */
function modelOf(config: Config | null, provider: string | undefined): string | undefined {
  const { providers = [], models = [] } = config ?? {};
  return providers.length === models.length ? models[providers.indexOf(provider ?? "")] : undefined;
}

function ModelFields({ draft, inherited, config, onChange }: Props) {
  const provider = draft.provider || inherited.provider || config?.provider;
  const model = inherited.model || modelOf(config, provider);
  return (
    <div class="field-row">
      <ChoiceField
        label={t("provider")}
        value={draft.provider}
        options={orInherited(names(config?.providers), inherited.provider || config?.provider)}
        onChange={(provider) => onChange({ provider })}
      />
      <TextField
        label={t("model")}
        value={draft.model}
        placeholder={model ?? ""}
        known={config?.models ?? []}
        onChange={(next) => onChange({ model: next })}
      />
      {(config?.profiles.length ?? 0) > 0 && (
        <ChoiceField
          label={t("profile")}
          value={draft.profile}
          options={orInherited(names(config?.profiles), inherited.profile || t("noProfile"))}
          onChange={(profile) => onChange({ profile })}
        />
      )}
    </div>
  );
}

function WorkFields({ draft, inherited, onChange }: Props) {
  return (
    <div class="field-row wide">
      <ChoiceField
        label={t("answerLocale")}
        value={draft.locale}
        options={orInherited(answerLocales(), inherited.locale)}
        onChange={(locale) => onChange({ locale })}
      />
      <ChoiceField
        label={t("commands")}
        value={draft.commands}
        options={orInherited(verdicts(), inherited.tools.approval["shell_*"] ?? "allow")}
        onChange={(commands) => onChange({ commands })}
      />
      <ChoiceField
        label={t("onBusy")}
        value={draft.onBusyMessage}
        options={orInherited(deliveries(), inherited.onBusyMessage)}
        onChange={(onBusyMessage) => onChange({ onBusyMessage })}
      />
      <ChoiceField
        label={t("summarize")}
        value={draft.summarize}
        options={orInherited(summaries(), inherited.summarize)}
        onChange={(summarize) => onChange({ summarize })}
      />
    </div>
  );
}

const onOff = (on: boolean) => (on ? "on" : "off");

function ReviewFields(props: Props) {
  const { draft, inherited, onChange } = props;
  const { enabled, maxRetries } = inherited.reviewer;
  const reviewed = draft.reviewer === "" ? enabled : draft.reviewer === "on";
  return (
    <div class="field-row wide">
      <ChoiceField
        label={t("harness")}
        hint={t("harnessHint")}
        value={draft.harness}
        options={orInherited(switches(), onOff(inherited.harness.enabled))}
        onChange={(harness) => onChange({ harness })}
      />
      <ChoiceField
        label={t("reviewer")}
        hint={t("reviewerHint")}
        value={draft.reviewer}
        options={orInherited(switches(), onOff(enabled))}
        onChange={(reviewer) => onChange({ reviewer })}
      />
      {reviewed && <NumberField {...props} name="reviewRounds" inheritedValue={maxRetries} />}
    </div>
  );
}

function BudgetFields(props: Props) {
  const { budget } = props.inherited;
  return (
    <fieldset>
      <legend>{t("budgets")}</legend>
      <div class="field-row">
        <NumberField {...props} name="maxTokens" inheritedValue={budget.maxTokens} />
        <NumberField {...props} name="maxCostUsd" inheritedValue={budget.maxCostUsd} />
        <NumberField {...props} name="maxToolCalls" inheritedValue={budget.maxToolCalls} />
      </div>
      <p class="muted">{t("budgetsHint")}</p>
    </fieldset>
  );
}

type NumberProps = Props & { name: NumberKey; inheritedValue: number | null };
function NumberField({ draft, onChange, name, inheritedValue }: NumberProps) {
  return (
    <TextField
      label={t(name)}
      value={draft[name]}
      placeholder={inheritedValue === null ? t("noLimit") : String(inheritedValue)}
      number
      wrong={isWrong(draft, name) ? t("notANumber") : null}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
}
