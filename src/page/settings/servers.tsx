/** MCP servers: where they are, whether they are asked first, and headers that can be written and never read. */
import type { Settings } from "../../core/settings.ts";
import { Icon } from "../icons.tsx";
import { t } from "../strings.ts";
import { KEPT, type Server, serverOf } from "./draft.ts";
import { ChoiceField, SwitchField, TextField } from "./fields.tsx";
import { verdicts } from "./words.ts";

interface Props {
  servers: Server[];
  /** Stated further out. One of the same name here goes before it. */
  inherited: Settings["mcp"]["servers"];
  onChange(servers: Server[]): void;
}
const BLANK: Server = {
  name: "",
  url: "",
  enabled: true,
  approval: "allow",
  headers: [],
  saved: false,
};

export function Servers({ servers, inherited, onChange }: Props) {
  const change = (at: number, part: Partial<Server>) =>
    onChange(servers.map((server, i) => (i === at ? { ...server, ...part } : server)));
  const others = Object.entries(inherited).filter(
    ([name]) => !servers.some((s) => s.name === name),
  );
  return (
    <fieldset class="entries">
      <legend>{t("mcpServers")}</legend>
      {servers.map((server, i) => (
        <ServerFields
          key={i}
          server={server}
          onChange={(part) => change(i, part)}
          onRemove={() => onChange(servers.filter((_, other) => other !== i))}
        />
      ))}
      {others.map(([name, server]) => (
        <div class="entry inherited" key={name} data-testid="inherited-server">
          <p class="entry-name">
            {name} <span class="chip">{t("inheritedPlain")}</span>
          </p>
          <p class="muted mono">{server.url}</p>
          <p class="muted">{t(server.enabled === false ? "switchOff" : "switchOn")}</p>
          <button
            type="button"
            class="link-button"
            onClick={() => onChange([...servers, serverOf(name, server)])}
          >
            {t("changeHere")}
          </button>
        </div>
      ))}
      <button type="button" class="button small" onClick={() => onChange([...servers, BLANK])}>
        <Icon name="plus" /> {t("addServer")}
      </button>
    </fieldset>
  );
}

interface FieldsProps {
  server: Server;
  onChange(part: Partial<Server>): void;
  onRemove(): void;
}
function ServerFields({ server, onChange, onRemove }: FieldsProps) {
  const { name, url, enabled, approval, saved } = server;
  return (
    <fieldset class="entry">
      <legend class="sr-only">{name || t("newServer")}</legend>
      {saved ? (
        <p class="entry-name">{name}</p>
      ) : (
        <TextField label={t("serverName")} value={name} onChange={(v) => onChange({ name: v })} />
      )}
      <TextField
        label={t("serverUrl")}
        value={url}
        placeholder="https://"
        onChange={(v) => onChange({ url: v })}
      />
      <ChoiceField
        label={t("serverApproval")}
        value={approval}
        options={verdicts()}
        onChange={(v) => onChange({ approval: v })}
      />
      <Headers server={server} onChange={onChange} />
      <SwitchField label={t("serverOn")} on={enabled} onChange={(v) => onChange({ enabled: v })} />
      <button type="button" class="link-button" onClick={onRemove}>
        {saved ? t("removeServer", { name }) : t("discard")}
      </button>
    </fieldset>
  );
}

function Headers({ server, onChange }: Omit<FieldsProps, "onRemove">) {
  const { headers } = server;
  const set = (at: number, pair: [string, string]) =>
    onChange({ headers: headers.map((held, i) => (i === at ? pair : held)) });
  return (
    <div class="headers">
      {headers.map(([name, value], i) => (
        <div class="header" key={i}>
          <input
            value={name}
            aria-label={t("headerName")}
            placeholder={t("headerName")}
            onInput={(e) => set(i, [e.currentTarget.value, value])}
          />
          <input
            type="password"
            autoComplete="off"
            value={value === KEPT ? "" : value}
            aria-label={t("headerValue")}
            placeholder={value === KEPT ? t("headerKept") : t("headerValue")}
            onInput={(e) => set(i, [name, e.currentTarget.value])}
          />
          <button
            type="button"
            class="icon-button"
            title={t("removeHeader", { name })}
            onClick={() => onChange({ headers: headers.filter((_, other) => other !== i) })}
          >
            <Icon name="cross" />
            <span class="sr-only">{t("removeHeader", { name })}</span>
          </button>
        </div>
      ))}
      <button
        type="button"
        class="link-button"
        onClick={() => onChange({ headers: [...headers, ["", ""]] })}
      >
        <Icon name="plus" /> {t("addHeader")}
      </button>
    </div>
  );
}
