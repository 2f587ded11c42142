/** Replies of a scripted model, as short as the tests want them. */
import type { MockReply } from "../../support/mock-reply.ts";

export const text = (t: string): MockReply => ({ text: t });
export const call = (...calls: [name: string, args: unknown][]): MockReply => ({
  tool_calls: calls.map(([name, args]) => ({ name, arguments: args })),
});
export const plan = (...steps: string[]): MockReply =>
  call([
    "create_plan",
    {
      message: "I will.",
      language: "en",
      title: "The task",
      goal: "It is done",
      steps: steps.map((description, i) => ({ id: String(i + 1), description })),
    },
  ]);
export const update = (...steps: [id: string, description: string][]): MockReply =>
  call(["update_plan", { steps: steps.map(([id, description]) => ({ id, description })) }]);
export const write = (path = "a.txt", content = "x"): MockReply =>
  call(["file_write", { path, content, brief: "write" }]);
export const shell = (command: string): MockReply =>
  call(["shell_exec", { command, brief: "run" }]);
export const complete = (success = true, result = "done"): MockReply =>
  call(["complete_step", { success, result }]);
export const deliver = (message: string): MockReply => call(["deliver_result", { message }]);
export const review = (
  verdict: "pass" | "fail",
  next_action = "none",
  ...issues: string[]
): MockReply =>
  call(["submit_review", { verdict, score: verdict === "pass" ? 9 : 3, issues, next_action }]);
export const askUser = (question: string, options?: string[]): MockReply =>
  call(["message_ask_user", { text: question, ...(options ? { options } : {}) }]);
/** Ends a workflow. */
export const answer = (t: string): MockReply => call(["agent_response", { text: t }]);
/** A specialist is to do something; of several, all at once. */
export const delegate = (...tasks: Record<string, unknown>[]): MockReply =>
  call(
    ...(tasks.length > 0 ? tasks : [{}]).map((more): [string, unknown] => [
      "delegate_task",
      { profile: "tester", task: "Test the thing", brief: "tests", ...more },
    ]),
  );
