/** What the product logs while a test runs, line by line. */
import { vi } from "vitest";
import { useVars } from "./client.ts";

export interface Line {
  message: string;
  level: string;
  time: string;
  [field: string]: unknown;
}

/** Takes the console for itself until `stop`; the log is at `level`. */
export function listen(level: string) {
  const texts: [method: string, text: string][] = [];
  const undo = useVars({ LOG_LEVEL: level });
  const spies = (["debug", "info", "warn", "error", "log"] as const).map((method) =>
    vi.spyOn(console, method).mockImplementation((...parts: unknown[]) => {
      texts.push([method, parts.map(String).join(" ")]);
    }),
  );
  return {
    texts,
    get lines(): Line[] {
      return texts.map(([, text]) => JSON.parse(text) as Line);
    },
    of: (message: string): Line[] =>
      texts.map(([, text]) => JSON.parse(text) as Line).filter((l) => l.message === message),
    stop: () => {
      for (const spy of spies) spy.mockRestore();
      undo();
    },
  };
}
