/**
 * The hooks of this deployment: the one place to join in without changing the house. What can be hooked, and what a
 * hook that throws does, stands in ../core/hooks.ts; a whole example is examples/04-hooks.ts.
 */
import type { Hooks } from "../core/hooks.ts";
import { log } from "./log.ts";

export const HOOKS: Hooks = {
  report(hook, error) {
    log("error", "hook_failed", { hook }, error);
  },
};
