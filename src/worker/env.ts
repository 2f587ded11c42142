/** The Worker's bindings and variables. Variables that nobody set are absent, never empty strings to rely on. */
export interface Vars {
  AUTH_TOKENS?: string;
  AUTH_TOKEN?: string;
  ALLOWED_ORIGINS?: string;
  ACCESS_TEAM_DOMAIN?: string;
  ACCESS_AUD?: string;
  /** Deployment-wide settings, JSON. */
  SETTINGS?: string;
  /** Named settings, JSON. */
  PROFILES?: string;
  SANDBOX?: string;
  /** Private hosts that tools may ask all the same, `127.0.0.1:9000,10.0.0.7`. */
  EGRESS_ALLOW?: string;
  /** Cloudflare Browser Rendering, where it is bound. */
  BROWSER?: Fetcher;
}

export type Bindings = Env & Vars;
