/** Every evaluation, in the order of the table. Their names are what `--scenario` takes. */
import { REPAIRS } from "./repairs.ts";
import type { Scenario } from "./scenario.ts";
import { TALKS } from "./talks.ts";
import { TURNS } from "./turns.ts";

export const SCENARIOS: readonly Scenario[] = [...TURNS, ...REPAIRS, ...TALKS];
