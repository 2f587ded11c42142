import { describe, expect, it } from "vitest";
import { enterGuard, type KeyLike } from "../../src/page/ime.ts";

const key = (over: Partial<KeyLike> = {}): KeyLike => ({
  key: "Enter",
  keyCode: 13,
  shiftKey: false,
  altKey: false,
  isComposing: false,
  ...over,
});

describe("Enter in a text box (A34)", () => {
  it("K1: sends only when it is plain", () => {
    const guard = enterGuard();
    expect(guard.sends(key())).toBe(true);
    expect(guard.sends(key({ shiftKey: true }))).toBe(false);
    expect(guard.sends(key({ key: "a", keyCode: 65 }))).toBe(false);
  });

  it("K1: ends a word while composing, and sends nothing", () => {
    expect(enterGuard().sends(key({ isComposing: true }))).toBe(false);
    const guard = enterGuard();
    guard.started();
    expect(guard.sends(key())).toBe(false);
  });

  it("K2: ignores the Enter that Safari sends after it has ended the composition", () => {
    const later: (() => void)[] = [];
    const guard = enterGuard((act) => later.push(act));
    guard.started();
    guard.ended();
    expect(guard.sends(key({ keyCode: 229 }))).toBe(false);
    expect(guard.sends(key())).toBe(false);
    for (const act of later) act();
    expect(guard.sends(key())).toBe(true);
  });
});
