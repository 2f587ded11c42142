/** Every kind of fault, each once by name. */
import type { Kind } from "./kind.ts";
import { CONTENT } from "./kinds-content.ts";
import { ENDPOINT } from "./kinds-endpoint.ts";
import { FATAL, FOR_EVER } from "./kinds-fatal.ts";
import { RESCUE } from "./kinds-rescue.ts";
import { TOOL } from "./kinds-tool.ts";
import { TRANSPORT } from "./kinds-transport.ts";

export const KINDS: readonly Kind[] = [
  ...TRANSPORT,
  ...CONTENT,
  ...RESCUE,
  ...ENDPOINT,
  ...TOOL,
  ...FATAL,
  ...FOR_EVER,
];
/** Kinds of which several may meet in one run, which still must complete. */
export const RECOVERABLE = KINDS.filter((kind) => !kind.loud && !kind.alone);
