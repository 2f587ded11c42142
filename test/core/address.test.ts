/** A31: which addresses may be asked at all. */
import { describe, expect, it } from "vitest";
import { refusalOf } from "../../src/adapters/web/address.ts";
import { ACCEPTED, REFUSED } from "../support/bad-addresses.ts";

describe("A31: an address", () => {
  it.each(REFUSED)("is refused, with a sentence that says why: %j", (url) => {
    expect(refusalOf(url)).toMatch(/^\S.*\.$/);
  });

  it.each(ACCEPTED)("of the public web may be asked: %s", (url) => {
    expect(refusalOf(url)).toBe(null);
  });

  it("never shows the password that stands in it", () => {
    expect(refusalOf("https://user:hunter2@example.com/")).not.toContain("hunter2");
  });

  it("that is private may be asked when its host is listed, on the port that is listed", () => {
    const allow = ["127.0.0.1:9000", "localhost", "[::1]:81", "10.0.0.1:80"];
    expect(refusalOf("http://127.0.0.1:9000/x", { allow })).toBe(null);
    expect(refusalOf("http://2130706433:9000/x", { allow })).toBe(null);
    expect(refusalOf("http://LOCALHOST.:1234/", { allow })).toBe(null);
    expect(refusalOf("http://[::1]:81/", { allow })).toBe(null);
    expect(refusalOf("http://10.0.0.1/", { allow })).toBe(null);
    for (const url of [
      "http://127.0.0.1:9001/",
      "http://127.0.0.2:9000/",
      "http://localhost.evil.internal/",
      "http://10.0.0.1:8080/",
      "http://u:p@127.0.0.1:9000/",
      "file://localhost/etc/passwd",
    ]) {
      expect([url, refusalOf(url, { allow })]).toEqual([url, expect.any(String)]);
    }
  });

  it("lists that hold nonsense allow nothing", () => {
    const allow = ["", " ", "*", "http://127.0.0.1", "127.0.0.1/8", "//"];
    expect(refusalOf("http://127.0.0.1/", { allow: allow.slice(0, 3) })).not.toBe(null);
    expect(refusalOf("http://10.0.0.1/", { allow })).not.toBe(null);
  });

  it("of the product itself is refused, even where its host is allowed", () => {
    const rules = { allow: ["127.0.0.1"], own: ["127.0.0.1:8787", "agent.example.com"] };
    expect(refusalOf("http://127.1:8787/api/config", rules)).toContain("this very product");
    expect(refusalOf("https://AGENT.example.com./", rules)).toContain("this very product");
    expect(refusalOf("http://127.0.0.1:9000/", rules)).toBe(null);
    expect(refusalOf("https://www.example.com/", rules)).toBe(null);
  });
});
