import { describe, expect, it } from "vitest";
import { routeOf } from "../../src/core/route.ts";
import { firstMessage } from "../../src/page/first-message.ts";

describe("the first message of a session", () => {
  const first = (text: string) => firstMessage(text, "agent");

  it("is what was written, other commands too", () => {
    for (const text of ["Do it", "/help", "/newer", "!ls", "look at /new", "\\/new"])
      expect(first(text)).toBe(text);
  });

  it("is nothing when it only asks for a new session, and the text when it brings one", () => {
    expect(first("/new")).toBeNull();
    expect(first("/NEW  ")).toBeNull();
    expect(first("/new write\na poem")).toBe("write\na poem");
  });

  it("stays a task, as it does where `/new` is sent to a session", () => {
    for (const text of ["/help me with a poem", "!important", "/new"]) {
      const sent = first(`/new ${text}`);
      expect(routeOf(sent ?? "", "agent")).toEqual({ type: "task", text });
    }
  });
});
