/** The commands that the docs tell people to type: every line of a shell block, and what stands in backticks or in an
 * example's header and begins with a program. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Found {
  /** As it is typed, without a comment behind it. */
  command: string;
  file: string;
  line: number;
}

const PROGRAMS = "npm|npx|node|curl|openssl|printf|sh|bash|sed|git|docker|wrangler|cp|mkdir";
const TYPED = new RegExp(`^(?:[A-Z_]+=\\S+ +)*(?:${PROGRAMS}) \\S`);
/** Inline: not what is only named (`npm install`s of a sentence are typed as well). */
const INLINE = /`([^`\n]+)`/g;
/** What is behind two blanks and a hash is said to the reader. */
const withoutComment = (line: string): string => line.replace(/\s{2,}#.*$/, "").trim();

export const docFiles = (): string[] => [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  ...readdirSync(join(ROOT, "docs"))
    .filter((f) => f.endsWith(".md"))
    .map((f) => `docs/${f}`),
];
const exampleFiles = (): string[] =>
  readdirSync(join(ROOT, "examples")).map((f) => `examples/${f}`);

function inMarkdown(file: string): Found[] {
  const found: Found[] = [];
  let fence: string | null = null;
  readFileSync(join(ROOT, file), "utf8")
    .split("\n")
    .forEach((text, i) => {
      const add = (command: string) => found.push({ command, file, line: i + 1 });
      const mark = /^```(\w*)/.exec(text);
      if (mark) {
        fence = fence === null ? (mark[1] ?? "") : null;
      } else if (fence !== null) {
        const command = withoutComment(text);
        // A shell block says so; one without a name may still be one.
        const shell = fence === "sh" && command !== "" && !command.startsWith("#");
        if (shell || (fence === "" && TYPED.test(command))) add(command);
      } else {
        for (const [, code = ""] of text.matchAll(INLINE)) if (TYPED.test(code)) add(code);
      }
    });
  return found;
}

/** In the header of an example, each command is a line of its own, set in. */
function inExample(file: string): Found[] {
  return readFileSync(join(ROOT, file), "utf8")
    .split("\n")
    .flatMap((text, i) => {
      const line = /^(?: \*|#) {3}(\S.*)$/.exec(text)?.[1];
      const command = line && withoutComment(line);
      return command && TYPED.test(command) ? [{ command, file, line: i + 1 }] : [];
    });
}

export const commands = (): Found[] => [
  ...docFiles().flatMap(inMarkdown),
  ...exampleFiles().flatMap(inExample),
];
