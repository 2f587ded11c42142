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
  /** Private hosts (with or without a port) that MCP servers may stand on, separated by commas. */
  MCP_ALLOW_PRIVATE?: string;
}

export type Bindings = Env & Vars;
