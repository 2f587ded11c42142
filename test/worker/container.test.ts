/** The container sandbox: the adapter over the SDK's real proxy, with a fake object behind it. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it as plain, vi } from "vitest";
// Loaded here, where it is no test's time.
import "@cloudflare/sandbox";
import "just-bash/browser";
import { FILES_SCHEMA } from "../../src/adapters/files/schema.ts";
import { FileStore } from "../../src/adapters/files/store.ts";
import { containerBox } from "../../src/adapters/sandbox/container.ts";
import type { Kept } from "../../src/adapters/sandbox/machine.ts";
import type { Box } from "../../src/tools/box.ts";
import { boxSuite, exec } from "../support/box-suite.ts";
import { type Control, control, sdkError } from "./support/fake-sandbox.ts";

interface World {
  box: Box;
  files: FileStore;
  fake: Control;
  notices: string[];
  /** The object wakes: only what was stored is known. */
  wake(): Box;
}
let count = 0;

/** An environment without containers has none; the tests' has. */
function namespaceOf({ Sandbox }: typeof env) {
  if (!Sandbox) throw new Error("the tests run with the binding Sandbox");
  return Sandbox;
}

async function withWorld(test: (world: World) => Promise<void>, patience = 1): Promise<void> {
  const stub = env.SESSION.get(env.SESSION.newUniqueId());
  await runInDurableObject(stub, async (_, { storage }) => {
    for (const statement of FILES_SCHEMA) storage.sql.exec(statement);
    const files = new FileStore(storage.sql, { now: () => Date.now() });
    const id = `box${++count}`;
    const notices: string[] = [];
    const keeper = {
      get: () => storage.kv.get<Kept>("sandbox"),
      put: (kept: Kept) => storage.kv.put("sandbox", kept),
    };
    const notice = (code: string) => notices.push(code);
    const wake = () =>
      containerBox(files, { namespace: namespaceOf(env), id, keeper, notice, patience });
    await test({ box: wake(), files, fake: control(id), notices, wake });
  });
}

boxSuite("container", (test) => withWorld(({ box }) => test(box)));

const never = new AbortController().signal;
const run = (box: Box, id: string, command: string, more: Record<string, unknown> = {}) => {
  const request = { id, command, cwd: "/workspace", timeoutMs: 5_000, reopened: false, ...more };
  return box.exec(request, () => {}, never);
};
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array | null) => (data ? new TextDecoder().decode(data) : null);
const starts = ({ lines }: Control) => lines.filter((line) => line.includes("'start'")).length;

