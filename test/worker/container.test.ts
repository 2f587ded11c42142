/** The container sandbox: the adapter over the SDK's real proxy, with a fake object behind it. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it as plain, vi } from "vitest";
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

async function withWorld(test: (world: World) => Promise<void>, graceMs = 300): Promise<void> {
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
    const wake = () => containerBox(files, { namespace: env.Sandbox, id, keeper, notice, graceMs });
    await test({ box: wake(), files, fake: control(id), notices, wake });
  });
}

boxSuite("container", (test) => withWorld(({ box }) => test(box)));
