/** A23, A32 and the network of the embedded sandbox, over real Durable Object storage. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/core/limits.ts";
import { ROOT } from "../../src/tools/paths.ts";
import { REFUSED } from "../support/bad-addresses.ts";
import { exec } from "../support/box-suite.ts";
import { withBox } from "./support/box.ts";

/** They run until something stops them: the time. */
const ENDLESS = [
  "while :; do :; done",
  "until false; do true; done",
  "for((;;)); do :; done",
  "bash -c 'while :; do :; done'",
  `sh -c "bash -c 'while :; do :; done'"`,
  "echo 'while :; do :; done' > l.sh; bash l.sh",
  "x=(); while :; do x+=(aaaa); done",
  "while :; do echo aaaaaaaaaaaaaaaa >> big; done",
  "while :; do cat <<EOF\nflood\nEOF\ndone",
  "while :; do cat <<EOF > /tmp/f\nflood\nEOF\ndone",
  "seq 1 20000 | xargs -n 1 bash -c 'while :; do :; done'",
  "find / -exec sh -c 'while :; do :; done' \\;",
  "sleep 100 & wait",
  "timeout 100 sleep 100",
  "f(){ while :; do :; done | cat; }; f & f",
];
/** They would, if nothing counted. */
const COUNTED = [
  "f(){ f; }; f",
  "f(){ f|f& };f",
  ":(){ :|:& };:",
  "f() ( f ); f",
  "f(){ g; }; g(){ f; }; f",
  "echo '. ./r.sh' > r.sh; . ./r.sh",
  "echo 'bash r2.sh' > r2.sh; bash r2.sh",
  "awk 'BEGIN{for(;;){}}'",
  "awk 'BEGIN{while(1)print 1}'",
  "echo x | sed ':a;ba'",
  "echo x | sed ':a;s/x/xx/;ta'",
  "jq -n '[range(1e12)]|length'",
  "jq -n 'def f: f; f'",
  "jq -n 'last(repeat(1))'",
  "echo {1..999999999}",
  "echo {1..99999}{1..99999}",
  "printf '%*s' 999999999 x",
  "printf '%0999999999d' 1",
  "seq 1 999999999 > /tmp/x",
  "seq 1 1e18",
  "x=a; while :; do x=$x$x; done",
  "shopt -s globstar; ls **/**/**/**/**/**/**/**",
];

vi.setConfig({ testTimeout: 60_000 });
/** For what works hard: only a bound for a test that fails. */
const SLOW = { timeoutMs: 60_000 };
/** The first command of all loads the shell, which is no part of any command's time. */
beforeAll(
  () => withBox(async (box) => void (await exec(box, "echo warm | cat; sleep 0", SLOW))),
  60_000,
);

describe("A23: a command without end", () => {
  it.each(ENDLESS)("is stopped by its time, and the next one works: %s", (command) =>
    withBox(async (box) => {
      const result = await exec(box, `echo before; ${command}`, { timeoutMs: 300 });
      expect(result).toMatchObject({ exitCode: 124, timedOut: true });
      expect(result.output).toMatch(/^before\n/);
      expect(await exec(box, "echo next")).toMatchObject({ output: "next\n", exitCode: 0 });
    }),
  );

  it.each(COUNTED)("is stopped by a count, says so, and the next one works: %s", (command) =>
    withBox(async (box) => {
      const result = await exec(box, command, SLOW);
      expect(result).toMatchObject({ exitCode: 126, timedOut: false });
      expect(result.output).toMatch(/exceeded|too many/);
      expect(await exec(box, "echo next")).toMatchObject({ output: "next\n", exitCode: 0 });
    }),
  );

  it("that never yields is a timeout all the same, by the shell's own clock", () =>
    withBox(async (box) => {
      const result = await exec(box, "eval 'while :; do :; done'", { timeoutMs: 200 });
      expect(result).toMatchObject({ exitCode: 124, timedOut: true });
      expect(await exec(box, "echo next")).toMatchObject({ output: "next\n" });
    }));

  it("its own `timeout` that ends a part of it is no timeout of the call", () =>
    withBox(async (box) => {
      const { output, exitCode, timedOut } = await exec(box, "timeout 0.1 sleep 5; echo $?");
      expect([output, exitCode, timedOut]).toEqual(["124\n", 0, false]);
    }));

  it("that backtracks for ever in a pattern does not: patterns take linear time", () =>
    withBox(async (box) => {
      const script = [
        "x=$(printf 'a%.0s' {1..5000})!; echo $x > a",
        "grep -cE '^(a+)+$' a; grep -cP '^(a|aa)+$' a; sed -E 's/^(a+)+$/x/' a | wc -c",
        "[[ $x =~ ^(a+)+$ ]] || echo no; [[ $x == *a*a*a*a*a*a*a*b ]] || echo no",
        `awk '{ if ($0 ~ /^(a+)+$/) print 1; else print 0 }' a; jq -n --arg x "$x" '$x|test("^(a+)+$")'`,
        "rg -c '^(a+)+$' a || echo no",
      ].join("\n");
      const { output } = await exec(box, script);
      expect(output.split(/\s+/)).toEqual(
        ["0", "0", "5002", "no", "no", "0", "false", "no"].concat([""]),
      );
    }));

  it("diff of two files that share nothing ends", () =>
    withBox(async (box) => {
      const { output } = await exec(box, "diff <(seq 1 20000) <(seq 20000 -1 1); echo $?", SLOW);
      expect(output).toMatch(/differ in more than 2000 lines.*\n2\n$/);
      const small =
        "printf 'a\\nb\\nc\\n' > x; printf 'a\\nB\\nc\\n' > y; diff x y; diff -q x y; diff -i x y; echo $?";
      expect((await exec(box, small)).output).toBe(
        "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\nFiles x and y differ\n0\n",
      );
      expect(
        (await exec(box, "diff x; diff x none; diff -r x y; cat x | diff -s - x")).output,
      ).toMatch(/missing operand[\s\S]*no such file[\s\S]*unknown option r[\s\S]*identical/);
    }));
});