describe("N: the SDK as it is used", () => {
  plain("without a session, over rpc, asleep soon, under a lower-case id", () =>
    withWorld(async ({ box, fake }) => {
      await exec(box, "true");
      expect(fake.configured[0]).toMatchObject({ transport: "rpc", sleepAfter: "300s" });
    }),
  );

  plain("N4: nothing is touched before the first command, and files need none", () =>
    withWorld(async ({ box, fake, files }) => {
      await box.write("/workspace/a", bytes("x"));
      expect(text(await box.read("/workspace/a"))).toBe("x");
      expect(await box.list("/workspace")).toEqual([{ path: "/workspace/a", size: 1 }]);
      await box.rest();
      await box.destroy();
      expect([fake.lines, fake.destroyed, files.count()]).toEqual([[], 0, 1]);
    }),
  );

  plain("N3: what is interrupted before it arrives is sent again, and runs once", () =>
    withWorld(async ({ box, fake }) => {
      await exec(box, "true");
      for (const code of ["OPERATION_INTERRUPTED", "RPC_TRANSPORT_ERROR", "RESOURCE_BUSY"]) {
        fake.trouble.push(() => Promise.reject(sdkError(code)));
        expect(await exec(box, `echo ${code} >> log`)).toMatchObject({ exitCode: 0 });
      }
      expect(text(await box.read("/workspace/log"))?.split("\n")).toHaveLength(4);
      expect(fake.commands).toHaveLength(4);
    }),
  );

  plain("K1: what is interrupted after it arrived runs once all the same", () =>
    withWorld(async ({ box, fake }) => {
      await exec(box, "true");
      fake.trouble.push(async (_, real) => {
        await real();
        throw sdkError("OPERATION_INTERRUPTED");
      });
      expect((await exec(box, "echo paid | tee -a ledger")).output).toBe("paid\n");
      expect(text(await box.read("/workspace/ledger"))).toBe("paid\n");
    }),
  );

  plain("K1: interrupted by a restart, its outcome is unknown and it is not run again", () =>
    withWorld(async ({ box, fake }) => {
      await exec(box, "true");
      fake.trouble.push(async (_, real) => {
        await real();
        fake.container.installed = false;
        throw sdkError("OPERATION_INTERRUPTED");
      });
      expect(await exec(box, "echo paid >> ledger")).toMatchObject({ unknown: true });
      expect(fake.commands.filter((c) => c.includes("paid"))).toHaveLength(1);
      expect(await exec(box, "echo next")).toMatchObject({ output: "next\n", exitCode: 0 });
    }),
  );

  plain("a missing exit code is never trusted", () =>
    withWorld(async ({ box, fake }) => {
      await exec(box, "true");
      fake.trouble.push(async () => ({ stdout: "0 0 0\n" }));
      expect(await exec(box, "exit 3")).toMatchObject({ exitCode: 3 });
    }),
  );

  plain(
    "X2: a container that cannot start is told at once, in words, and nothing else serves",
    () =>
      withWorld(async ({ box, fake }) => {
        fake.always = () =>
          Promise.reject(
            sdkError("CONTAINER_UNAVAILABLE", { reason: "no_container_instance_available" }),
          );
        await expect(exec(box, "echo hi")).rejects.toThrow(/cannot be used.*CONTAINER_UNAVAILABLE/);
        expect(fake.lines).toHaveLength(1);
        fake.always = null;
        expect((await exec(box, "echo hi")).output).toBe("hi\n");
      }),
  );

  plain("one that is still coming up is waited for", () =>
    withWorld(async ({ box, fake, notices }) => {
      const starting = () =>
        Promise.reject(sdkError("CONTAINER_UNAVAILABLE", { reason: "container_starting" }));
      fake.trouble.push(starting, starting, starting);
      expect((await exec(box, "echo hi")).output).toBe("hi\n");
      expect(notices).toEqual(["sandbox_starting"]);
    }),
  );
});

describe("A23: a container that does not behave", () => {
  const hang = () => new Promise<never>(() => {});

  plain("never resolves: the call ends in time, and the next one works", () =>
    withWorld(async ({ box, fake }) => {
      await exec(box, "true");
      fake.always = hang;
      const result = await exec(box, "echo x", { timeoutMs: 200 });
      expect(result).toMatchObject({ exitCode: 124, unknown: true });
      fake.always = null;
      expect(await exec(box, "echo next")).toMatchObject({ output: "next\n", exitCode: 0 });
    }, 0.02),
  );

  plain("never resolves while it is followed: ends with the output so far", () =>
    withWorld(async ({ box, fake }) => {
      await exec(box, "true");
      fake.trouble.push(
        (_, real) => real() as Promise<never>,
        ...Array.from({ length: 20 }, () => hang),
      );
      const result = await exec(box, "echo half; sleep 60", { timeoutMs: 300 });
      expect(result).toMatchObject({ output: "half\n", timedOut: true, unknown: true });
      fake.trouble.length = 0;
      expect(await exec(box, "echo next")).toMatchObject({ output: "next\n", exitCode: 0 });
    }, 0.02),
  );

  plain("Y4: does not answer any more: it is ended, a new one gets the files", () =>
    withWorld(async ({ box, fake, notices }) => {
      await exec(box, "echo kept > a");
      fake.always = (line) => (line === "destroy" ? Promise.resolve() : hang());
      expect(await exec(box, "echo x", { timeoutMs: 200 })).toMatchObject({ unknown: true });
      fake.always = (line, real) => {
        if (line.includes("'jobs'")) return hang();
        fake.always = null;
        if (line !== "destroy") throw new Error(line);
        return real();
      };
      expect((await exec(box, "cat a")).output).toBe("kept\n");
      expect([fake.destroyed, notices]).toEqual([1, ["sandbox_restored"]]);
    }, 0.02),
  );

  plain("resolves long after: the late answer changes nothing", () =>
    withWorld(async ({ box, fake }) => {
      await exec(box, "true");
      const late = Promise.withResolvers<void>();
      fake.trouble.push(async (_, real) => {
        const result = await real();
        await late.promise;
        return result;
      });
      const ended = await exec(box, "echo once >> log; cat log");
      late.resolve();
      expect(ended).toMatchObject({ output: "once\n", exitCode: 0 });
      expect((await exec(box, "cat log")).output).toBe("once\n");
    }, 0.02),
  );
});

