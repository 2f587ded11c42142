import type { OtlpVars } from "../adapters/otlp/setup.ts";

/** The Worker's bindings and variables. Variables that nobody set are absent, never empty strings to rely on. */
export interface Vars extends OtlpVars {
  AUTH_TOKENS?: string;
  AUTH_TOKEN?: string;
  /** Comma-separated: the first signs the page's cookie, all are believed. */
  COOKIE_SECRET?: string;
  ALLOWED_ORIGINS?: string;
  ACCESS_TEAM_DOMAIN?: string;
  ACCESS_AUD?: string;
  /** Deployment-wide settings, JSON. */
  SETTINGS?: string;
  /** What one owner may have, JSON. */
  QUOTAS?: string;
  /** Named settings, JSON. */
  PROFILES?: string;
  SANDBOX?: string;
  /** The least that the log writes: debug, info (the default), warn, error, off. */
  LOG_LEVEL?: string;
  /** true: lines about exceptions hold their messages, which may quote content. */
  LOG_CONTENT?: string;
  /** Where new sessions are made, and which borders they may not leave: see place.ts. */
  DO_LOCATION_HINT?: string;
  DO_JURISDICTION?: string;
  /** Hosts that a webhook may tell although they are private, comma-separated. */
  WEBHOOK_ALLOW_PRIVATE?: string;
  /** Private hosts (with or without a port) that MCP servers may stand on, separated by commas. */
  MCP_ALLOW_PRIVATE?: string;
  /** Cloudflare Browser Rendering, where it is bound. */
  BROWSER?: Fetcher;
  /** Workers Analytics Engine, where a dataset is bound. */
  ANALYTICS?: AnalyticsEngineDataset;
  SEARCH_PROVIDER?: string;
  SEARCH_API_KEY?: string;
  SEARCH_BASE_URL?: string;
  /** Private hosts that tools may ask, comma-separated; counts only where the product is served on loopback. */
  FETCH_ALLOW_PRIVATE?: string;
}

/** The rate limiter is optional: a configuration may do without it. */
export type Bindings = Omit<Env, "RATE_LIMIT"> & Partial<Pick<Env, "RATE_LIMIT">> & Vars;
