/**
 * Prompt-prefix stability: how much of a request's prompt a provider's cache can know from the one before it.
 *
 * P1  Compared are consecutive requests of the same role: the share of the earlier one's bytes (UTF-8) with which the
 *     later one begins. 1 means that nothing was rewritten.
 * P2  The prompt is the text of `tools`, then of `messages`: that is the order in which providers read them. The
 *     other fields are no part of a prompt.
 */
export interface Share {
  min: number;
  mean: number;
}

export interface Stability {
  /** Comparisons made: requests of the role, less one. */
  pairs: number;
  prompt: Share;
  messages: Share;
  tools: Share;
}

export type PromptRole = "planner" | "executor" | "assistant";

interface Prompt {
  role: PromptRole;
  tools: string;
  /** Without the closing bracket, which every longer list moves. */
  messages: string;
}

const MESSAGES = '"messages":[';

function promptOf(body: string): Prompt {
  const request = JSON.parse(body) as { tools?: { function: { name: string } }[] };
  const names = request.tools?.map((t) => t.function.name) ?? [];
  const planner = names.includes("create_plan") || names.includes("update_plan");
  const role = planner ? "planner" : names.includes("complete_step") ? "executor" : "assistant";
  const at = body.indexOf(MESSAGES);
  if (at < 0 || !body.endsWith("]}"))
    throw new Error("messages is not the last key of the request");
  return {
    role,
    tools: JSON.stringify(request.tools ?? []),
    messages: body.slice(at + MESSAGES.length, -2),
  };
}

/** The share of `before`'s bytes with which `after` begins. */
export function sharedPrefix(before: string, after: string): number {
  const [a, b] = [Buffer.from(before), Buffer.from(after)];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return a.length === 0 ? 1 : same / a.length;
}

const shareOf = (values: number[]): Share => ({
  min: Math.min(...values),
  mean: values.reduce((sum, v) => sum + v, 0) / values.length,
});

function stabilityOf(prompts: Prompt[]): Stability {
  const compared = prompts.slice(1).map((after, i) => {
    const before = prompts[i] as Prompt;
    const messages = sharedPrefix(before.messages, after.messages);
    const tools = sharedPrefix(before.tools, after.tools);
    const prompt = sharedPrefix(before.tools + before.messages, after.tools + after.messages);
    return { messages, tools, prompt };
  });
  return {
    pairs: compared.length,
    prompt: shareOf(compared.map((c) => c.prompt)),
    messages: shareOf(compared.map((c) => c.messages)),
    tools: shareOf(compared.map((c) => c.tools)),
  };
}

/** By role; a role that was asked once at the most has no entry. */
export function prefixStability(bodies: readonly string[]): Partial<Record<PromptRole, Stability>> {
  const prompts = bodies.map(promptOf);
  const roles = [...new Set(prompts.map((p) => p.role))];
  const entries = roles
    .map((role) => [role, prompts.filter((p) => p.role === role)] as const)
    .filter(([, asked]) => asked.length > 1)
    .map(([role, asked]) => [role, stabilityOf(asked)] as const);
  return Object.fromEntries(entries);
}
