/**
 * What the practice model says, in English and Chinese, and the little it understands of a line.
 *
 * N1  It never pretends: every text of its own says or shows that rules wrote it, not an AI.
 */
export type Language = "en" | "zh";

/** Chinese when the text holds Han characters and no kana, which would be Japanese. */
export const languageOf = (text: string): Language =>
  /\p{Script=Han}/u.test(text) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)
    ? "zh"
    : "en";

interface Words {
  about: string;
  planned(steps: number, cut: boolean): string;
  run(command: string): string;
  ran(command: string, output: string, exitCode: number | null): string;
  noShell: string;
  ask: string;
  answered(answer: string): string;
  save: string;
  noted(line: string): string;
  heard(text: string): string;
  refused: string;
  summary(passed: number, all: number): string;
  emptyOutput: string;
  empty: string;
}

const EXAMPLES = {
  en: "```\nShow the date with `date` and the folder with `pwd`\nWrite a file with `echo hello > hello.txt` and read it with `cat hello.txt`\nWhich colour do you like (red/green/blue)?\n```",
  zh: "```\n用 `date` 看日期，用 `pwd` 看目录\n用 `echo 你好 > hello.txt` 写文件，再用 `cat hello.txt` 读出来\n你喜欢哪种颜色（红/绿/蓝）？\n```",
};

const fence = (output: string): string => {
  // Longer than any fence inside, so that output cannot close it.
  const longest = Math.max(2, ...[...output.matchAll(/`+/g)].map((m) => m[0].length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}\n${output}\n${ticks}`;
};

export const WORDS: Record<Language, Words> = {
  en: {
    about: `I am the practice model: fixed rules, no AI. I make one step of every line of a task, run what stands in \`backticks\` as commands, and ask you when a line ends with a question mark. Try this:\n\n${EXAMPLES.en}\n\nTo talk to a real model, configure an API key.`,
    planned: (steps, cut) =>
      `Practice model (no AI): I made ${steps === 1 ? "one step" : `${steps} steps`}, one per line of your message.${cut ? " Further lines are left out." : ""}`,
    run: (command) => `Run ${command}`,
    ran: (command, output, exitCode) =>
      `\`${command}\`${exitCode === 0 ? "" : exitCode === null ? " did not finish" : ` ended with exit code ${exitCode}`}:\n${fence(output)}`,
    noShell: "There is no shell here, so I cannot run the commands of this line.",
    ask: "Ask you",
    answered: (answer) => `Your answer is "${answer}". I saved it in answers.md.`,
    save: "Save the answer",
    noted: (line) => `I wrote this line into notes.md: ${line}`,
    heard: (text) => `Meanwhile you said: ${text}`,
    refused: "This step could not be completed.",
    summary: (passed, all) =>
      `Practice model (no AI): ${passed} of ${all} ${all === 1 ? "step" : "steps"} succeeded.`,
    emptyOutput: "(no output)",
    empty: "(nothing)",
  },
  zh: {
    about: `我是练习模型：只有固定规则，没有人工智能。我把任务的每一行变成一个步骤，把\`反引号\`里的内容当作命令运行，遇到以问号结尾的行就向你提问。试试看：\n\n${EXAMPLES.zh}\n\n想使用真正的模型，请配置 API 密钥。`,
    planned: (steps, cut) =>
      `练习模型（无人工智能）：我按每行一步，制定了 ${steps} 个步骤。${cut ? "后面的行已省略。" : ""}`,
    run: (command) => `运行 ${command}`,
    ran: (command, output, exitCode) =>
      `\`${command}\`${exitCode === 0 ? "" : exitCode === null ? " 未能完成" : ` 的退出码是 ${exitCode}`}：\n${fence(output)}`,
    noShell: "这里没有终端，无法运行这一行的命令。",
    ask: "向你提问",
    answered: (answer) => `你的回答是“${answer}”，已保存到 answers.md。`,
    save: "保存回答",
    noted: (line) => `已把这一行写入 notes.md：${line}`,
    heard: (text) => `期间你说：${text}`,
    refused: "这个步骤没有完成。",
    summary: (passed, all) => `练习模型（无人工智能）：${all} 个步骤中有 ${passed} 个成功。`,
    emptyOutput: "（没有输出）",
    empty: "（空）",
  },
};

const GREETING =
  /^(hi|hello|hey|yo|hola|good (morning|afternoon|evening|day)|thanks?|thank you( (very|so) much)?|thx|ok(ay)?|bye|goodbye|help|who are you|what are you|what can you do|你好|您好|嗨|哈喽|早上好|下午好|晚上好|谢谢你?|多谢|再见|在吗|你是谁|帮助|你能做什么|你会做什么)( (there|again|all|everyone|you))?[呀啊吗]?$/iu;

/** Nothing to do in it: a greeting, thanks, or no word at all. */
export function isSmallTalk(text: string): boolean {
  const words = text
    .replace(/[^\p{L}\p{N}`]+/gu, " ")
    .trim()
    .toLowerCase();
  return words === "" || GREETING.test(words);
}

/** The lines of a task without list markers. Code fences and rules are no lines of their own. */
export const linesOf = (text: string): string[] =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) =>
      line
        .replace(/^\s*(?:[-*•+]\s+|#{1,6}\s+|[（(]?\d{1,3}(?:[.)]\s+|[、）)]\s*|\.\s+))/u, "")
        .replace(/^\[[ xX]\]\s+/, "")
        .trim(),
    )
    .filter((line) => line !== "" && !/^(?:`{3,}\w*|-{3,}|\*{3,}|[-*•+])$/.test(line));

/** The commands of a line: what stands in backticks. */
export const commandsOf = (line: string): string[] =>
  [...line.matchAll(/`([^`]+)`/g)].map((m) => (m[1] ?? "").trim()).filter((c) => c !== "");

export const isQuestion = (line: string): boolean => /[?？]\s*$/.test(line);

/** The choices that a question names: "(a/b/c)", "red, green or blue?", "红还是蓝？". */
export function optionsOf(line: string): string[] {
  const listed = /[（(]([^()（）]+)[)）]\s*[?？]?\s*$/.exec(line)?.[1];
  const inBrackets = (listed ?? "").split(/[/|／、]/).map((o) => o.trim());
  if (inBrackets.length > 1 && inBrackets.every((o) => o !== "")) return inBrackets.slice(0, 10);
  const word = "[\\p{L}\\p{N}_.+#-]+";
  const english = new RegExp(
    `((?:${word}, )*${word}),? or (${word}(?: ${word})?)\\s*[?？]\\s*$`,
    "iu",
  );
  const or = english.exec(line);
  if (or) return [...(or[1] ?? "").split(", "), or[2] ?? ""].slice(0, 10);
  const chinese = /([^\s，,：:。]{1,12})还是([^\s，,：:。?？]{1,12})[?？]\s*$/u.exec(line);
  return chinese ? [chinese[1] ?? "", chinese[2] ?? ""] : [];
}
