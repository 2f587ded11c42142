/** Runs one tool as the session would, over a fake sandbox. */
import type { JsonObject, ToolResult } from "../../src/core/tool.ts";
import type { Box } from "../../src/tools/box.ts";
import { type RunPorts, runTool, type Tool } from "../../src/tools/index.ts";

export interface Options extends Partial<RunPorts> {
  reopened?: boolean;
  timeoutMs?: number;
  maxChars?: number;
  graceMs?: number;
  retries?: number;
  idempotencyKey?: string;
}

export function call(
  tool: Tool,
  box: Box,
  args: JsonObject,
  options: Options = {},
): Promise<ToolResult> {
  const { reopened = false, timeoutMs = 5_000, maxChars = 16_000, graceMs, ...more } = options;
  const { retries = 0, idempotencyKey, ...ports } = more;
  const run = {
    ...{ id: "call1", name: tool.name, args, reopened, timeoutMs, retries, maxChars },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
  const signal = new AbortController().signal;
  return runTool(tool, run, { box, live: () => {}, signal, ...ports }, graceMs);
}
