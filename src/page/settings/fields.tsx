/** The few kinds of fields that a settings form is made of: a label, a word of help, and the thing itself. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Base {
  label: string;
  hint?: string;
}

function Field({ label, hint, children }: Base & { children(id: string): ComponentChildren }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
      {hint && <p class="muted">{hint}</p>}
    </div>
  );
}

interface TextProps extends Base {
  value: string;
  placeholder?: string;
  /** Names to choose from; others can be written. */
  known?: readonly string[];
  number?: boolean;
  wrong?: string | null;
  onChange(value: string): void;
}
export function TextField({
  value,
  placeholder,
  known,
  number,
  wrong,
  onChange,
  ...base
}: TextProps) {
  const list = useId();
  return (
    <Field {...base}>
      {(id) => (
        <>
          <input
            id={id}
            value={value}
            placeholder={placeholder}
            inputMode={number ? "decimal" : undefined}
            dir={number ? undefined : "auto"}
            list={known ? list : undefined}
            aria-invalid={wrong ? true : undefined}
            onInput={(e) => onChange(e.currentTarget.value)}
          />
          {known && (
            <datalist id={list}>
              {known.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          )}
          {wrong && <p class="problem">{wrong}</p>}
        </>
      )}
    </Field>
  );
}

interface AreaProps extends Base {
  value: string;
  placeholder?: string;
  onChange(value: string): void;
}
export function AreaField({ value, placeholder, onChange, ...base }: AreaProps) {
  return (
    <Field {...base}>
      {(id) => (
        <textarea
          id={id}
          rows={4}
          dir="auto"
          value={value}
          placeholder={placeholder}
          onInput={(e) => onChange(e.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface ChoiceProps<V extends string> extends Base {
  value: V;
  options: readonly (readonly [value: V, label: string])[];
  onChange(value: V): void;
}
export function ChoiceField<V extends string>({
  value,
  options,
  onChange,
  ...base
}: ChoiceProps<V>) {
  return (
    <Field {...base}>
      {(id) => (
        <select
          id={id}
          value={value}
          onChange={(e) => {
            const chosen = options.find(([name]) => name === e.currentTarget.value);
            if (chosen) onChange(chosen[0]);
          }}
        >
          {options.map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface SwitchProps extends Base {
  on: boolean;
  onChange(on: boolean): void;
}
export function SwitchField({ on, onChange, label, hint }: SwitchProps) {
  return (
    <label class="switch">
      <input type="checkbox" checked={on} onChange={(e) => onChange(e.currentTarget.checked)} />
      <span>
        {label}
        {hint && <span class="muted">{hint}</span>}
      </span>
    </label>
  );
}
