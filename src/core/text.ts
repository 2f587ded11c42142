/** Every sentence of the core that a person may read, in English and Chinese. */

import { head } from "./chars.ts";
import { EN as COMMANDS_EN, ZH as COMMANDS_ZH, type CommandWords } from "./command-text.ts";
import type { Step } from "./events.ts";
import { LIMITS } from "./limits.ts";
import type { Absence } from "./servers.ts";
import type { Omitted } from "./toolbox.ts";

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
  storageFull: string;
  tooLarge: string;
  rateLimited(until: string): string;
  retryWait(until: string): string;
  cutAnswer: string;
  sandbox: Record<"sandbox_starting" | "sandbox_restored", string>;
  approve(tool: string): string;
  specialist(name: string, text: string): string;
  toolLeftOut(list: string): string;
  serversLeftOut(servers: { name: string; why: Absence }[]): string;
  mcpToolsLeftOut(tools: Omitted[]): string;
  notFinished(steps: Step[]): string;
  copyOf(title: string): string;
  importSkipped(lines: number): string;
  fixStep(issues: string[]): string;
  notMet(issues: string[]): string;
  reviewSpent(rounds: number): string;
  reviewFailed(why: string): string;
  budget(over: { what: "tokens" | "cost" | "tools"; used: number; max: number }): string;
  daySpent: string;
  repaired(lost: { events: number; messages: number; parts: string[] }): string;
  costUnknown(model: string): string;
  commands: CommandWords;
}

const why = (s: Step) => head(s.error ?? s.result ?? "", 1_000);

const list = (lines: string[]) => lines.map((line) => `- ${line}`).join("\n");
/** The first of many, each in its own words. */
const inOneLine = <T>(items: T[], of: (item: T) => string): string =>
  head(items.map(of).join("; "), 1_000);

type Reasons = Record<Absence["code"], (why: Absence) => string>;
const statusOf = (why: Absence): string => (why.code === "refused" ? String(why.status) : "");
const ABSENT_EN: Reasons = {
  address: () =>
    "its address may not be reached from here; private ones must stand in MCP_ALLOW_PRIVATE",
  headers: () => "its headers cannot be sent; check their names and values",
  unreachable: () => "it could not be reached",
  timeout: () => "it did not answer in time",
  protocol: () => "it did not answer as an MCP server does; check its url",
  no_tools: () => "it offers no tools",
  refused: (why) => `it refused with HTTP ${statusOf(why)}; check its url and headers`,
};
const ABSENT_ZH: Reasons = {
  address: () => "此处不允许访问其地址;内网地址必须列入 MCP_ALLOW_PRIVATE",
  headers: () => "其请求头无法发送;请检查名称和值",
  unreachable: () => "无法连接",
  timeout: () => "没有及时响应",
  protocol: () => "响应不符合 MCP 协议;请检查 url",
  no_tools: () => "没有提供工具",
  refused: (why) => `以 HTTP ${statusOf(why)} 拒绝;请检查 url 和请求头`,
};
const OMITTED_EN: Record<Omitted["why"], string> = {
  too_many: `a server may bring ${LIMITS.mcpTools}`,
  too_large: "its description is too large",
  no_schema: "its schema is not an object",
};
const OMITTED_ZH: Record<Omitted["why"], string> = {
  too_many: `每台服务器最多 ${LIMITS.mcpTools} 个`,
  too_large: "描述过大",
  no_schema: "其参数模式不是对象",
};

