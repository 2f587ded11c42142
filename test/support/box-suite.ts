/**
 * What every sandbox must do, whatever it is made of: one suite for all backends. `withBox` runs a test over a fresh,
 * empty sandbox.
 */
import { describe, expect, it } from "vitest";
import type { Box, ExecResult } from "../../src/tools/box.ts";

export type WithBox = (test: (box: Box) => Promise<void>) => Promise<void>;

interface Run extends ExecResult {
  live: string;
}
interface Options {
  timeoutMs?: number;
  cwd?: string;
  signal?: AbortSignal;
  /** Output has come. */
  heard?: () => void;
}
let ids = 0;

export async function exec(box: Box, command: string, options: Options = {}): Promise<Run> {
  const { timeoutMs = 10_000, cwd = "/workspace", signal = new AbortController().signal } = options;
  const pieces: string[] = [];
  const id = `suite${++ids}`;
  const request = { id, command, cwd, timeoutMs, reopened: false };
  const live = (text: string) => {
    pieces.push(text);
    options.heard?.();
  };
  const result = await box.exec(request, live, signal);
  return { ...result, live: pieces.join("") };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const put = async (box: Box, path: string, content: string | Uint8Array): Promise<void> => {
  const written = await box.write(path, typeof content === "string" ? bytes(content) : content);
  expect(written).toEqual({ ok: true });
};
const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, i) => i);