it("A23: many sessions at once do not disturb each other, endless loops among them", async () => {
  const stop = Promise.withResolvers<void>();
  const loop = withBox(async (box) => {
    const stopper = new AbortController();
    void stop.promise.then(() => stopper.abort());
    const result = await exec(box, "while :; do :; done", {
      timeoutMs: 60_000,
      signal: stopper.signal,
    });
    expect(result).toMatchObject({ exitCode: 124, timedOut: false });
  });
  const commands = [
    (n: number) => `for i in 1 2 3; do echo ${n} >> f; done; cat f | tr '\\n' ' '`,
    (n: number) => `echo ${n} > f; sleep 0.02; cat f f f | tr '\\n' ' '`,
    () => `f(){ f; }; f 2>/dev/null; echo lost`,
    (n: number) => `export V=${n}; echo "$V $V $V "`,
  ];
  const one = (n: number) =>
    withBox(async (box) => {
      const kind = n % commands.length;
      const { output } = await exec(box, commands[kind]?.(n) ?? "");
      if (kind === 2) expect(output).toContain("recursion");
      else expect(output.trim()).toBe(`${n} ${n} ${n}`);
      expect((await exec(box, 'echo "[$V]"; ls /tmp')).output).toBe("[]\n");
    });
  await Promise.all(Array.from({ length: 20 }, (_, n) => one(n)));
  stop.resolve();
  await loop;
});

describe("bytes", () => {
  const TEXT = new TextEncoder().encode("a\u00e9汉字🚀\0z\r\n");

  it("A20, A21: cut at every position, by every tool, stay the same in files and text in output", () =>
    withBox(async (box) => {
      await box.write(`${ROOT}/t`, TEXT);
      for (let n = 0; n <= TEXT.byteLength; n++) {
        const { output, live } = await exec(
          box,
          `head -c ${n} t > h; tail -c ${n} t > e; cat h; cat e`,
        );
        expect(await box.read(`${ROOT}/h`)).toEqual(TEXT.slice(0, n));
        expect(await box.read(`${ROOT}/e`)).toEqual(TEXT.slice(TEXT.byteLength - n));
        expect(output.isWellFormed() && live.isWellFormed()).toBe(true);
      }
    }));

  it("A22: 30 MB of output and a file of 5 MB pass through", () =>
    withBox(async (box) => {
      const file = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 31) % 256);
      await box.write(`${ROOT}/five`, file);
      const copied = await exec(box, "cp five six; cat five > seven; wc -c < seven", SLOW);
      expect(copied.output.trim()).toBe("5000000");
      for (const name of ["six", "seven"]) {
        const got = await box.read(`${ROOT}/${name}`);
        expect(got?.every((byte, i) => byte === file[i])).toBe(true);
      }
      const flood = await exec(box, "for i in 1 2 3 4 5 6; do cat five; done; echo end", SLOW);
      expect([flood.exitCode, flood.output.slice(-100)]).toEqual([
        0,
        expect.stringMatching(/end$/m),
      ]);
      expect(flood.output.length).toBeLessThan(400_000);
      expect(flood.output.endsWith("end\n")).toBe(true);
    }));
});