describe("I: files have one truth", () => {
  plain("what a command made, changed and deleted is in the store when its call ends", () =>
    withWorld(async ({ box, files }) => {
      await exec(
        box,
        "mkdir d; echo 1 > d/a; echo 2 > 'b c'; echo AP8= | base64 -d > bin; chmod +x d/a",
      );
      expect(text(files.read("/workspace/d/a"))).toBe("1\n");
      expect(files.read("/workspace/bin")).toEqual(new Uint8Array([0, 255]));
      expect(files.stat("/workspace/d/a")?.mode).toBe(0o755);
      await exec(box, "rm d/a; echo 3 > 'b c'; mv bin d/bin");
      expect(files.list().map((node) => node.path)).toEqual(["/workspace/b c", "/workspace/d/bin"]);
      expect(text(files.read("/workspace/b c"))).toBe("3\n");
    }),
  );

  plain(
    "an upload and a deletion from outside reach a running container before the next command",
    () =>
      withWorld(async ({ box, files, wake }) => {
        await exec(box, "echo old > a; echo gone > b");
        files.write("/workspace/upload/x/n.txt", bytes("new"));
        files.write("/workspace/a", bytes("uploaded"));
        files.remove("/workspace/b");
        for (const path of ["upload/x/n.txt", "a", "b"]) box.outside(`/workspace/${path}`);
        // The object may have been away in between.
        const { output } = await exec(wake(), "cat upload/x/n.txt a; ls");
        expect(output).toBe("newuploadeda\nupload\n");
      }),
  );

  plain("I3: an upload during a command is not undone by it", () =>
    withWorld(async ({ box, files }) => {
      const running = exec(box, "echo mine > a; sleep 0.3");
      await vi.waitFor(() => expect(box.jobs).toBeDefined());
      await vi.waitFor(async () => expect(text(await box.read("/workspace/a"))).toBe("mine\n"));
      files.write("/workspace/a", bytes("theirs"));
      box.outside("/workspace/a");
      await running;
      expect(text(files.read("/workspace/a"))).toBe("theirs");
      expect((await exec(box, "cat a")).output).toBe("theirs");
    }),
  );

  plain("leaves out what is too large or can be made again, and says so once", () =>
    withWorld(async ({ box, files, fake }) => {
      await exec(
        box,
        "mkdir -p node_modules/m .git; echo x > node_modules/m/i; echo y > .git/HEAD; echo z > z",
      );
      expect(files.list().map((node) => node.path)).toEqual(["/workspace/z"]);
      expect(box.news()).toBe(null);
      fake.trouble.push(
        (_, real) => real(),
        async () => ({ exitCode: 0, stdout: btoa("!99999999 0 0 big.iso\0+1 1.5 644 z\0") }),
      );
      await exec(box, "true");
      expect(box.news()).toContain("/workspace/big.iso (99999999 bytes)");
      expect(box.news()).toBe(null);
    }),
  );

  plain("a container that comes up empty gets the files back; people and the model are told", () =>
    withWorld(async ({ box, fake, notices }) => {
      await exec(box, "mkdir d; echo 1 > d/a; echo '#!/bin/bash' > run; chmod +x run");
      expect([notices, box.news()]).toEqual([[], null]);
      fake.container.installed = false;
      expect((await exec(box, "cat d/a; ls")).output).toBe("1\nd\nrun\n");
      expect(notices).toEqual(["sandbox_restored"]);
      expect(box.news()).toContain("started anew");
    }),
  );

  plain("a deletion after a restore is a deletion", () =>
    withWorld(async ({ box, fake, files }) => {
      await exec(box, "echo 1 > a; echo 2 > b");
      fake.container.installed = false;
      await exec(box, "rm a");
      expect(files.list().map((node) => node.path)).toEqual(["/workspace/b"]);
    }),
  );

  plain(
    "large files go in and out in parts",
    () =>
      withWorld(async ({ box, fake, files }) => {
        const large = Uint8Array.from({ length: 7 * 1024 * 1024 + 5 }, (_, i) => (i * 31) % 251);
        files.write("/workspace/large", large);
        await exec(box, "cp large copy; rm large");
        const copy = files.read("/workspace/copy");
        expect(copy?.byteLength).toBe(large.byteLength);
        expect(copy?.every((byte, i) => byte === large[i])).toBe(true);
        fake.container.installed = false;
        expect((await exec(box, "wc -c < copy")).output.trim()).toBe(String(large.byteLength));
      }),
    40_000,
  );
});

