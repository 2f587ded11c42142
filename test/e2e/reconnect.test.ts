/** Forty clients come and go at random cursors while a session works and streams: no gap, no event twice. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  call,
  complete,
  pause,
  plan,
  Remote,
  until,
  type Wire,
  write,
} from "../support/client-node.ts";
import { ScriptedDev } from "../support/scripted-dev.ts";

const RECONNECTS = 40;
let dev: ScriptedDev;

before(async () => {
  dev = await ScriptedDev.start();
});
after(() => dev?.close());

/** The same numbers in every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

void test("events: every client has every seq from its cursor on, once and in order", async () => {
  const slow = { chunk_delay_ms: 12 };
  const steps = Array.from({ length: 6 }, (_, i) => [
    { ...write(`a${i}.txt`), ...slow },
    { ...write(`b${i}.txt`), ...slow },
    { ...complete(), ...slow },
  ]).flat();
  dev.scripts.set("events", plan("a", "b", "c", "d", "e", "f"), ...steps, {
    ...call("deliver_result", { message: "All six." }),
    ...slow,
  });
  const session = await Remote.create(dev.url, "events");
  const next = random(7);
  const wires: [Wire, number][] = [];
  await session.say("Do it");
  let seen = 0;
  for (let i = 0; i < RECONNECTS; i++) {
    const cursor = next(seen + 1);
    const wire = await session.connect(`?after=${cursor}`);
    wires.push([wire, cursor]);
    await pause(next(100));
    seen = Math.max(seen, wire.events.at(-1)?.seq ?? 0);
    if (next(3) > 0) wire.close();
  }
  await session.status("completed");
  const all = await session.events();
  const last = await session.connect();
  await until("the whole log", () => last.events.length === all.length);
  assert.deepEqual(last.events, all);
  for (const [wire, cursor] of wires) {
    if (!wire.left) await until("the rest", () => wire.events.at(-1)?.seq === all.length);
    assert.deepEqual(wire.events, all.slice(cursor, cursor + wire.events.length));
    wire.close();
  }
  last.close();
  for (const [wire] of wires) await until("the close", () => wire.closed !== null);
  await session.check();
});

void test("A07: streamed text: what a client holds is the text so far, and at last the whole, once", async () => {
  const text = Array.from({ length: 500 }, (_, i) => `word${i}`).join(" ");
  dev.scripts.set("text", { text, chunk_delay_ms: 6 });
  const session = await Remote.create(dev.url, "text", "chat");
  const next = random(11);
  const wires: Wire[] = [];
  await session.say("Tell me");
  for (let i = 0; i < RECONNECTS; i++) {
    const wire = await session.connect(`?after=${next(2)}`);
    wires.push(wire);
    await pause(next(60));
    for (const held of wire.live.values()) assert.ok(text.startsWith(held));
    if (next(3) > 0) wire.close();
  }
  await session.status("completed");
  const [, stored] = await session.of("message");
  assert.equal(stored?.content, text);
  const stayed = wires.filter((wire) => !wire.left);
  assert.ok(stayed.length > 0);
  for (const wire of stayed) {
    await wire.event("done");
    for (const [id, held] of wire.live) {
      assert.equal(id, stored?.message_id);
      assert.equal(held, text);
    }
    wire.close();
  }
  await session.check();
  assert.deepEqual(dev.mock.violations, []);
});
