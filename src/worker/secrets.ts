/**
 * Settings hold secrets in two places, the headers of MCP servers and the secret of a webhook. They are write-only:
 * shown as `***`, and sent back like that they mean "as it is".
 */
import { LIMITS } from "../core/limits.ts";
import type { SettingsLayer } from "../core/settings.ts";
import { patchLayer } from "../core/settings-merge.ts";
import { type LayerChange, withoutCleared } from "../core/settings-patch.ts";
import { type Answer, no, yes } from "./problem.ts";

const HIDDEN = "***";
type Headers = Record<string, string>;

/** The same settings with other headers. */
function withHeaders<S extends SettingsLayer>(settings: S, change: (headers: Headers) => Headers) {
  const servers = settings.mcp?.servers;
  if (!servers) return settings;
  const changed = Object.entries(servers).map(([name, server]) => [
    name,
    server.headers ? { ...server, headers: change(server.headers) } : server,
  ]);
  return { ...settings, mcp: { ...settings.mcp, servers: Object.fromEntries(changed) } };
}

export const redacted = <S extends SettingsLayer>(settings: S): S => {
  const shown = withHeaders(settings, (h) =>
    Object.fromEntries(Object.keys(h).map((name) => [name, HIDDEN])),
  );
  if (!shown.webhook?.secret) return shown;
  return { ...shown, webhook: { ...shown.webhook, secret: HIDDEN } };
};

/** What leaves the deployment holds no header at all, and nobody to tell. */
export const withoutSecrets = <S extends SettingsLayer>(settings: S): Omit<S, "webhook"> => {
  const { webhook: _, ...rest } = withHeaders(settings, () => ({}));
  return rest;
};

/** What a file states is another's: it tells nobody outside, and its servers wait for a person to switch them on. */
export function fromOutside(settings: SettingsLayer): SettingsLayer {
  const { webhook: _, mcp, ...rest } = settings;
  if (!mcp?.servers) return rest;
  const off = Object.entries(mcp.servers).map(([name, server]) => [
    name,
    { ...server, enabled: false },
  ]);
  return { ...rest, mcp: { servers: Object.fromEntries(off) } };
}

/** What a client states, without what it was shown in place of a secret. */
export function kept(patch: SettingsLayer): SettingsLayer {
  const own = withHeaders(patch, (h) =>
    Object.fromEntries(Object.entries(h).filter(([, v]) => v !== HIDDEN)),
  );
  if (own.webhook?.secret !== HIDDEN) return own;
  const { secret: _, ...webhook } = own.webhook;
  return { ...own, webhook };
}

/** A stored layer with a change merged in; refused when it would grow beyond its bound. */
export function patchedLayer(base: SettingsLayer, change: LayerChange): Answer<SettingsLayer> {
  const layer = patchLayer(withoutCleared(base, change.cleared), kept(change.stated));
  if (JSON.stringify(layer).length <= LIMITS.settingsChars) return yes(layer);
  return no(
    413,
    "too_large",
    `settings: together with what is stored they are larger than ${LIMITS.settingsChars} characters.`,
  );
}