describe("K4: rest", () => {
  plain("mirrors, ends the container, and names what ended with it when the next one is up", () =>
    withWorld(async ({ box, fake, files, wake }) => {
      const request = { id: "server", command: "echo up; sleep 100", cwd: "/workspace" };
      await box.jobs?.start({ ...request, timeoutMs: 5_000, reopened: false }, never);
      await run(box, "w", "echo late > a");
      await box.rest();
      expect([fake.destroyed, text(files.read("/workspace/a"))]).toEqual([1, "late\n"]);
      await box.rest();
      expect(fake.destroyed).toBe(1);
      const next = wake();
      expect(await next.jobs?.view("server", 0, never)).toBe(null);
      expect((await exec(next, "cat a")).output).toBe("late\n");
      expect(next.news()).toContain("ended with it: server");
    }),
  );

  plain("waits for no call and breaks none: what runs keeps its container", () =>
    withWorld(async ({ box, fake }) => {
      const running = exec(box, "echo a; sleep 0.3; echo b");
      await vi.waitFor(() => expect(starts(fake)).toBe(1));
      await box.rest();
      expect((await running).output).toBe("a\nb\n");
      expect(fake.destroyed).toBe(0);
    }),
  );

  plain("the first call after it may be interrupted once", () =>
    withWorld(async ({ box, fake }) => {
      await exec(box, "echo x > a");
      await box.rest();
      fake.trouble.push(() => Promise.reject(sdkError("OPERATION_INTERRUPTED")));
      expect((await exec(box, "cat a")).output).toBe("x\n");
    }),
  );

  plain("a deleted session leaves no container", () =>
    withWorld(async ({ box, fake }) => {
      await exec(box, "true");
      await box.destroy();
      expect(fake.destroyed).toBe(1);
      await expect(exec(box, "true")).rejects.toThrow("gone");
    }),
  );
});

describe("K1: after a crash of the object", () => {
  plain("a running command is followed on, a finished one has its result, and both ran once", () =>
    withWorld(async ({ box, fake, wake }) => {
      await exec(box, "true");
      void run(box, "c1", "echo a >> log; sleep 0.4; echo b >> log; cat log");
      await vi.waitFor(() => expect(fake.container.jobs.has("c1")).toBe(true));
      const again = { reopened: true };
      const first = await run(
        wake(),
        "c1",
        "echo a >> log; sleep 0.4; echo b >> log; cat log",
        again,
      );
      expect(first).toMatchObject({ output: "a\nb\n", exitCode: 0 });
      const second = await run(wake(), "c1", "something else", again);
      expect(second).toMatchObject({ output: "a\nb\n", exitCode: 0 });
      expect(fake.commands).toHaveLength(2);
    }),
  );

  plain("one that had not arrived is started", () =>
    withWorld(async ({ box, wake }) => {
      await exec(box, "true");
      expect(await run(wake(), "c1", "echo hi", { reopened: true })).toMatchObject({
        output: "hi\n",
      });
    }),
  );

  plain("one that never had a container is started", () =>
    withWorld(async ({ box }) => {
      expect(await run(box, "c1", "echo hi", { reopened: true })).toMatchObject({ output: "hi\n" });
    }),
  );

  plain("one whose container is gone is unknown, and is not run", () =>
    withWorld(async ({ box, fake, wake }) => {
      await exec(box, "true");
      fake.container.installed = false;
      const result = await run(wake(), "c1", "echo hi >> log", { reopened: true });
      expect(result).toMatchObject({ unknown: true, timedOut: false });
      expect(fake.commands).toHaveLength(1);
    }),
  );
});
