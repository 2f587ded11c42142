/**
 * Property tests take the same inputs every time, so that a change is judged by what it changed. Who looks for new
 * faults sets `FC_SEED=random` and a higher `FC_RUNS`; a failure names the seed that it was found with.
 */
import fc from "fast-check";

const seed = process.env.FC_SEED ?? "1";
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });

/** How many inputs a property is tried with: so many, or what was asked for. */
export const runs = (usual: number): { numRuns: number } => ({
  numRuns: Number(process.env.FC_RUNS ?? usual),
});
