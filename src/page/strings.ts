/** Every sentence of the page, English and Chinese side by side. `{x}` is filled in. The larger parts are in words/. */
import { readChoice } from "./storage.ts";
import { FILES } from "./words/files.ts";
import { SESSIONS } from "./words/sessions.ts";
import { SETTINGS } from "./words/settings.ts";
import { VIEWERS } from "./words/viewers.ts";

const TABLE = {
  ...FILES,
  ...SESSIONS,
  ...SETTINGS,
  ...VIEWERS,
  product: ["Dormouse", "Dormouse"],
  signOut: ["Sign out", "退出登录"],
  close: ["Close", "关闭"],
  skip: ["Skip to the conversation", "跳到对话"],

  idle: ["idle", "空闲"],
  running: ["running", "进行中"],
  waiting: ["waiting", "等待中"],
  completed: ["completed", "已完成"],
  failed: ["failed", "失败"],
  stopped: ["stopped", "已停止"],
  pending: ["pending", "未开始"],
  lost: ["no result", "没有结果"],
  badge: ["● waiting for you", "● 等待你的回答"],

  connecting: ["Connecting …", "正在连接……"],
  offline: [
    "No connection. Nothing is lost; it comes back by itself.",
    "连接已断开。内容不会丢失，会自动重连。",
  ],
  message: ["Message", "消息"],
  messageHint: ["Describe a task …", "描述一个任务……"],
  replyHint: ["Reply, or give the next task …", "回复，或交代下一个任务……"],
  steerHint: ["Add something while it works …", "它在工作，可以随时补充……"],
  send: ["Send", "发送"],
  stop: ["Stop", "停止"],
  keys: ["Enter sends · Shift+Enter for a new line", "Enter 发送 · Shift+Enter 换行"],
  willSteer: ["Will be read before the next step.", "会在下一步之前读到。"],
  willFollow: ["Will be done after this task.", "会在当前任务之后处理。"],
  willReplan: ["Will stop this step and make a new plan.", "会停下当前步骤并重新规划。"],
  willReject: [
    "It is busy: messages are refused until it is done.",
    "正在忙：完成之前不接受新消息。",
  ],
  willQueue: ["Will be read after you have decided.", "会在你做出决定之后读到。"],
  queued: ["waiting to be read", "等待读取"],
  sending: ["sending …", "正在发送……"],
  notSent: ["Not sent: {why}", "没有发送：{why}"],
  tryAgain: ["Try again", "重试"],
  discard: ["Discard", "放弃"],
  mode: ["Mode", "模式"],
  modeAgent: ["Agent: plans, then works", "Agent：先计划，再执行"],
  modeChat: ["Chat: answers, with tools", "Chat：对话，可用工具"],
  modeWorkflow: ["Workflow: one guarded loop", "Workflow：受控循环"],
  modeDirect: ["Direct: one answer, no tools", "Direct：直接回答，不用工具"],

  timeline: ["Conversation", "对话"],
  you: ["You", "你"],
  agent: ["Dormouse", "Dormouse"],
  plan: ["Plan", "计划"],
  step: ["Step {n}", "步骤 {n}"],
  progress: ["{done} of {total} steps", "共 {total} 步，完成 {done} 步"],
  planDone: ["All steps are done", "所有步骤已完成"],
  planOver: ["The plan has ended", "计划已结束"],
  planNext: ["Choosing the next step", "正在确定下一步"],
  planChanged: ["Plan changed", "计划已调整"],
  before: ["Before", "之前"],
  after: ["After", "之后"],
  elapsed: ["elapsed {time}", "用时 {time}"],
  toolsOfStep: ["{n} tool calls", "{n} 次工具调用"],
  oneTool: ["1 tool call", "1 次工具调用"],
  thinkingOf: ["Thinking", "思考过程"],
  actPlanning: ["Planning", "正在制定计划"],
  actThinking: ["Thinking", "正在思考"],
  actWriting: ["Writing", "正在书写"],
  actTool: ["Working: {what}", "正在执行：{what}"],
  retryAt: ["The model asked for a pause. It goes on at {time}.", "模型要求稍等，{time} 继续。"],
  liveJump: ["Jump to live", "回到最新"],
  liveNew: ["{n} new", "{n} 条新内容"],
  interrupted: ["Stopped. It was at: {what}", "已停止。当时正在：{what}"],
  stoppedPlain: ["Stopped. Files and history are kept.", "已停止。文件和记录都还在。"],
  failedPlain: [
    "This turn failed. Files and history are kept; send a message to go on.",
    "这一轮失败了。文件和记录都还在，发消息即可继续。",
  ],
  reviewPass: ["Review passed, {score} / 10", "审查通过，{score} / 10"],
  reviewFail: ["Review asks for more, {score} / 10", "审查未通过，{score} / 10"],
  nudge: ["Corrected itself ({reason})", "已自行纠正（{reason}）"],

  question: ["Question for you", "有个问题"],
  approval: ["May it do this?", "允许这样做吗？"],
  budget: ["The budget is used up", "预算已用完"],
  yourAnswer: ["Your answer", "你的回答"],
  answer: ["Answer", "回答"],
  orType: ["Or write your own answer …", "或者写下你的回答……"],
  typeAnswer: ["Write your answer …", "写下你的回答……"],
  approve: ["Approve", "批准"],
  decline: ["Decline", "拒绝"],
  approved: ["Approved", "已批准"],
  declined: ["Declined", "已拒绝"],
  unanswered: ["not answered", "未回答"],
  asleep: [
    "Asleep, costs nothing, wakes when you answer.",
    "睡着了，不产生费用，你回答后就会醒来。",
  ],

  practice: [
    "This is the practice model: rules, no AI. Set OPENAI_API_KEY to connect a real one.",
    "这是练习模型：只有规则，不是 AI。设置 OPENAI_API_KEY 即可接入真实模型。",
  ],
  alreadyNew: [
    "This is a new session already: write its first task.",
    "这里已经是新会话，请写下第一个任务。",
  ],
  welcome: ["What should be done?", "要做什么？"],
  welcomeText: [
    "Give it a task and come back later. It plans, works in its own sandbox, asks when it has to, and keeps everything.",
    "交代一个任务，稍后再来看。它会制定计划，在沙箱中工作，必要时向你提问，所有内容都会保留。",
  ],
  examples: ["Try one of these", "试试这些"],
  signIn: ["Sign in", "登录"],
  token: ["Access token", "访问令牌"],
  signInText: ["Paste the token that you were given.", "请粘贴你的访问令牌。"],
  wrongToken: ["That token is not known here.", "这个令牌无效。"],

  errNetwork: [
    "The server could not be reached. Nothing is lost; try again in a moment.",
    "无法连接服务器。内容没有丢失，请稍后重试。",
  ],
  errNotFound: ["There is no such session.", "没有这个会话。"],
  errNoAuth: [
    "Nobody can sign in yet: set AUTH_TOKEN or AUTH_TOKENS on this deployment.",
    "还不能登录：请先为部署设置 AUTH_TOKEN 或 AUTH_TOKENS。",
  ],
  errAnswered: ["This was answered already.", "这个问题已经有人回答了。"],
  errBusy: ["It is busy with a task.", "正在处理任务。"],
  errTooLarge: ["That is too long to send.", "内容太长，无法发送。"],
  home: ["Start a new session", "开始新会话"],
  seconds: ["{n} s", "{n} 秒"],
  justNow: ["now", "刚刚"],

  loading: ["Loading …", "正在加载……"],
  practiceName: ["Practice model", "练习模型"],
  notHere: ["There is nothing to show here", "这里没有可显示的内容"],
  edit: ["Edit", "编辑"],
  editQueued: ["Edit the message", "编辑消息"],
  takeBack: ["Take back", "撤回"],
  takenBack: ["taken back before it was read", "在读取之前已撤回"],
  alreadyRead: ["It has been read already.", "消息已经被读取。"],
  wasFollowUp: ["for after the task", "任务之后处理"],
  wasReplan: ["asked for a new plan", "要求重新规划"],
  editResend: ["Edit and send again", "编辑后重新发送"],
  earlier: ["{n} earlier …", "更早的 {n} 项……"],
  sumTime: ["worked {time}", "用时 {time}"],
  sumOneCall: ["1 model call", "1 次模型调用"],
  sumCalls: ["{n} model calls", "{n} 次模型调用"],
  sumTokens: ["{n} tokens", "{n} 个 token"],
  sumTokensAbout: ["about {n} tokens", "约 {n} 个 token"],
  issues: ["{n} to mend", "{n} 个问题"],
  nothingLost: ["Files and history are kept.", "文件和记录都还在。"],
  nextAgain: ["Try again.", "请重试。"],
  nextMessage: ["Send a message to go on.", "发送消息即可继续。"],
  nextKey: ["Check the provider's key on the server.", "请检查服务器上的密钥。"],
  nextProvider: ["Set a provider and its key on the server.", "请在服务器上设置模型服务和密钥。"],
  nextQuota: [
    "Raise the quota at the provider, or choose another one.",
    "请提高配额，或换一个模型服务。",
  ],
  nextLater: ["Try again later.", "请稍后再试。"],
  nextShorter: ["Start a new session, or ask for less at once.", "请开始新会话，或缩小要求。"],
  nextSandbox: [
    "Try again in a minute; the sandbox could not be reached.",
    "沙箱暂时不可用，请稍后再试。",
  ],
  nextBudget: ["Raise the budget in the settings.", "请在设置中提高预算。"],
  nextSmaller: ["Ask for a smaller part of it.", "请先要求其中一小部分。"],
  rebuilt: [
    "The history was built anew on the server; this is how it stands now.",
    "服务器重建了历史记录，这是现在的内容。",
  ],
  notify: ["Notify me when it needs me or is done", "需要我或完成时通知我"],
  notifyOn: ["You will be told when it needs you or is done.", "需要你或完成时会通知你。"],
  notifyOff: ["No more notifications.", "不再通知。"],
  notifyRefused: ["The browser does not allow notifications here.", "浏览器不允许在此显示通知。"],
} as const satisfies Record<string, readonly [string, string]>;

export type StringKey = keyof typeof TABLE;
export type Locale = "en" | "zh";

/** Where the reader's own choice is kept; without one it is the browser's language. */
export const LOCALE_CHOICE = "locale";
function preferred(): Locale {
  const chosen = readChoice(LOCALE_CHOICE);
  if (chosen === "en" || chosen === "zh") return chosen;
  const { language = "en" } = globalThis.navigator ?? {};
  return language.toLowerCase().startsWith("zh") ? "zh" : "en";
}
export const locale: Locale = preferred();

export function translate(key: StringKey, vars: Record<string, string | number>, to: Locale) {
  const text: string = TABLE[key][to === "zh" ? 1 : 0];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(vars[name] ?? whole));
}

export const t = (key: StringKey, vars: Record<string, string | number> = {}): string =>
  translate(key, vars, locale);
