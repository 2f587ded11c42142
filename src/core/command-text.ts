/** What commands answer, in English and Chinese: the part of text.ts that only commands need. */
import type { Step } from "./events.ts";
import type { Usage } from "./usage.ts";

export interface CommandWords {
  help: string;
  unknown(name: string): string;
  /** It cannot be done while a turn is under way. */
  busy: string;
  idle: string;
  noShell: string;
  lost: string;
  moved(to: string): string;
  /** The new session is being made already. */
  moving: string;
  notMoved: string;
  exported(path: string): string;
  plan(steps: Step[]): string;
  noPlan: string;
  usage(u: Usage): string;
  compact: string;
  model(name: string): string;
  oneModel: string;
  modelSet(name: string): string;
  lang(now: string): string;
  langSet(locale: string): string;
  review(on: boolean): string;
  reviewSet(on: boolean): string;
  mode(now: string, all: string): string;
  modeSet(mode: string): string;
}

const n = (value: number): string => value.toLocaleString("en-US");
const cost = (u: Usage): string => (u.cost_usd === null ? "" : `US$ ${u.cost_usd.toFixed(4)}`);

const MARKS = { pending: "○", running: "▸", completed: "✓", failed: "✗" } as const;
const markOf = (s: Step) => (s.success === false ? MARKS.failed : MARKS[s.status]);
const planLines = (steps: Step[]): string =>
  steps.map((s, i) => `${i + 1}. ${markOf(s)} ${s.description}`).join("\n");

export const EN: CommandWords = {
  help: [
    "Commands are answered at once, without a model:",
    "",
    "- `/help` what there is",
    "- `/new`, `/new TEXT` goes on in a new session, with that text as its first message; this one stays",
    "- `/stop` stops the turn under way",
    "- `/plan` the plan and how far it is",
    "- `/model NAME` another model from the next turn on; `/model default` goes back, `/model` alone tells",
    "- `/mode agent|chat|workflow|direct` another way of working, at rest",
    "- `/usage` calls and tokens of this session",
    "- `/compact` shortens the history before the next request",
    "- `/review on|off` a reviewer looks at the result, from the next turn on",
    "- `/lang en|zh|auto` the language of the harness",
    "- `/export` where to download this session",
    "- `!COMMAND` runs a command line in the sandbox; its output is shown, and known to the model",
    "",
    "To send text that begins with `/` or `!` as it is, put a `\\` before it.",
  ].join("\n"),
  unknown: (name) =>
    `There is no command /${name}. /help lists them. To send it as text, write \\/${name}.`,
  busy: "A turn is under way, and this has to wait until it has ended. Stop it with /stop, or answer what it asks. To send it as text, put a \\ before it.",
  idle: "Nothing is running.",
  noShell: "The shell is not allowed in this session, so nothing was run.",
  lost: "The service was interrupted while this ran. It may have run wholly, in part, or not at all; it is not run again by itself.",
  moved: (to) => `A new session has begun: ${to}. This one stays as it is.`,
  moving: "A new session is being made already.",
  notMoved: "The new session could not be made just now, and nothing has changed. Send /new again.",
  exported: (path) =>
    `Download this session from ${path} (JSONL; with your token or signed in), or use \`/export\` in the terminal.`,
  plan: planLines,
  noPlan: "There is no plan.",
  usage: (u) =>
    [
      `Model calls: ${n(u.model_calls)}`,
      `Tool calls: ${n(u.tool_calls)}`,
      `Tokens in: ${n(u.input_tokens)} (${n(u.cached_tokens)} from the cache)`,
      `Tokens out: ${n(u.output_tokens)}${u.measured ? "" : " (partly estimated)"}`,
      ...(cost(u) ? [`Cost: ${cost(u)}`] : []),
    ]
      .map((line) => `- ${line}`)
      .join("\n"),
  compact: "The history is shortened before the next request, if that gains anything.",
  model: (name) => `The model is ${name}. \`/model NAME\` chooses another.`,
  oneModel: "Give one model name without spaces, at most 200 characters: `/model NAME`.",
  modelSet: (name) => `From the next turn on the model is ${name}.`,
  lang: (now) =>
    `The language is ${now}. Choose with \`/lang en\`, \`/lang zh\` or \`/lang auto\`.`,
  langSet: (locale) =>
    locale === "auto" ? "The language follows the conversation." : "The language is English.",
  review: (on) =>
    `The reviewer is ${on ? "on" : "off"}. Choose with \`/review on\` or \`/review off\`.`,
  reviewSet: (on) => `From the next turn on the reviewer is ${on ? "on" : "off"}.`,
  mode: (now, all) => `The mode is ${now}. Choose with \`/mode\` and one of: ${all}.`,
  modeSet: (mode) => `The mode is ${mode}.`,
};

