/**
 * The delegate toolkit: a part of the work goes to a specialist, a profile of the deployment, in a session of its own.
 * Who runs that session is the shell's business.
 */
import * as z from "zod";
import { defineTool } from "./define.ts";

export const delegateTask = defineTool({
  name: "delegate_task",
  toolkit: "delegate",
  description:
    "Hand a self-contained part of the work to a specialist and get its result. The specialist has a workspace of its own and sees nothing of this conversation.",
  args: () =>
    z.object({
      profile: z
        .string()
        .min(1)
        .describe("Which specialist: one of the profiles named in the rules."),
      task: z.string().min(1).describe("The whole task: goal, what is known, what to hand back."),
      files: z
        .array(z.string())
        .max(50)
        .optional()
        .describe("Files to copy to the specialist's workspace first, under the same paths."),
    }),
  needs: "profiles",
  rules: [
    "- Delegate a part that stands by itself and fits a profile; what you can do in a call or two, do yourself.",
    "- State the whole task, name the files it needs, say what you want back, and check what comes back.",
  ].join("\n"),
  parallelSafe: true,
  recovery: "reattach",
  unhurried: true,
  async run(args, ctx) {
    if (!ctx.delegate) return { ok: false, text: "There are no specialists here." };
    return ctx.delegate({ ...args, files: args.files ?? [] }, ctx);
  },
});
