/** The terminal client's parts: what may reach a terminal, what a line means, where settings are kept. */
import { mkdtemp, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readArgs } from "../../src/cli/args.ts";
import {
  configPath,
  LOCAL,
  loadConfig,
  saveConfig,
  serverUrl,
  targetOf,
} from "../../src/cli/config.ts";
import { oneLine, tame, tamer } from "../../src/cli/escape.ts";
import { clip, painter, wantsColour, wrapPoint } from "../../src/cli/paint.ts";
import { pasteFilter, unmarked } from "../../src/cli/paste.ts";
import { replyTo } from "../../src/cli/reply.ts";
import { lineStream } from "../../src/cli/stream.ts";
import { languageOf, sayIn } from "../../src/cli/strings.ts";

const E = "\u001b";

describe("text on its way to a terminal", () => {
  it.each([
    ["a title", `${E}]0;owned\u0007text`],
    ["a title without end", `text${E}]0;owned`],
    ["a title with the long end", `${E}]2;owned${E}\\text`],
    ["a clipboard", `${E}]52;c;b3duZWQ=\u0007text`],
    ["a link", `${E}]8;;https://evil.example\u0007text${E}]8;;\u0007`],
    ["a cursor move", `${E}[2A${E}[1;1Htext`],
    ["a cleared screen", `${E}[2J${E}ctext`],
    ["an alternate screen", `${E}[?1049htext${E}[?1049l`],
    ["a device string", `${E}P1$r0m${E}\\text`],
    ["one character forms", "\u009b2Jtext\u009d0;owned\u009c"],
    ["a bell, a backspace, a null", "\u0007te\bxt\0"],
    ["marks of direction", "\u202etext\u2069"],
    ["a lone escape", `te${E}`.concat("xt").replace(`${E}xt`, `xt${E}`)],
  ])("%s does not reach it", (_, given) => {
    expect(tame(given)).toBe("text");
    expect(tame(given, true)).toBe("text");
  });

  it("colours do where they are wanted, line ends are newlines, tabs and all scripts stay", () => {
    expect(tame(`${E}[1;31mred${E}[0m`)).toBe("red");
    expect(tame(`${E}[1;31mred${E}[0m`, true)).toBe(`${E}[1;31mred${E}[0m`);
    expect(tame("a\r\nb\rc\td")).toBe("a\nb\nc\td");
    expect(tame("你好 👋🏽 é")).toBe("你好 👋🏽 é");
    expect(oneLine(" a\n\tb ")).toBe("a b");
  });

  it("in pieces is the same as whole, wherever it is cut", () => {
    const whole = `a${E}]0;owned\u0007b${E}[31mc${E}[0m${E}[2Ad\r\ne${E}]0;x${E}\\f`;
    for (const colour of [false, true]) {
      for (let i = 0; i <= whole.length; i++) {
        for (let j = i; j <= whole.length; j += 3) {
          const t = tamer(colour);
          const parts = [whole.slice(0, i), whole.slice(i, j), whole.slice(j)];
          const out = parts.map((part) => t.push(part)).join("") + t.end();
          expect([i, j, out]).toEqual([i, j, tame(whole, colour)]);
        }
      }
    }
  });

  it("is shown in whole lines as soon as they are full", () => {
    const lines: string[] = [];
    const stream = lineStream(
      (line) => lines.push(line),
      () => 10,
    );
    stream.push("one two thr");
    stream.push("ee four\nfi");
    expect(lines).toEqual(["one two", "three four"]);
    stream.end();
    expect(lines).toEqual(["one two", "three four", "fi"]);
    expect(wrapPoint("中文字符中文", 10)).toBe(5);
    expect(clip("中文字符中文", 5)).toBe("中…");
    expect(clip("short", 5)).toBe("short");
  });

  it("is coloured on a terminal alone, and never against NO_COLOR", () => {
    expect(wantsColour({ isTTY: true }, {})).toBe(true);
    expect(wantsColour({}, {})).toBe(false);
    expect(wantsColour({ isTTY: true }, { NO_COLOR: "1" })).toBe(false);
    expect(wantsColour({ isTTY: true }, { TERM: "dumb" })).toBe(false);
    expect(painter(false)("bad", "x")).toBe("x");
    expect(painter(true)("bad", "x")).toContain(E);
  });
});

