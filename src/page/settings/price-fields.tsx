/** What models cost: without it there is no money to show, and no limit in money. */
import type { Settings } from "../../core/settings.ts";
import { Icon } from "../icons.tsx";
import { cost } from "../numbers.ts";
import { type StringKey, t } from "../strings.ts";
import { TextField } from "./fields.tsx";
import { amountOf, type PricePart, type PriceRow, priceRow } from "./prices.ts";

interface Props {
  prices: PriceRow[];
  /** Stated further out. One of the same model here goes before it. */
  inherited: Settings["prices"];
  models: readonly string[];
  onChange(prices: PriceRow[]): void;
}
const BLANK: PriceRow = { model: "", input: "", cached: "", output: "", saved: false };
const PARTS: readonly [PricePart, StringKey][] = [
  ["input", "priceInput"],
  ["cached", "priceCached"],
  ["output", "priceOutput"],
];

export function Prices({ prices, inherited, models, onChange }: Props) {
  const change = (at: number, part: Partial<PriceRow>) =>
    onChange(prices.map((row, i) => (i === at ? { ...row, ...part } : row)));
  const others = Object.entries(inherited).filter(
    ([model]) => !prices.some((row) => row.model === model),
  );
  return (
    <fieldset class="entries">
      <legend>{t("prices")}</legend>
      <p class="muted">{t("pricesHint")}</p>
      {prices.map((row, i) => (
        <PriceFields
          key={i}
          row={row}
          models={models}
          onChange={(part) => change(i, part)}
          onRemove={() => onChange(prices.filter((_, other) => other !== i))}
        />
      ))}
      {others.map(([model, price]) => (
        <div class="entry inherited" key={model} data-testid="inherited-price">
          <p class="entry-name">
            <bdi>{model}</bdi> <span class="chip">{t("inheritedPlain")}</span>
          </p>
          <p class="muted">
            {t("priceBoth", { input: cost(price.input), output: cost(price.output) })}
          </p>
          <button
            type="button"
            class="link-button"
            onClick={() => onChange([...prices, priceRow(model, price)])}
          >
            {t("changeHere")}
          </button>
        </div>
      ))}
      <button type="button" class="button small" onClick={() => onChange([...prices, BLANK])}>
        <Icon name="plus" /> {t("addPrice")}
      </button>
    </fieldset>
  );
}

interface FieldsProps {
  row: PriceRow;
  models: readonly string[];
  onChange(part: Partial<PriceRow>): void;
  onRemove(): void;
}
function PriceFields({ row, models, onChange, onRemove }: FieldsProps) {
  const { model, saved } = row;
  return (
    <fieldset class="entry">
      <legend class="sr-only">{t("priceOf", { model })}</legend>
      {saved ? (
        <p class="entry-name">
          <bdi>{model}</bdi>
        </p>
      ) : (
        <TextField
          label={t("priceModel")}
          value={model}
          known={models}
          onChange={(next) => onChange({ model: next })}
        />
      )}
      <div class="field-row thirds">
        {PARTS.map(([part, label]) => (
          <TextField
            key={part}
            label={t(label)}
            value={row[part]}
            placeholder={part === "cached" ? row.input : t("needed")}
            number
            wrong={amountOf(row[part]) === undefined ? t("notANumber") : null}
            onChange={(next) => onChange({ [part]: next })}
          />
        ))}
      </div>
      <button type="button" class="link-button" onClick={onRemove}>
        {saved ? t("removeServer", { name: model }) : t("discard")}
      </button>
    </fieldset>
  );
}
