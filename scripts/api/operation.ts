/** What one operation of the API is described with. */
import type * as z from "zod";

export interface Reply {
  what: string;
  /** A name of the registry, for JSON. */
  schema?: string;
  /** For anything else; of several it depends on what is accepted. */
  types?: string[];
}
export interface Operation {
  method: "get" | "post" | "patch" | "put" | "delete";
  /** As OpenAPI writes it; `{path}` at the end may hold slashes. */
  path: string;
  id: string;
  tag:
    | "access"
    | "sessions"
    | "turns"
    | "files"
    | "links"
    | "owner"
    | "deployment"
    | "openai"
    | "mcp";
  summary: string;
  more?: string;
  /** Needs no sign-in. */
  open?: true;
  query?: z.ZodObject;
  /** Request headers, by name. */
  headers?: Record<string, string>;
  /** A name of the registry, or another type than JSON. */
  body?: string | { type: string; what: string };
  /** The body may be left out. */
  bare?: true;
  replies: Record<number, Reply>;
  /** Statuses of errors of its own; those of every operation stand in document.ts. */
  errors?: number[];
}
