/** The command line: what was asked for, or what is wrong with it. A token is never taken from it: others see it. */
import { parseArgs } from "node:util";
import { MODES, type Mode } from "../core/session.ts";

export interface Options {
  help: boolean;
  setup: boolean;
  json: boolean;
  task?: string;
  session?: string;
  key?: string;
  mode?: Mode;
  url?: string;
}
/** `problem`: which sentence of strings.ts says what is wrong, and about what. */
export type Parsed =
  | { ok: true; options: Options }
  | { ok: false; problem: "badOption" | "tokenOption" | "badMode" | "blankTask"; detail: string };

const SPEC = {
  help: { type: "boolean", short: "h" },
  setup: { type: "boolean" },
  json: { type: "boolean" },
  prompt: { type: "string", short: "p" },
  session: { type: "string", short: "s" },
  key: { type: "string" },
  mode: { type: "string" },
  url: { type: "string" },
} as const;

export function readArgs(argv: string[]): Parsed {
  if (argv.some((arg) => /^--?token\b/.test(arg))) {
    return { ok: false, problem: "tokenOption", detail: "" };
  }
  try {
    const { values } = parseArgs({ args: argv, options: SPEC });
    const { help = false, setup = false, json = false, prompt, session, key, url } = values;
    const mode = MODES.find((m) => m === values.mode);
    if (values.mode !== undefined && !mode) {
      return { ok: false, problem: "badMode", detail: MODES.join(" ") };
    }
    if (prompt !== undefined && prompt.trim() === "") {
      return { ok: false, problem: "blankTask", detail: "" };
    }
    return {
      ok: true,
      options: {
        help,
        setup,
        json,
        ...(prompt === undefined ? {} : { task: prompt }),
        ...(session === undefined ? {} : { session }),
        ...(key === undefined ? {} : { key }),
        ...(mode === undefined ? {} : { mode }),
        ...(url === undefined ? {} : { url }),
      },
    };
  } catch (error) {
    return { ok: false, problem: "badOption", detail: (error as Error).message };
  }
}
