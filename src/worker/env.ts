/** The Worker's bindings and variables. Variables that nobody set are absent, never empty strings to rely on. */
export interface Vars {
  AUTH_TOKENS?: string;
  AUTH_TOKEN?: string;
  /** Comma-separated: the first signs the page's cookie, all are believed. */
  COOKIE_SECRET?: string;
  ALLOWED_ORIGINS?: string;
  ACCESS_TEAM_DOMAIN?: string;
  ACCESS_AUD?: string;
  /** Deployment-wide settings, JSON. */
  SETTINGS?: string;
  /** Named settings, JSON. */
  PROFILES?: string;
  SANDBOX?: string;
  /** Hosts that a webhook may tell although they are private, comma-separated. */
  WEBHOOK_ALLOW_PRIVATE?: string;
  /** Private hosts (with or without a port) that MCP servers may stand on, separated by commas. */
  MCP_ALLOW_PRIVATE?: string;
  /** Private hosts that tools may ask all the same, `127.0.0.1:9000,10.0.0.7`. */
  EGRESS_ALLOW?: string;
  /** Cloudflare Browser Rendering, where it is bound. */
  BROWSER?: Fetcher;
}

/** The rate limiter is optional: a configuration may do without it. */
export type Bindings = Omit<Env, "RATE_LIMIT"> & Partial<Pick<Env, "RATE_LIMIT">> & Vars;
