/** Every sentence of the terminal client, in English and Chinese. */
export type Language = "en" | "zh";

const STRINGS = {
  usage: [
    `Usage: npm run chat -- [options]

  (no options)          talk, in a terminal; with text piped in, one task a line
  -p, --prompt TASK     work on one task, print its answer, leave
      --json            print every event as a line of JSON, and last the result
  -s, --session ID      an existing session, by its id or the beginning of it
      --key NAME        the session that is bound to a name; made when it is not there
      --mode MODE       agent, chat, workflow or direct, for a new session
      --url URL         the server (else DORMOUSE_URL, what was set up, http://localhost:8787)
      --setup           ask for language, server and token again
  -h, --help            this

The token comes from DORMOUSE_TOKEN or from the setup, never from the command line.
Exit codes: 0 completed · 1 failed · 2 wrong use or no connection · 3 waits for an answer · 130 stopped`,
    `用法：npm run chat -- [选项]

  （无选项）             在终端里对话；从管道输入文字时，每行一个任务
  -p, --prompt 任务     完成一个任务，输出答案后退出
      --json            每个事件输出一行 JSON，最后一行是结果
  -s, --session ID      已有的会话，用其 ID 或 ID 的开头
      --key 名称        绑定到某个名称的会话；没有则新建
      --mode 模式       新会话的模式：agent、chat、workflow 或 direct
      --url 地址        服务器（否则依次为 DORMOUSE_URL、已保存的设置、http://localhost:8787）
      --setup           重新询问语言、服务器和令牌
  -h, --help            显示本帮助

令牌取自 DORMOUSE_TOKEN 或已保存的设置，绝不取自命令行。
退出码：0 已完成 · 1 失败 · 2 用法错误或无法连接 · 3 等待回答 · 130 已停止`,
  ],
  badOption: ["{0}\nSee --help.", "{0}\n请看 --help。"],
  tokenOption: [
    "A token on the command line can be seen by others. Set DORMOUSE_TOKEN, or run --setup.",
    "命令行中的令牌会被别人看到。请设置 DORMOUSE_TOKEN，或运行 --setup。",
  ],
  badMode: ["--mode is one of: {0}", "--mode 可选：{0}"],
  badUrl: [
    "That is no address of a server. Give one like https://dormouse.example.com, without a token in it.",
    "这不是服务器地址。请给出形如 https://dormouse.example.com 的地址，其中不要带令牌。",
  ],
  blankTask: ["-p needs a task.", "-p 需要一个任务。"],
  unreachable: [
    "Nobody answers at {0}. Start Dormouse there (npm start), or name another server with --url.",
    "{0} 没有响应。请在那里启动 Dormouse（npm start），或用 --url 指定另一个服务器。",
  ],
  signIn: [
    "{0} wants a token. Set DORMOUSE_TOKEN, or run --setup.",
    "{0} 需要令牌。请设置 DORMOUSE_TOKEN，或运行 --setup。",
  ],
  noSession: ["There is no session {0}.", "没有会话 {0}。"],
  manySessions: ["{0} is the beginning of several sessions:\n{1}", "有多个会话以 {0} 开头：\n{1}"],
  gaveUp: ["The server could not be reached for {0} minutes.", "已有 {0} 分钟无法连接服务器。"],

  chooseLanguage: ["Language · 语言", "语言 · Language"],
  welcome: ["Dormouse in the terminal", "终端里的 Dormouse"],
  askUrl: ["Which server?", "使用哪个服务器？"],
  askToken: [
    "Token (empty for a server on this machine without one)",
    "令牌（本机上无令牌的服务器请留空）",
  ],
  tryFailed: ["It did not work: {0}", "没有成功：{0}"],
  saveAnyway: ["Keep these settings all the same?", "仍然保存这些设置吗？"],
  saved: ["Kept in {0}, readable by you alone.", "已保存到 {0}，只有你能读取。"],
  cancelled: ["Nothing was changed.", "没有任何改动。"],
  practice: [
    "The practice model serves: rules, no AI. For a real model set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or CUSTOM_BASE_URL on the server (see .dev.vars.example).",
    "当前是练习模型：它是规则，不是 AI。要用真正的模型，请在服务器上设置 OPENAI_API_KEY、ANTHROPIC_API_KEY、GEMINI_API_KEY 或 CUSTOM_BASE_URL（见 .dev.vars.example）。",
  ],
  provider: ["Model provider: {0}", "模型服务商：{0}"],

  hello: [
    "{0} · Enter sends, \\ at the end of a line goes on with the next · /help · Ctrl-C stops a turn, again leaves",
    "{0} · 回车发送，行末加 \\ 可续行 · /help · Ctrl-C 停止回合，再按一次退出",
  ],
  session: ["Session {0}", "会话 {0}"],
  fresh: ["A new session begins with your next message.", "你的下一条消息将开始一个新会话。"],
  localHelp: [
    "In the terminal also: /export [FILE] saves this session · /quit leaves",
    "在终端里还有：/export [文件] 保存本会话 · /quit 退出",
  ],
  exported: ["Saved to {0}", "已保存到 {0}"],
  nothingYet: ["There is no session yet.", "还没有会话。"],
  again: ["Ctrl-C once more leaves.", "再按一次 Ctrl-C 退出。"],
  stopping: ["Stopping; Ctrl-C once more leaves.", "正在停止；再按一次 Ctrl-C 退出。"],
  offline: ["Connection lost; trying again …", "连接已断开，正在重试 …"],
  online: ["Connected again.", "已重新连接。"],

  plan: ["Plan", "计划"],
  planChanged: ["The plan has changed", "计划已更改"],
  you: ["you", "你"],
  waiting: ["Waiting for you", "等待你的回答"],
  running: ["running …", "运行中 …"],
  exit: ["exit {0}", "退出码 {0}"],
  failed: ["failed", "失败"],
  more: ["… {0} more lines", "… 还有 {0} 行"],
  nudge: ["a reply was refused ({0}); it is asked again", "一次回复被拒绝（{0}），将再次询问"],
  compaction: ["history shortened", "历史已缩短"],
  review: ["Review: {0} ({1}/10)", "审阅：{0}（{1}/10）"],
  retracted: ["(taken back)", "（已撤回）"],
  retry: ["The provider asks to wait until {0}", "服务商要求等到 {0}"],
  file: ["File: {0} ({1} B)", "文件：{0}（{1} B）"],
  completed: ["Done", "已完成"],
  stopped: ["Stopped", "已停止"],
  turnFailed: ["Failed", "失败"],
  totals: [
    "{0} · {1} model calls · {2} tokens in, {3} out · {4}",
    "{0} · 模型调用 {1} 次 · 输入 {2}、输出 {3} 个令牌 · {4}",
  ],

  yes: ["Yes, run it", "是，运行"],
  no: ["No", "否"],
  approveWhat: ["{0}: allow it?", "{0}：允许吗？"],
  other: ["Something else …", "其他 …"],
  yourAnswer: ["Your answer", "你的回答"],
  yesOrNo: ["Please answer yes or no.", "请回答 yes 或 no（是或否）。"],
  stillWaiting: [
    "It waits for an answer. Go on with: npm run chat -- --session {0}",
    "它在等待回答。继续：npm run chat -- --session {0}",
  ],
} satisfies Record<string, [en: string, zh: string]>;

export type StringKey = keyof typeof STRINGS;
export type Say = (key: StringKey, ...parts: (string | number)[]) => string;

export const sayIn =
  (language: Language): Say =>
  (key, ...parts) =>
    STRINGS[key][language === "zh" ? 1 : 0].replace(/\{(\d)\}/g, (_, i: string) =>
      String(parts[Number(i)] ?? ""),
    );

/** What was set up, else the language of the environment. */
export function languageOf(
  chosen: Language | undefined,
  env: Record<string, string | undefined>,
): Language {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || "";
  return chosen ?? (/^zh/i.test(locale) ? "zh" : "en");
}
