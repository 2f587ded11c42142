import { describe, expect, it } from "vitest";
import { accumulate } from "../../src/adapters/model/accumulator.ts";

type Delta = Record<string, unknown>;

const chunk = (delta: Delta, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const call = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args: unknown,
) => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  function: {
    ...(name === undefined ? {} : { name }),
    ...(args === undefined ? {} : { arguments: args }),
  },
});
function replyOf(chunks: unknown[]) {
  const heard = accumulate("asked-model");
  const pieces = chunks.map((c) => heard.add(c));
  return { ...heard.reply(), pieces };
}
const callsOf = (...deltas: Delta[]) =>
  replyOf(deltas.map((d) => chunk({ tool_calls: [d] }))).calls.map((c) => [
    c.id,
    c.name,
    c.arguments,
  ]);

describe("text", () => {
  it("joins the pieces, and hands each out as it comes", () => {
    const reply = replyOf([
      chunk({ role: "assistant", content: "Hel" }),
      chunk({ content: "lo" }, "stop"),
    ]);
    expect(reply.text).toBe("Hello");
    expect(reply.pieces).toEqual([{ text: "Hel" }, { text: "lo" }]);
    expect(reply.finish).toBe("stop");
  });

  it("A14: takes empty choices, null content, an empty delta and usage in the last chunk", () => {
    const reply = replyOf([
      { choices: [], prompt_filter_results: [{ ok: true }] },
      chunk({ role: null, content: null }),
      { choices: [{ delta: {} }] },
      chunk({ content: "hi" }),
      chunk({}, "stop"),
      {
        choices: [],
        usage: {
          prompt_tokens: 7,
          completion_tokens: 2,
          prompt_tokens_details: { cached_tokens: 5 },
        },
      },
    ]);
    expect(reply.text).toBe("hi");
    expect(reply.pieces.filter((p) => p.text !== undefined)).toEqual([{ text: "hi" }]);
    expect(reply.usage).toEqual({ input_tokens: 7, output_tokens: 2, cached_tokens: 5 });
  });

  it("A16: takes reasoning under both of its names and never shows it as text", () => {
    const reply = replyOf([
      chunk({ reasoning_content: "I " }),
      chunk({ reasoning: "think" }),
      chunk({ content: "ok" }),
    ]);
    expect(reply.thinking).toBe("I think");
    expect(reply.text).toBe("ok");
    expect(reply.pieces).toEqual([{ thinking: "I " }, { thinking: "think" }, { text: "ok" }]);
  });

  it("U3: waits for the other half of a character that is split over two chunks", () => {
    const reply = replyOf([chunk({ content: "a\ud83d" }), chunk({ content: "\ude80b" })]);
    expect(reply.pieces).toEqual([{ text: "a" }, { text: "🚀b" }]);
    expect(reply.text).toBe("a🚀b");
  });

  it("A20: mends half a character that never gets its other half, and drops NULs", () => {
    const reply = replyOf([chunk({ content: "x\0y\ud83d" })]);
    expect(reply.text).toBe("xy\ufffd");
    expect(reply.text.isWellFormed()).toBe(true);
  });

  it("takes content that is a list of parts", () => {
    expect(
      replyOf([
        chunk({
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        }),
      ]).text,
    ).toBe("ab");
  });

  it("ignores further choices and things that are no chunk", () => {
    const other = { choices: [{ index: 1, delta: { content: "other" }, finish_reason: "stop" }] };
    const reply = replyOf([null, 5, "text", [], other, chunk({ content: "mine" })]);
    expect(reply.text).toBe("mine");
    expect(reply.finish).toBeNull();
  });

  it("keeps the model's own name, else the one that was asked for", () => {
    expect(replyOf([{ model: "m-2026", choices: [] }]).model).toBe("m-2026");
    expect(replyOf([chunk({ content: "x" })]).model).toBe("asked-model");
  });
});