const EN: Words = {
  commands: COMMANDS_EN,
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
    "The session needed more memory than it may have, so its turn was ended. What was done is kept. Try a smaller task, or go on in a new session.",
  storageFull:
    "The storage is full, so the turn was ended: its last step could not be kept. What was stored before can be read, exported and deleted. Make room (delete files or sessions), then send a message to go on.",
  tooLarge:
    "Something in this turn was larger than what can be stored at once, so the turn was ended. What was done before is kept. Try it in smaller pieces.",
  rateLimited: (until) =>
    `The model's provider asks to wait until ${until}, which is longer than allowed. Nothing was lost; try again after that.`,
  retryWait: (until) =>
    `The model's provider asks to wait; the work goes on by itself at ${until}.`,
  toolLeftOut: (list) => `Tools that this model cannot take were left out: ${list}.`,
  serversLeftOut: (servers) =>
    `MCP servers left out of this turn: ${inOneLine(servers, ({ name, why }) => `${name} (${ABSENT_EN[why.code](why)})`)}. They are asked again in the next turn.`,
  mcpToolsLeftOut: (tools) =>
    `Tools of MCP servers left out: ${inOneLine(tools, (t) => `${t.tool} (${OMITTED_EN[t.why]})`)}.`,
  approve: (tool) => `May ${tool} be run?`,
  specialist: (name, text) => `The specialist ${name} asks: ${text}`,
  sandbox: {
    sandbox_starting: "The sandbox is starting; this can take a moment.",
    sandbox_restored:
      "The sandbox was started anew. The files under /workspace are back; running programs and installed packages are gone.",
  },
  cutAnswer: "The answer was cut off at the model's output limit.",
  notFinished: (steps) =>
    `Not finished:\n${steps.map((s) => `- ${s.description}: ${why(s) || "not done"}`).join("\n")}`,
  copyOf: (title) => `Copy of ${title}`,
  importSkipped: (n) => `Lines of the imported file that could not be used were left out: ${n}.`,
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
  daySpent:
    "The tokens that you may use today are used up; there are more from midnight (UTC) on. Nothing was lost. Go on? Before then, that is refused; no ends the turn.",
  repaired: ({ events, messages, parts }) =>
    `Stored rows could not be read. Lost: ${events} events, ${messages} messages of the memories${parts.length > 0 ? `, and of the saved state: ${parts.join(", ")}` : ""}. A turn that was under way has ended; send a message to go on.`,
  costUnknown: (model) =>
    `The price of ${model} is not known, so the limit on cost cannot hold for it. Give it in the settings, under prices.`,
};
const ZH: Words = {
  commands: COMMANDS_ZH,
  retryExhausted: (n) =>
    `模型连续 ${n} 次给出无法使用的回复。没有丢失任何内容;请重试或换一个模型。`,
  outputLimit: (n) => `模型的回复连续 ${n} 次在输出上限处被截断,因此都没有采用。`,
  toolErrors: (tool, count, last) => `工具“${tool}”失败(连续 ${count} 次失败):${last}`,
  maxIterations: (n) => `在工作完成之前已达到 ${n} 次模型回复的上限。`,
  replansExhausted: (n) => `计划已修改 ${n} 次,步骤仍然失败;不再继续修改。`,
  restartLimit: (n) =>
    `工作连续 ${n} 次中断且没有进展,已被结束。已完成的内容都已保留;发送消息即可继续。`,
  outOfMemory:
    "会话需要的内存超过了允许的上限,本轮已被结束。已完成的内容都已保留;请尝试更小的任务,或在新会话中继续。",
  storageFull:
    "存储空间已满,最后一步无法保存,本轮已结束。此前存储的内容仍可读取、导出和删除。请腾出空间(删除文件或会话),然后发送消息继续。",
  tooLarge:
    "本轮中有内容超过了单次可存储的大小,本轮已结束。此前完成的内容都已保留;请分成更小的部分再试。",
  rateLimited: (until) =>
    `模型服务商要求等到 ${until},超过了允许的时间。没有丢失任何内容;请在那之后重试。`,
  retryWait: (until) => `模型服务商要求等待;工作将在 ${until} 自动继续。`,
  toolLeftOut: (list) => `已略去此模型无法接受的工具:${list}。`,
  serversLeftOut: (servers) =>
    `本轮未使用的 MCP 服务器:${inOneLine(servers, ({ name, why }) => `${name}(${ABSENT_ZH[why.code](why)})`)}。下一轮会再次尝试。`,
  mcpToolsLeftOut: (tools) =>
    `已略去的 MCP 工具:${inOneLine(tools, (t) => `${t.tool}(${OMITTED_ZH[t.why]})`)}。`,
  approve: (tool) => `是否允许运行 ${tool}?`,
  specialist: (name, text) => `专员 ${name} 询问:${text}`,
  sandbox: {
    sandbox_starting: "沙箱正在启动,可能需要一点时间。",
    sandbox_restored:
      "沙箱已重新启动。/workspace 下的文件已恢复;正在运行的程序和已安装的软件包不再保留。",
  },
  cutAnswer: "回答在模型的输出上限处被截断。",
  notFinished: (steps) =>
    `未完成:\n${steps.map((s) => `- ${s.description}:${why(s) || "未执行"}`).join("\n")}`,
  copyOf: (title) => `${title}（副本）`,
  importSkipped: (n) => `导入的文件中有 ${n} 行无法使用,已略去。`,
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
  daySpent:
    "您今天可用的 token 已用完;UTC 零点之后会有新的额度。没有丢失任何内容。是否继续?在此之前继续会被拒绝;选择否则结束本轮。",
  repaired: ({ events, messages, parts }) =>
    `存储的部分数据无法读取。已丢失:${events} 个事件、${messages} 条记忆消息${parts.length > 0 ? `,以及保存状态中的 ${parts.join("、")}` : ""}。进行中的一轮已结束;发送消息即可继续。`,
  costUnknown: (model) =>
    `不知道 ${model} 的价格,因此费用上限对它不起作用。请在设置的 prices 中给出。`,
};

export const words = (locale: Locale): Words => (locale === "zh" ? ZH : EN);