export const ZH: CommandWords = {
  help: [
    "命令会立即得到回答，不经过模型：",
    "",
    "- `/help` 有哪些命令",
    "- `/new`、`/new 文字` 在新会话中继续，并把该文字作为第一条消息；本会话保持不变",
    "- `/stop` 停止正在进行的回合",
    "- `/plan` 计划及其进度",
    "- `/model 名称` 从下一回合起换用另一个模型；`/model default` 恢复默认，单独的 `/model` 显示当前模型",
    "- `/mode agent|chat|workflow|direct` 空闲时切换工作方式",
    "- `/usage` 本会话的调用次数与令牌数",
    "- `/compact` 在下一次请求前缩短历史",
    "- `/review on|off` 从下一回合起由审阅者检查结果",
    "- `/lang en|zh|auto` 界面语言",
    "- `/export` 在哪里下载本会话",
    "- `!命令` 在沙箱中运行命令行；输出会显示出来，模型也会知道",
    "",
    "要原样发送以 `/` 或 `!` 开头的文字，请在前面加一个 `\\`。",
  ].join("\n"),
  unknown: (name) =>
    `没有命令 /${name}。输入 /help 查看全部命令。要作为文字发送，请写 \\/${name}。`,
  busy: "有一个回合正在进行，这要等它结束。可用 /stop 停止它，或先回答它的问题。要作为文字发送，请在前面加一个 \\。",
  idle: "没有正在运行的内容。",
  noShell: "本会话不允许使用终端，因此没有运行任何内容。",
  lost: "服务在它运行时中断了。它可能已全部运行、部分运行或完全没有运行；不会自动再次运行。",
  moved: (to) => `新会话已开始：${to}。本会话保持不变。`,
  moving: "新会话正在创建。",
  notMoved: "暂时无法创建新会话，没有任何改变。请再次发送 /new。",
  exported: (path) =>
    `从 ${path} 下载本会话（JSONL；需要令牌或登录），或在终端里使用 \`/export\`。`,
  plan: planLines,
  noPlan: "没有计划。",
  usage: (u) =>
    [
      `模型调用：${n(u.model_calls)}`,
      `工具调用：${n(u.tool_calls)}`,
      `输入令牌：${n(u.input_tokens)}（其中 ${n(u.cached_tokens)} 来自缓存）`,
      `输出令牌：${n(u.output_tokens)}${u.measured ? "" : "（部分为估算）"}`,
      ...(cost(u) ? [`费用：${cost(u)}`] : []),
    ]
      .map((line) => `- ${line}`)
      .join("\n"),
  compact: "如果有所收获，历史会在下一次请求前缩短。",
  model: (name) => `当前模型是 ${name}。用 \`/model 名称\` 选择另一个。`,
  oneModel: "请给出一个不含空格、最多 200 个字符的模型名称：`/model 名称`。",
  modelSet: (name) => `从下一回合起使用模型 ${name}。`,
  lang: (now) => `当前语言是 ${now}。用 \`/lang en\`、\`/lang zh\` 或 \`/lang auto\` 选择。`,
  langSet: (locale) => (locale === "auto" ? "语言随对话而定。" : "语言为中文。"),
  review: (on) => `审阅者已${on ? "开启" : "关闭"}。用 \`/review on\` 或 \`/review off\` 选择。`,
  reviewSet: (on) => `从下一回合起审阅者${on ? "开启" : "关闭"}。`,
  mode: (now, all) => `当前模式是 ${now}。用 \`/mode\` 加上其中之一来选择：${all}。`,
  modeSet: (mode) => `模式为 ${mode}。`,
};