export function boxSuite(name: string, withBox: WithBox): void {
  describe(`${name}: commands`, () => {
    it("gives output and exit code 0", () =>
      withBox(async (box) => {
        const result = await exec(box, "echo hello");
        expect(result).toEqual({
          output: "hello\n",
          exitCode: 0,
          timedOut: false,
          live: "hello\n",
        });
      }));

    it("X1: gives a non-zero exit code as data", () =>
      withBox(async (box) => {
        expect(await exec(box, "exit 3")).toMatchObject({ exitCode: 3, timedOut: false });
        expect(await exec(box, "false")).toMatchObject({ exitCode: 1 });
        expect(await exec(box, "no_such_command")).toMatchObject({ exitCode: 127 });
        expect(await exec(box, "echo 'unbalanced")).toMatchObject({ timedOut: false });
        expect((await exec(box, "if then")).exitCode).not.toBe(0);
      }));

    it("joins stderr to the output in the order it was printed", () =>
      withBox(async (box) => {
        const { output } = await exec(box, "echo one; ls /nope; echo two >&2; echo three");
        expect(output).toMatch(/^one\n.*\/nope.*\ntwo\nthree\n$/);
      }));

    it("leaves what is captured, piped or redirected to the script", () =>
      withBox(async (box) => {
        const script = [
          'x=$(echo sub; ls /nope 2>/dev/null); echo "[$x]"',
          'f() { echo in f; return 4; }; y=$(f); echo "$? <$y>"; f; echo $?',
          "echo to file > out.txt; echo more >> out.txt; cat out.txt",
          "for i in 1 2; do echo $i; done | tr 12 ab; { echo g; } > g.txt; cat g.txt",
          "z=$(bash -c 'echo nested'); echo \"($z)\"; if [ -f g.txt ]; then echo yes; fi",
          "printf 'a\\nb\\n' | while read -r line; do echo \"line $line\"; done; ls /nope 2>/dev/null",
          "ls /nope > err.txt 2>&1; grep -c nope err.txt",
        ].join("\n");
        expect((await exec(box, script)).output.split("\n")).toEqual(
          [
            ["[sub]", "4 <in f>", "in f", "4", "to file", "more", "a", "b", "g", "(nested)"],
            ["yes", "line a", "line b", "1", ""],
          ].flat(),
        );
      }));

    it("passes heredocs, quotes and indentation through unchanged", () =>
      withBox(async (box) => {
        const { output } = await exec(box, "cat <<'EOF'\n  $HOME \"x\"\n\ttab\nEOF");
        expect(output).toBe('  $HOME "x"\n\ttab\n');
      }));

    it("starts every call fresh, in the folder given", () =>
      withBox(async (box) => {
        await exec(box, "mkdir -p sub; cd sub; export X=1; pwd > here.txt");
        expect((await exec(box, 'pwd; echo "[$X]"')).output).toBe("/workspace\n[]\n");
        expect((await exec(box, "pwd; cat here.txt", { cwd: "/workspace/sub" })).output).toBe(
          "/workspace/sub\n/workspace/sub\n",
        );
      }));

    it("runs nothing in a folder that is not there", () =>
      withBox(async (box) => {
        await put(box, "/workspace/file", "x");
        for (const cwd of ["/workspace/none", "/workspace/file"]) {
          const result = await exec(box, "echo ran > /workspace/ran.txt", { cwd });
          expect(result.exitCode).not.toBe(0);
          expect(result.output).toContain(cwd);
        }
        expect(await box.read("/workspace/ran.txt")).toBe(null);
      }));

    it("runs two commands at once without mixing them up", () =>
      withBox(async (box) => {
        const script = (name: string) =>
          `for i in 1 2 3; do echo ${name} >> ${name}.txt; sleep 0.02; done; cat ${name}.txt`;
        const [a, b] = await Promise.all([exec(box, script("a")), exec(box, script("b"))]);
        expect([a.output, b.output]).toEqual(["a\na\na\n", "b\nb\nb\n"]);
      }));

    it("A23: does not wait for input that nobody types", () =>
      withBox(async (box) => {
        const result = await exec(box, 'read x; echo "got [$x]"', { timeoutMs: 3_000 });
        expect(result).toMatchObject({ output: "got []\n", exitCode: 0 });
      }));
  });

  describe(`${name}: commands that do not end`, () => {
    const ENDLESS = [
      "sleep 30",
      "while true; do :; done",
      "until false; do :; done",
      "for ((;;)); do :; done",
      "x=$(while true; do :; done)",
      "f() { while true; do :; done; }; f | cat",
      "bash -c 'while true; do :; done'",
    ];
    it.each(ENDLESS)("A23: ends at its timeout with the output so far: %s", (command) =>
      withBox(async (box) => {
        const result = await exec(box, `echo before\n${command}\necho after`, { timeoutMs: 400 });
        expect(result).toMatchObject({ exitCode: 124, timedOut: true });
        expect(result.output).toContain("before");
        expect(result.output).not.toContain("after");
        expect(await exec(box, "echo next")).toMatchObject({ output: "next\n", exitCode: 0 });
      }),
    );

    it("shows output before the command has ended", () =>
      withBox(async (box) => {
        const stop = new AbortController();
        const seen = Promise.withResolvers<string>();
        const request = {
          id: "live",
          command: "for i in 1 2 3; do echo tick $i; sleep 10; done",
          cwd: "/workspace",
          timeoutMs: 10_000,
          reopened: false,
        };
        const running = box.exec(request, (text) => seen.resolve(text), stop.signal);
        expect(await seen.promise).toContain("tick 1");
        stop.abort();
        expect(await running).toMatchObject({ output: "tick 1\n", exitCode: 124, timedOut: false });
      }));

    it("A24: a stop ends a busy loop", () =>
      withBox(async (box) => {
        const stop = new AbortController();
        const busy = "echo a; while true; do :; done";
        const result = await exec(box, busy, { signal: stop.signal, heard: () => stop.abort() });
        expect(result).toMatchObject({ output: "a\n", exitCode: 124, timedOut: false });
      }));

    it("a stop before the start runs nothing", () =>
      withBox(async (box) => {
        const result = await exec(box, "sleep 30; echo ran > ran.txt", {
          signal: AbortSignal.abort(),
        });
        expect(result).toMatchObject({ exitCode: 124, timedOut: false });
        expect(await box.read("/workspace/ran.txt")).toBe(null);
      }));

    it("O1: bounds the output of one that prints for ever", () =>
      withBox(async (box) => {
        const loop = "echo first; while true; do printf '%01000d\\n' 7; done";
        const result = await exec(box, loop, { timeoutMs: 1_000 });
        expect(result.output.startsWith("first\n")).toBe(true);
        expect(result.output.length).toBeLessThan(400_000);
        expect(result).toMatchObject({ timedOut: true });
      }));

    it("O1: keeps head and tail of a long output", () =>
      withBox(async (box) => {
        const command =
          "echo first; for i in 1 2 3 4 5 6 7 8; do printf '%090000d\\n' $i; done; echo last";
        const { output } = await exec(box, command);
        expect(output.startsWith("first\n")).toBe(true);
        expect(output.endsWith("8\nlast\n")).toBe(true);
        expect(output).toMatch(/\[\d+ characters left out\]/);
      }));
  });

  describe(`${name}: text and bytes`, () => {
    it("keeps UTF-8 in commands, names, pipes and output", () =>
      withBox(async (box) => {
        await exec(box, "echo 'é 🚀' > '日本 🚀.txt'");
        expect((await exec(box, "cat *.txt | cat; ls; echo '🚀' | wc -c")).output).toMatch(
          /^é 🚀\n日本 🚀.txt\n\s*5\n$/,
        );
        expect(await box.read("/workspace/日本 🚀.txt")).toEqual(bytes("é 🚀\n"));
      }));

    it("A20: cuts a flood of emoji through none of them", () =>
      withBox(async (box) => {
        await put(box, "/workspace/e.txt", `a${"🚀".repeat(300_000)}`);
        const { output, live } = await exec(box, "cat e.txt");
        expect(output.isWellFormed()).toBe(true);
        expect(live.isWellFormed()).toBe(true);
        expect(output).toContain("characters left out");
      }));

    it("A21: survives every byte, in files exactly and in output as text", () =>
      withBox(async (box) => {
        await put(box, "/workspace/all.bin", ALL_BYTES);
        const { output, exitCode } = await exec(box, "cat all.bin; cp all.bin copy.bin");
        expect(exitCode).toBe(0);
        expect(output.isWellFormed()).toBe(true);
        expect(await box.read("/workspace/copy.bin")).toEqual(ALL_BYTES);
        await exec(box, "cat all.bin copy.bin > both.bin; base64 all.bin | base64 -d > b64.bin");
        expect((await box.read("/workspace/both.bin"))?.byteLength).toBe(512);
        expect(await box.read("/workspace/b64.bin")).toEqual(ALL_BYTES);
      }));
  });

  describe(`${name}: files`, () => {
    it("writes, makes folders on the way, replaces, reads exactly", () =>
      withBox(async (box) => {
        await put(box, "/workspace/a/b/c.bin", ALL_BYTES);
        expect(await box.read("/workspace/a/b/c.bin")).toEqual(ALL_BYTES);
        await put(box, "/workspace/a/b/c.bin", "x");
        expect(await box.read("/workspace/a/b/c.bin")).toEqual(bytes("x"));
        await put(box, "/workspace/empty", "");
        expect(await box.read("/workspace/empty")).toEqual(new Uint8Array());
      }));

    it("X1: has null for a missing file and for a folder", () =>
      withBox(async (box) => {
        await put(box, "/workspace/d/f", "x");
        expect(await box.read("/workspace/nope")).toBe(null);
        expect(await box.read("/workspace/d")).toBe(null);
      }));

    it("lists files sorted by path, at or under a folder, by whole segments", () =>
      withBox(async (box) => {
        for (const path of ["d/b", "d/a", "d2/x", "d/c/e", "d.txt"]) {
          await put(box, `/workspace/${path}`, path);
        }
        const list = async (folder: string) => (await box.list(folder)).map((f) => f.path);
        expect(await list("/workspace/d")).toEqual([
          "/workspace/d/a",
          "/workspace/d/b",
          "/workspace/d/c/e",
        ]);
        expect(await box.list("/workspace/d/a")).toEqual([{ path: "/workspace/d/a", size: 3 }]);
        expect(await list("/workspace/none")).toEqual([]);
        expect((await list("/workspace")).length).toBe(5);
      }));

    it("shares files with commands, both ways", () =>
      withBox(async (box) => {
        await put(box, "/workspace/in.txt", "b\na\n");
        await exec(box, "sort in.txt > out.txt; mkdir -p x/y; mv in.txt x/y/; rm -f nothing");
        expect(await box.read("/workspace/out.txt")).toEqual(bytes("a\nb\n"));
        expect((await box.list("/workspace")).map((f) => f.path)).toEqual([
          "/workspace/out.txt",
          "/workspace/x/y/in.txt",
        ]);
        await exec(box, "rm -r x");
        expect(await box.list("/workspace/x")).toEqual([]);
      }));

    it("refuses a file over the limit with a reason and changes nothing", () =>
      withBox(async (box) => {
        await put(box, "/workspace/big", "small");
        const refused = await box.write("/workspace/big", new Uint8Array(26 * 1024 * 1024));
        expect(refused).toMatchObject({ ok: false });
        expect(await box.read("/workspace/big")).toEqual(bytes("small"));
      }));

    it("does not make a folder of a file", () =>
      withBox(async (box) => {
        await put(box, "/workspace/f", "x");
        expect(await box.write("/workspace/f/g", bytes("y"))).toMatchObject({ ok: false });
        expect(await box.read("/workspace/f")).toEqual(bytes("x"));
      }));
  });

  it(`${name}: says what it is and can rest at any time`, () =>
    withBox(async (box) => {
      expect(box.about.length).toBeGreaterThan(50);
      await put(box, "/workspace/kept", "x");
      await box.rest();
      await box.rest();
      expect((await exec(box, "cat kept")).output).toBe("x");
    }));
}
