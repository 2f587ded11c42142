/** OS-S10: what a message is, as a table. No model, no session, no state. */
import { describe, expect, it } from "vitest";
import { COMMANDS, routeOf } from "../../src/core/route.ts";

describe("a message is routed by its text and mode alone", () => {
  const command = (name: string, arg = "") => ({ type: "command", name, arg });
  const shell = (line: string) => ({ type: "shell", command: line });
  const task = (text: string) => ({ type: "task", text });

  it.each([
    // Commands: the first word, and nothing before it.
    ["/help", command("help")],
    ["/HELP", command("help")],
    ["/plan ", command("plan")],
    ["/model gpt-5", command("model", "gpt-5")],
    ["/model @cf/meta/llama-4", command("model", "@cf/meta/llama-4")],
    ["/review  on\n", command("review", "on")],
    ["/new\nand a second line", command("new", "and a second line")],
    ["/stop now", command("stop", "now")],
    // A lone word with a slash is a slip, not a task.
    ["/hlep", { type: "unknown", name: "hlep" }],
    ["/etc", { type: "unknown", name: "etc" }],
    // Paths and prose are tasks.
    ["/workspace/report.md", task("/workspace/report.md")],
    ["/etc is broken?", task("/etc is broken?")],
    ["/help/me", task("/help/me")],
    ["/helpful advice please", task("/helpful advice please")],
    ["/help.", task("/help.")],
    ["/ help", task("/ help")],
    ["/", task("/")],
    ["// a comment", task("// a comment")],
    ["/123", task("/123")],
    ["what does /help do?", task("what does /help do?")],
    ["make a file\n/help", task("make a file\n/help")],
    // A person's own command line.
    ["!ls -la", shell("ls -la")],
    ["! echo hi ", shell("echo hi")],
    ["!for i in 1 2; do\n echo $i\ndone", shell("for i in 1 2; do\n echo $i\ndone")],
    ["\uff01ls", task("\uff01ls")],
    ["!", task("!")],
    ["!  ", task("!  ")],
    ["!! urgent", task("!! urgent")],
    // Escapes: a backslash is taken off, a space stays.
    ["\\/help", task("/help")],
    ["\\!ls", task("!ls")],
    ["\\\\/help", task("\\\\/help")],
    ["\\n is a newline", task("\\n is a newline")],
    [" /help", task(" /help")],
    [" !ls", task(" !ls")],
    ["", task("")],
    ["你好", task("你好")],
  ])("%j", (text, route) => {
    expect(routeOf(text, "agent")).toEqual(route);
    expect(routeOf(text, "chat")).toEqual(route);
    expect(routeOf(text, "workflow")).toEqual(route);
  });

  it("a direct session has no tools: an exclamation mark is only text there, a command still one", () => {
    expect(routeOf("!ls", "direct")).toEqual(task("!ls"));
    expect(routeOf("\\!ls", "direct")).toEqual(task("!ls"));
    expect(routeOf("/usage", "direct")).toEqual(command("usage"));
  });

  it("every command is found under its own name, in any mode", () => {
    for (const name of COMMANDS) expect(routeOf(`/${name}`, "chat")).toEqual(command(name));
  });
});
