/**
 * A session at rest: what a copy needs to go on from the end of a turn, and nothing that only a turn under way uses.
 *
 * R1  It is small, and does not hold the log, the memories or the files; `upto` and `row` say how far those belong.
 * R2  What is learned of an endpoint is not part of it: a copy learns it again.
 */
import * as z from "zod";
import { Step } from "./events.ts";
import { LIMITS } from "./limits.ts";
import { MODES, type NewSession, newSession, type Session } from "./session.ts";

const Count = () => z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const Text = () => z.string().max(4 * LIMITS.rowChars);
const Boundary = () =>
  z.object({ phase: Count().max(9), before: Count(), tight: Count(), tokens: Count() });
const Plan = () =>
  z
    .object({
      title: Text(),
      goal: Text(),
      language: z.string().max(100),
      success_criteria: z.array(Text()).max(200),
      steps: z.array(Step).max(500),
    })
    // It is one value in SQLite.
    .refine((plan) => JSON.stringify(plan).length <= LIMITS.rowChars, "is too large");

export const Rest = z.lazy(() =>
  z.object({
    /** Last event that belongs to it. */
    upto: Count(),
    /** Last memory row that belongs to it. */
    row: Count(),
    run: Count(),
    mode: z.enum(MODES),
    status: z.enum(["idle", "completed", "failed", "stopped"]),
    title: z.string().max(LIMITS.titleChars * 2),
    titled: z.boolean().default(false),
    preview: z.string().max(1_000).default(""),
    plan: Plan().nullable(),
    compacted: z
      .object({
        planner: Boundary(),
        executor: Boundary(),
        reviewer: Boundary(),
        assistant: Boundary(),
      })
      .partial()
      .default({}),
  }),
);
export type Rest = z.infer<typeof Rest>;

/** Of a session that is in a turn, it is what would be left if the turn were stopped now. */
export function restOf(s: Session): Rest {
  const { row, run, mode, title, titled, preview, compacted } = s;
  const status = s.status === "running" || s.status === "waiting" ? "stopped" : s.status;
  const steps = s.plan?.steps.map((step) =>
    step.status === "running" ? { ...step, status: "pending" as const } : step,
  );
  const plan = s.plan && { ...s.plan, steps: steps ?? [] };
  return { upto: s.seq, row, run, mode, status, title, titled, preview, plan, compacted };
}

/** The session that a resting point makes. Its log ends at `upto`. */
export function sessionAt(rest: Rest, given: Omit<NewSession, "mode" | "title">): Session {
  const { upto, status, ...held } = rest;
  const fresh = newSession({ ...given, mode: rest.mode, title: rest.title });
  const phase = status === "completed" ? "completed" : "idle";
  return { ...fresh, ...held, status, phase, seq: upto };
}