describe("calls", () => {
  it("joins the fragments of parallel calls by index", () => {
    expect(
      callsOf(
        call(0, "a", "one", ""),
        call(1, "b", "two", ""),
        call(0, undefined, undefined, '{"x":'),
        call(1, undefined, undefined, '{"y":2}'),
        call(0, undefined, undefined, "1}"),
      ),
    ).toEqual([
      ["a", "one", '{"x":1}'],
      ["b", "two", '{"y":2}'],
    ]);
  });

  it("A12: two whole calls without an index are two calls", () => {
    expect(
      callsOf(
        call(undefined, "a1", "shell", '{"cmd":"ls"}'),
        call(undefined, "a2", "shell", '{"cmd":"pwd"}'),
      ),
    ).toEqual([
      ["a1", "shell", '{"cmd":"ls"}'],
      ["a2", "shell", '{"cmd":"pwd"}'],
    ]);
  });

  it("A12: fragments without an index go to their id, else to the last call", () => {
    expect(
      callsOf(
        call(undefined, "a", "f", '{"x"'),
        call(undefined, undefined, undefined, ":1"),
        call(undefined, "a", undefined, "}"),
        call(undefined, "b", "f", "{}"),
        call(undefined, "a", undefined, " "),
      ),
    ).toEqual([
      ["a", "f", '{"x":1} '],
      ["b", "f", "{}"],
    ]);
  });

  it("A12: a delta with only metadata makes no call", () => {
    expect(callsOf({ extra_content: { signature: "x" } }, { index: 0, function: {} })).toEqual([]);
  });

  it("A13: three whole calls that all have index 0 are three calls", () => {
    expect(
      callsOf(
        call(0, "a1", "f", '{"x":1}'),
        call(0, "a2", "f", '{"x":2}'),
        call(0, "a3", "g", '{"x":3}'),
      ),
    ).toEqual([
      ["a1", "f", '{"x":1}'],
      ["a2", "f", '{"x":2}'],
      ["a3", "g", '{"x":3}'],
    ]);
  });

  it("A13: another name at a used index is another call, even after a fragment", () => {
    expect(callsOf(call(0, undefined, "f", '{"x"'), call(0, undefined, "g", "{}"))).toEqual([
      ["", "f", '{"x"'],
      ["", "g", "{}"],
    ]);
  });

  it("A13: the same index and the same id is a second call when the first is complete", () => {
    expect(callsOf(call(0, "same", "f", '{"x":1}'), call(0, "same", "f", '{"x":2}'))).toEqual([
      ["same", "f", '{"x":1}'],
      ["same", "f", '{"x":2}'],
    ]);
  });

  it("A13: calls without arguments at one index are told apart by their ids", () => {
    expect(callsOf(call(0, "a", "f", ""), call(0, "b", "f", ""))).toEqual([
      ["a", "f", ""],
      ["b", "f", ""],
    ]);
  });

  it("U1: id and name repeated with every fragment stay one call", () => {
    expect(
      callsOf(
        call(0, "a", "f", '{"x"'),
        call(0, "a", "f", ":1"),
        call(0, "a", "f", "}"),
        call(0, "a", "f", ""),
      ),
    ).toEqual([["a", "f", '{"x":1}']]);
  });

  it("U1: a new id with every nameless fragment stays one call", () => {
    expect(callsOf(call(0, "a", "f", '{"x"'), call(0, "b", undefined, ":1}"))).toEqual([
      ["a", "f", '{"x":1}'],
    ]);
  });

  it("A18: an object in place of the argument text becomes JSON text", () => {
    expect(callsOf(call(0, "a", "f", { cmd: "ls" }))).toEqual([["a", "f", '{"cmd":"ls"}']]);
    expect(callsOf(call(0, "a", "f", null))).toEqual([["a", "f", ""]]);
  });

  it("takes a whole message where a delta should be", () => {
    const message = { content: "hi", tool_calls: [call(undefined, "a", "f", "{}")] };
    const reply = replyOf([{ choices: [{ index: 0, message, finish_reason: "tool_calls" }] }]);
    expect(reply.text).toBe("hi");
    expect(reply.calls).toEqual([{ id: "a", name: "f", arguments: "{}" }]);
  });
});

describe("caps", () => {
  it("U4: more characters than the cap count as a reply that was cut", () => {
    const heard = accumulate("m", { chars: 10, calls: 5 });
    heard.add(chunk({ content: "12345678" }));
    expect(heard.full()).toBe(false);
    expect(heard.add(chunk({ content: "9abc" }))).toEqual({});
    expect(heard.full()).toBe(true);
    heard.add(chunk({}, "stop"));
    expect(heard.reply()).toMatchObject({ text: "12345678", finish: "length" });
  });

  it("U4: more calls than the cap count as a reply that was cut", () => {
    const heard = accumulate("m", { chars: 1000, calls: 2 });
    for (const id of ["a", "b", "c"])
      heard.add(chunk({ tool_calls: [call(undefined, id, "f", "{}")] }));
    expect(heard.reply().calls.map((c) => c.id)).toEqual(["a", "b"]);
    expect(heard.finish()).toBe("length");
  });
});
