/** Tasks to try. The practice model makes a step of each line, runs what stands in backticks, asks on a `?`. */
import type { Locale } from "./strings.ts";

interface Example {
  title: string;
  hint: string;
  text: string;
}
const task = (...lines: string[]) => lines.join("\n");

export const EXAMPLES: Record<Locale, readonly Example[]> = {
  en: [
    {
      title: "Write and read a file",
      hint: "Two steps in the sandbox",
      text: task(
        'Write a greeting: `echo "Hello from the hazel bush" > hello.txt`',
        "Read it back: `cat hello.txt`",
      ),
    },
    {
      title: "Count some words",
      hint: "Three steps, each uses the last one's file",
      text: task(
        'Note down some trees: `printf "hazel\\noak\\nbeech\\nhazel\\n" > trees.txt`',
        "Sort them without doubles: `sort trees.txt | uniq > sorted.txt`",
        "Count what is left: `wc -l sorted.txt`",
      ),
    },
    {
      title: "Be asked something",
      hint: "It stops, sleeps, and goes on when you answer",
      text: task(
        "Look at the working folder: `pwd && ls -la`",
        "Which season do you like best?",
        "Keep the date: `date > today.txt && cat today.txt`",
      ),
    },
  ],
  zh: [
    {
      title: "写一个文件再读出来",
      hint: "在沙箱里走两步",
      text: task('写下问候：`echo "榛树丛里的问候" > hello.txt`', "读出来：`cat hello.txt`"),
    },
    {
      title: "数一数",
      hint: "三个步骤，后一步用到前一步的文件",
      text: task(
        '记下几种树：`printf "hazel\\noak\\nbeech\\nhazel\\n" > trees.txt`',
        "排序并去重：`sort trees.txt | uniq > sorted.txt`",
        "数一下还剩几种：`wc -l sorted.txt`",
      ),
    },
    {
      title: "让它问你一个问题",
      hint: "它会停下来睡觉，等你回答再继续",
      text: task(
        "看看工作目录：`pwd && ls -la`",
        "你最喜欢哪个季节?",
        "记下日期：`date > today.txt && cat today.txt`",
      ),
    },
  ],
};