describe("quotas", () => {
  it("a file that is too large is an error of the command, and nothing of it stays half written", () =>
    withBox(async (box) => {
      const script = "printf '%*s' 9000000 x > a; cat a a > b; cat a a a > c; echo $?; ls";
      const { output } = await exec(box, script, SLOW);
      expect(output).toMatch(/EFBIG.*at most 26214400 bytes|limit exceeded/);
      expect(output).not.toMatch(/executionLimits/);
      expect(await box.read(`${ROOT}/c`)).toSatisfy((c: Uint8Array | null) => !c?.byteLength);
    }));

  it("too many files are an error that says so, and files can still be removed", () =>
    withBox(async (box, files) => {
      const full = { ...files.totals() };
      expect(full.files).toBe(0);
      for (let i = 0; i < LIMITS.filesCount; i++) files.write(`${ROOT}/d/${i}`, new Uint8Array());
      const { output, exitCode } = await exec(box, "echo x > new; echo y > d/new");
      expect(exitCode).not.toBe(0);
      expect(output).toMatch(/ENOSPC.*at most 20000 files/);
      expect((await exec(box, "rm d/1; echo x > new; cat new")).output).toBe("x\n");
    }));

  it("a full /tmp is an error of the command", () =>
    withBox(async (box) => {
      const script = "printf '%*s' 9000000 x > /tmp/a; cp /tmp/a /tmp/b; echo $?";
      const { output } = await exec(box, script, SLOW);
      expect(output).toMatch(/ENOSPC|limit/);
      expect((await exec(box, "rm -f /tmp/a /tmp/b; echo ok > /tmp/c; cat /tmp/c")).output).toBe(
        "ok\n",
      );
    }));
});

describe("A31: curl", () => {
  interface Sent {
    url: string;
    method: string;
    body: unknown;
    headers: Headers;
  }
  async function wired<T>(answer: (sent: Sent) => Response, test: (sent: Sent[]) => Promise<T>) {
    const sent: Sent[] = [];
    const spy = vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = {
        url: String(input),
        method: init?.method ?? "GET",
        body: init?.body,
        headers: new Headers(init?.headers),
      };
      sent.push(request);
      return answer(request);
    });
    try {
      return await test(sent);
    } finally {
      spy.mockRestore();
    }
  }

  it("asks for none of the refused addresses, itself or by a redirect", () =>
    wired(
      () => new Response("", { status: 302, headers: { location: "http://169.254.169.254/" } }),
      (sent) =>
        withBox(async (box) => {
          // It adds https:// where no scheme is, so those name public hosts.
          const urls = REFUSED.filter((url) => /^https?:\/\//.test(url) && !/[\n]/.test(url));
          for (const [i, url] of urls.entries())
            await box.write(`${ROOT}/u${i}`, new TextEncoder().encode(url));
          const script = `for i in {0..${urls.length - 1}}; do curl -s "$(cat u$i)" && cat u$i; done; echo end`;
          expect((await exec(box, script, SLOW)).output).toBe("end\n");
          expect(sent).toEqual([]);
          const redirected = await exec(box, "curl -L https://example.com/; echo $?");
          expect(redirected.output).toMatch(
            /curl: \(7\) Network access denied: A redirect.*\n7\n$/,
          );
          expect(sent).toHaveLength(1);
        }),
    ));

  it("gets, posts, downloads and uploads text within the quotas", () =>
    wired(
      ({ url, method, body }) => {
        if (url.endsWith("/bin")) return new Response(new Uint8Array([0, 255, 128, 10]));
        if (url.endsWith("/404")) return new Response("no", { status: 404 });
        return new Response(`${method} ${body ?? ""}`);
      },
      (sent) =>
        withBox(async (box) => {
          const script = [
            "curl -s https://example.com/a; echo",
            "curl -s -d 'x=1&y=汉' https://example.com/b; echo",
            "echo 'é 🚀' > up; curl -s -T up https://example.com/c; curl -s -X DELETE https://example.com/d; echo",
            "curl -s -o got https://example.com/bin; wc -c < got; curl -sf https://example.com/404; echo $?",
            "curl -s -H 'X-Key: k' example.com/e | tr a-z A-Z; echo",
          ].join("\n");
          const { output } = await exec(box, script);
          expect(output.split("\n").map((l) => l.trim())).toEqual([
            "GET",
            "POST x=1&y=汉",
            "PUT é 🚀",
            "DELETE",
            "4",
            "22",
            "GET",
            "",
          ]);
          expect(await box.read(`${ROOT}/got`)).toEqual(new Uint8Array([0, 255, 128, 10]));
          expect(sent.at(-1)?.headers.get("x-key")).toBe("k");
          await exec(box, "curl -s -T got https://example.com/up");
          expect(sent.at(-1)?.url).toBe("https://example.com/e");
        }),
    ));

  it("does not keep what is longer than it may be", () =>
    wired(
      () => new Response(new Uint8Array(LIMITS.downloadBytes + 1)),
      () =>
        withBox(async (box) => {
          const { output } = await exec(box, "curl -o big https://example.com/; echo $?");
          expect(output).toMatch(/longer than 10485760 bytes.*\n1\n$/);
          expect(await box.read(`${ROOT}/big`)).toBe(null);
        }),
    ));

  it("ends with its command when the server does not", () =>
    wired(
      () => new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(3)) })),
      () =>
        withBox(async (box) => {
          expect(await exec(box, "curl -s https://example.com/", { timeoutMs: 200 })).toMatchObject(
            {
              exitCode: 124,
            },
          );
          expect((await exec(box, "curl -sS -m 0.1 https://example.com/; echo $?")).output).toMatch(
            /\(28\).*longer than 0.1 s.*\n28\n$/,
          );
          expect((await exec(box, "echo next")).output).toBe("next\n");
        }),
    ));
});
