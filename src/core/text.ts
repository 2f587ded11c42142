/** Every sentence of the core that a person may read, in English and Chinese. */

import { head } from "./chars.ts";
import type { Step } from "./events.ts";

export type Locale = "en" | "zh";

/** The language of a session: the setting, else the plan's, else the script of the message. */
export function localeOf(setting: "auto" | Locale, planLanguage: string, message: string): Locale {
  if (setting !== "auto") return setting;
  if (planLanguage) return /^(zh|chinese|中文)/i.test(planLanguage) ? "zh" : "en";
  return /\p{Script=Han}/u.test(message) ? "zh" : "en";
}

interface Words {
  retryExhausted(attempts: number): string;
  outputLimit(attempts: number): string;
  toolErrors(tool: string, count: number, last: string): string;
  maxIterations(n: number): string;
  replansExhausted(n: number): string;
  restartLimit(n: number): string;
  outOfMemory: string;
  rateLimited(until: string): string;
  retryWait(until: string): string;
  cutAnswer: string;
  approve(tool: string): string;
  toolLeftOut(list: string): string;
  notFinished(steps: Step[]): string;
  fixStep(issues: string[]): string;
  notMet(issues: string[]): string;
  reviewSpent(rounds: number): string;
  reviewFailed(why: string): string;
  budget(over: { what: "tokens" | "cost" | "tools"; used: number; max: number }): string;
  costUnknown(model: string): string;
}

const why = (s: Step) => head(s.error ?? s.result ?? "", 1_000);

const list = (lines: string[]) => lines.map((line) => `- ${line}`).join("\n");

const EN: Words = {
  retryExhausted: (n) =>
    `The model gave ${n} unusable replies in a row. Nothing was lost; try again or choose another model.`,
  outputLimit: (n) =>
    `The model's replies were cut off at its output limit ${n} times in a row, so nothing of them was used.`,
  toolErrors: (tool, count, last) =>
    `The tool "${tool}" failed (${count} failures in a row): ${last}`,
  maxIterations: (n) => `The limit of ${n} model replies was reached before the work was finished.`,
  replansExhausted: (n) =>
    `The plan was changed ${n} times and a step still failed; no further change is made.`,
  restartLimit: (n) =>
    `The work was interrupted ${n} times in a row without progress and has been ended. What was done is kept; send a message to go on.`,
  outOfMemory:
    "The session needed more memory than it may have and was ended. What was done is kept; try a smaller task.",
  rateLimited: (until) =>
    `The model's provider asks to wait until ${until}, which is longer than allowed. Nothing was lost; try again after that.`,
  retryWait: (until) =>
    `The model's provider asks to wait; the work goes on by itself at ${until}.`,
  toolLeftOut: (list) => `Tools that this model cannot take were left out: ${list}.`,
  approve: (tool) => `May ${tool} be run?`,
  cutAnswer: "The answer was cut off at the model's output limit.",
  notFinished: (steps) =>
    `Not finished:\n${steps.map((s) => `- ${s.description}: ${why(s) || "not done"}`).join("\n")}`,
  fixStep: (issues) => `Mend what the review found: ${issues.join("; ") || "the goal is not met"}`,
  notMet: (issues) =>
    `Not met, by the last review:\n${list(issues.length > 0 ? issues : ["the goal as a whole"])}`,
  reviewSpent: (n) =>
    `The review still found something after the work was sent back ${n} times; it is handed over as it is.`,
  reviewFailed: (reason) =>
    `The work could not be reviewed and is handed over unreviewed: ${reason}`,
  budget: ({ what, used, max }) =>
    ({
      tokens: `The budget for tokens (${max}) is used up: ${used} so far in this turn. Allow ${max} more?`,
      cost: `The budget for cost ($${max}) is used up: $${used} so far in this turn. Allow $${max} more?`,
      tools: `The budget for tool calls (${max}) is used up: ${used} so far in this turn. Allow ${max} more?`,
    })[what],
  costUnknown: (model) =>
    `The price of ${model} is not known, so the limit on cost cannot hold for it. Give it in the settings, under prices.`,
};
const ZH: Words = {
  retryExhausted: (n) =>
    `模型连续 ${n} 次给出无法使用的回复。没有丢失任何内容;请重试或换一个模型。`,
  outputLimit: (n) => `模型的回复连续 ${n} 次在输出上限处被截断,因此都没有采用。`,
  toolErrors: (tool, count, last) => `工具“${tool}”失败(连续 ${count} 次失败):${last}`,
  maxIterations: (n) => `在工作完成之前已达到 ${n} 次模型回复的上限。`,
  replansExhausted: (n) => `计划已修改 ${n} 次,步骤仍然失败;不再继续修改。`,
  restartLimit: (n) =>
    `工作连续 ${n} 次中断且没有进展,已被结束。已完成的内容都已保留;发送消息即可继续。`,
  outOfMemory: "会话需要的内存超过了允许的上限,已被结束。已完成的内容都已保留;请尝试更小的任务。",
  rateLimited: (until) =>
    `模型服务商要求等到 ${until},超过了允许的时间。没有丢失任何内容;请在那之后重试。`,
  retryWait: (until) => `模型服务商要求等待;工作将在 ${until} 自动继续。`,
  toolLeftOut: (list) => `已略去此模型无法接受的工具:${list}。`,
  approve: (tool) => `是否允许运行 ${tool}?`,
  cutAnswer: "回答在模型的输出上限处被截断。",
  notFinished: (steps) =>
    `未完成:\n${steps.map((s) => `- ${s.description}:${why(s) || "未执行"}`).join("\n")}`,
  fixStep: (issues) => `修正审查发现的问题:${issues.join(";") || "目标尚未达到"}`,
  notMet: (issues) =>
    `最后一次审查认为尚未满足:\n${list(issues.length > 0 ? issues : ["整体目标"])}`,
  reviewSpent: (n) => `工作已退回 ${n} 次,审查仍发现问题;现按现状交付。`,
  reviewFailed: (reason) => `无法完成审查,未经审查即交付:${reason}`,
  budget: ({ what, used, max }) =>
    ({
      tokens: `${max} 个 token 的预算已用完(本轮已用 ${used})。是否再给 ${max}?`,
      cost: `${max} 美元的预算已用完(本轮已用 ${used} 美元)。是否再给 ${max} 美元?`,
      tools: `${max} 次工具调用的预算已用完(本轮已用 ${used})。是否再给 ${max} 次?`,
    })[what],
  costUnknown: (model) =>
    `不知道 ${model} 的价格,因此费用上限对它不起作用。请在设置的 prices 中给出。`,
};

export const words = (locale: Locale): Words => (locale === "zh" ? ZH : EN);
