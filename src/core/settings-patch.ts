/**
 * A change of one layer of settings: like a layer, and `null` takes back what was stated, so that it is inherited
 * again. A whole block can be taken back, or one entry of a record, such as an MCP server.
 *
 * C1  Null is never stored, and taking back what was not stated changes nothing. So a budget of null, which is no
 *     limit, is one that is not stated.
 * C2  A block that states nothing any more is gone.
 */
import * as z from "zod";
import type { SettingsLayer } from "./settings.ts";
import { SettingsBody } from "./wire.ts";

type Nullable<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Nullable<T[K]> | null }
    : T;
/** As a client writes it. */
export type SettingsPatch = Nullable<SettingsLayer>;

/** What is null, in place. */
interface Cleared {
  [key: string]: null | Cleared;
}
export interface LayerChange {
  stated: SettingsLayer;
  cleared: Cleared;
}

type Plain = Record<string, unknown>;
const isPlain = (v: unknown): v is Plain =>
  typeof v === "object" && v !== null && !Array.isArray(v);
/** Deeper than any layer; what lies below is left to its schema. */
const DEPTH = 8;

function split(raw: unknown, depth = 0): { stated: unknown; cleared: Cleared } {
  if (!isPlain(raw) || depth > DEPTH) return { stated: raw, cleared: {} };
  const stated: [string, unknown][] = [];
  const cleared: [string, null | Cleared][] = [];
  for (const [key, value] of Object.entries(raw)) {
    if (value === null) {
      cleared.push([key, null]);
      continue;
    }
    const inner = split(value, depth + 1);
    const clears = Object.keys(inner.cleared).length > 0;
    if (clears) cleared.push([key, inner.cleared]);
    // C2: what only takes back states no block.
    if (!clears || !isPlain(inner.stated) || Object.keys(inner.stated).length > 0)
      stated.push([key, inner.stated]);
  }
  return { stated: Object.fromEntries(stated), cleared: Object.fromEntries(cleared) };
}

const Change = () =>
  z.unknown().describe("Like `SettingsBody`, with null where what was stated is to be taken back.");
export const SettingsPatchBody = z.lazy(() =>
  Change().transform((raw, context): LayerChange => {
    const { stated, cleared } = split(raw);
    const parsed = SettingsBody.safeParse(stated);
    if (parsed.success) return { stated: parsed.data, cleared };
    for (const issue of parsed.error.issues) {
      const { path, message } = issue;
      const params = issue.code === "custom" ? { params: issue.params } : {};
      context.addIssue({ code: "custom", path, message, ...params });
    }
    return z.NEVER;
  }),
);

export const PatchBody = z.lazy(() =>
  z.object({
    title: z.string().max(500).optional(),
    pinned: z.boolean().optional(),
    settings: SettingsPatchBody.optional(),
    /** Names this session from now on, whichever it named before. */
    key: z.string().min(1).max(500).optional(),
  }),
);
export type PatchBody = z.infer<typeof PatchBody>;

/** The layer without what was taken back. */
export const withoutCleared = (layer: SettingsLayer, cleared: Cleared): SettingsLayer =>
  without(layer, cleared);

function without(held: Plain, cleared: Cleared): Plain {
  const left = Object.entries(held).flatMap(([key, value]): [string, unknown][] => {
    const gone = Object.hasOwn(cleared, key) ? cleared[key] : undefined;
    if (gone === null) return [];
    if (gone === undefined || !isPlain(value)) return [[key, value]];
    const rest = without(value, gone);
    return Object.keys(rest).length > 0 ? [[key, rest]] : [];
  });
  return Object.fromEntries(left);
}