it("a paste is one line to the editor, and comes out as it was", () => {
  const filter = pasteFilter();
  const keys = ["x", `${E}[200~a\r\nb\rc`, `\nd${E}[201~\r`].map(filter).join("");
  expect(keys).toBe("xa⏎b⏎c⏎d\r");
  expect(unmarked("a⏎b")).toBe("a\nb");
});

describe("a line to a session that waits", () => {
  const question = { wait_id: "w", kind: "question", text: "?", since: "" } as const;
  const approval = { wait_id: "w", kind: "approval", text: "?", since: "" } as const;
  const answer = (given: object) => ({ type: "answer", given: { wait_id: "w", ...given } });

  it.each([
    ["blue", answer({ text: "blue" })],
    ["2", answer({ text: "green" })],
    ["9", answer({ text: "9" })],
    ["/help", { type: "message", text: "/help" }],
    ["!ls", { type: "message", text: "!ls" }],
    ["\\!ls", answer({ text: "!ls" })],
    ["/srv/www", answer({ text: "/srv/www" })],
  ])("question: %s", (line, reply) => {
    expect(replyTo({ ...question, options: ["red", "green"] }, line)).toEqual(reply);
  });
  it.each([
    ["yes", answer({ approved: true })],
    ["Y", answer({ approved: true })],
    ["是", answer({ approved: true })],
    ["no", answer({ approved: false })],
    ["不", answer({ approved: false })],
    ["maybe", { type: "unclear" }],
    ["", { type: "unclear" }],
    ["/stop", { type: "message", text: "/stop" }],
  ])("approval: %j", (line, reply) => {
    expect(replyTo(approval, line)).toEqual(reply);
  });
});

describe("the command line", () => {
  it("is read, or what is wrong with it is told", () => {
    expect(readArgs(["-p", "do", "--json", "-s", "abc", "--mode", "chat"])).toEqual({
      ok: true,
      options: { help: false, setup: false, json: true, task: "do", session: "abc", mode: "chat" },
    });
    expect(readArgs(["--mode", "nonsense"])).toMatchObject({ problem: "badMode" });
    expect(readArgs(["-p", " "])).toMatchObject({ problem: "blankTask" });
    expect(readArgs(["--what"])).toMatchObject({ problem: "badOption" });
    expect(readArgs(["word"])).toMatchObject({ problem: "badOption" });
  });
  it.each(["--token", "--token=x", "-token"])("never takes a token: %s", (arg) => {
    expect(readArgs([arg])).toMatchObject({ ok: false, problem: "tokenOption" });
  });
});

describe("settings", () => {
  it("are kept where the desktop keeps such, for their owner alone", async () => {
    const home = await mkdtemp(join(tmpdir(), "dormouse-config-"));
    const path = configPath({ XDG_CONFIG_HOME: home });
    expect(path).toBe(join(home, "dormouse", "config.json"));
    expect(await loadConfig(path)).toBe(null);
    const config = { language: "zh", url: "https://d.example", token: "t" } as const;
    await saveConfig(path, config);
    await saveConfig(path, config);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await loadConfig(path)).toEqual(config);
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual(config);
  });

  it("a token is sent to its own server and to no other", () => {
    const config = { url: "https://d.example", token: "kept" };
    expect(targetOf(undefined, {}, config)).toEqual({ url: "https://d.example", token: "kept" });
    expect(targetOf("https://D.example/", {}, config)).toMatchObject({ token: "kept" });
    expect(targetOf("https://other.example", {}, config)).toEqual({ url: "https://other.example" });
    expect(targetOf(undefined, { DORMOUSE_TOKEN: "now" }, config)).toMatchObject({ token: "now" });
    expect(targetOf(undefined, {}, {})).toEqual({ url: LOCAL });
  });

  it("an address is one of a server, without secrets", () => {
    expect(serverUrl("localhost:8787")).toBe("http://localhost:8787");
    expect(serverUrl("https://a.example/base/")).toBe("https://a.example/base");
    for (const bad of ["https://me:secret@a.example", "https://a.example?token=x", "http://"]) {
      expect(serverUrl(bad)).toBe(null);
    }
  });

  it("the language is the chosen one, else that of the environment", () => {
    expect(languageOf("en", { LANG: "zh_CN.UTF-8" })).toBe("en");
    expect(languageOf(undefined, { LANG: "zh_CN.UTF-8" })).toBe("zh");
    expect(languageOf(undefined, { LC_ALL: "C", LANG: "zh_CN" })).toBe("en");
    expect(sayIn("zh")("noSession", "abc")).toContain("abc");
  });
});
