/** Where traces go: OpenTelemetry's own variables, as far as they make sense here. */

export interface OtlpVars {
  /** The collector's base address; `/v1/traces` is put behind it. */
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  /** `name=value` pairs with commas between them, percent-encoded: keys of the collector. Secret. */
  OTEL_EXPORTER_OTLP_HEADERS?: string;
  OTEL_SERVICE_NAME?: string;
  /** More attributes of the resource, written like the headers. */
  OTEL_RESOURCE_ATTRIBUTES?: string;
}
export interface Destination {
  url: string;
  headers: Record<string, string>;
  resource: Record<string, string>;
}
export type OtlpSetup =
  | { type: "off" }
  | { type: "on"; to: Destination }
  /** What is wrong with the variables; holds no value of theirs. */
  | { type: "wrong"; why: string };

/** null: one of them is no pair. */
function pairs(text: string | undefined): Record<string, string> | null {
  const found: Record<string, string> = {};
  for (const part of (text ?? "").split(",")) {
    if (part.trim() === "") continue;
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (at < 1 || name === "") return null;
    try {
      found[decodeURIComponent(name)] = decodeURIComponent(part.slice(at + 1).trim());
    } catch {
      return null;
    }
  }
  return found;
}

const wrong = (why: string): OtlpSetup => ({ type: "wrong", why });

/** `version`: of the product. */
export function otlpSetup(vars: OtlpVars, version: string): OtlpSetup {
  const endpoint = vars.OTEL_EXPORTER_OTLP_ENDPOINT?.trim() ?? "";
  if (endpoint === "") return { type: "off" };
  const url = URL.parse(endpoint);
  // fetch refuses an address with credentials.
  const sound = url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (!sound) {
    return wrong(
      "OTEL_EXPORTER_OTLP_ENDPOINT must be the http(s) address of a collector, without credentials.",
    );
  }
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/traces`;
  const headers = pairs(vars.OTEL_EXPORTER_OTLP_HEADERS);
  if (!headers || !sendable(headers)) {
    return wrong("OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs with commas between them.");
  }
  const given = pairs(vars.OTEL_RESOURCE_ATTRIBUTES);
  if (!given) {
    return wrong("OTEL_RESOURCE_ATTRIBUTES must be name=value pairs with commas between them.");
  }
  const service = vars.OTEL_SERVICE_NAME?.trim() || given["service.name"] || "dormouse";
  const resource = { ...given, "service.name": service, "service.version": version };
  return { type: "on", to: { url: url.href, headers, resource } };
}

function sendable(headers: Record<string, string>): boolean {
  try {
    new Headers(headers);
    return true;
  } catch {
    return false;
  }
}
