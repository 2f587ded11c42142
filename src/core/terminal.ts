/**
 * The terminal tools: schema-only tools that end a phase. They run nothing; the flow takes them in.
 *
 * A model's slip that does no harm (a blank title, an extra field) is not worth a round trip, so only what the
 * flow needs is required.
 */
import * as z from "zod";
import { parametersOf, parserOf } from "./schema.ts";
import type { ToolFacts, ToolSpec } from "./tool.ts";

// Models like to number steps: an id of any kind becomes text.
const StepDraft = () => z.object({ id: z.coerce.string(), description: z.string().min(1) });
/** What people are to read says something. */
const Said = () => z.string().refine((t) => t.trim() !== "", "must not be blank");
const Attachments = () =>
  z.array(z.string()).optional().describe("Paths of files under /workspace to hand over.");

const SCHEMAS = {
  create_plan: () =>
    z.object({
      message: z
        .string()
        .min(1)
        .describe("What you tell the user now: how you will go about it, or the answer itself."),
      language: z.string().min(1).describe("The user's language, as a code: en, zh, de …"),
      // Without one, the first words of the message will do.
      title: z.string().catch("").describe("A few words that name the task."),
      goal: z
        .string()
        .describe("What will be true when all is done; empty when there is nothing to do."),
      success_criteria: z
        .array(z.string())
        .optional()
        .describe("How one can tell that the goal is reached."),
      steps: z.array(StepDraft()).describe("The steps in order; empty when no work is needed."),
    }),
  update_plan: () =>
    z.object({
      steps: z
        .array(StepDraft())
        .describe("Only what is still to be done, in order; empty to drop the rest."),
    }),
  complete_step: () =>
    z.object({
      success: z.boolean().describe("Whether the step's aim was reached and checked."),
      result: z.string().describe("What came out, for the user; on failure: why."),
      attachments: Attachments(),
    }),
  deliver_result: () =>
    z.object({
      message: Said().describe("The final answer to the user."),
      attachments: Attachments(),
    }),
  submit_review: () =>
    z.object({
      verdict: z.enum(["pass", "fail"]).describe("Whether the goal is reached."),
      score: z.coerce.number().describe("How well, from 0 to 10."),
      issues: z
        .array(z.string())
        .optional()
        .describe("What is not met, each so that someone can act on it; empty on a pass."),
      // An action that is not there is taken for the safer one; on a pass none is needed.
      next_action: z
        .enum(["none", "replan", "retry_actor"])
        .catch("replan")
        .optional()
        .describe(
          "none on a pass. retry_actor: the work needs mending. replan: the plan itself does not lead to the goal.",
        ),
    }),
  agent_response: () =>
    z.object({
      text: Said().describe("Your answer to the user."),
    }),
} as const;

export type TerminalName = keyof typeof SCHEMAS;
export type TerminalArgs<N extends TerminalName> = z.infer<ReturnType<(typeof SCHEMAS)[N]>>;

const ABOUT: Record<TerminalName, string> = {
  create_plan:
    "Submit the plan for the user's task. A greeting or a question that needs no work has no steps.",
  update_plan: "Submit the steps that are still to be done after what has happened.",
  complete_step:
    "End the current step. success=true only after you did the work with tools and verified it; if you are truly blocked, success=false with the reason.",
  submit_review: "Submit your judgement of the work. It ends the review.",
  agent_response: "Give your final answer. The work ends with it.",
  deliver_result:
    "Hand the final result to the user, when all steps are done and you are asked to.",
};

export const TERMINAL_FACTS: ToolFacts = {
  toolkit: "terminal",
  parallelSafe: true,
  volatile: false,
  effect: false,
  recovery: "rerun",
};

function specOf(name: TerminalName): ToolSpec {
  const schema: () => z.ZodObject = SCHEMAS[name];
  const parameters = parametersOf(schema);
  return {
    ...TERMINAL_FACTS,
    name,
    description: ABOUT[name],
    get parameters() {
      return parameters();
    },
    parse: parserOf(schema, parameters),
  };
}
export const TERMINALS: Record<TerminalName, ToolSpec> = {
  create_plan: specOf("create_plan"),
  update_plan: specOf("update_plan"),
  complete_step: specOf("complete_step"),
  deliver_result: specOf("deliver_result"),
  submit_review: specOf("submit_review"),
  agent_response: specOf("agent_response"),
};

export const isTerminal = (name: string): name is TerminalName => Object.hasOwn(TERMINALS, name);
