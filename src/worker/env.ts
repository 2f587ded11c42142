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
  SEARCH_PROVIDER?: string;
  SEARCH_API_KEY?: string;
  SEARCH_BASE_URL?: string;
  /** Private hosts that tools may ask, comma-separated; counts only where the product is served on loopback. */
  FETCH_ALLOW_PRIVATE?: string;
}

export type Bindings = Env & Vars;
