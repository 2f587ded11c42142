/** An embedded sandbox over real Durable Object storage, fresh and empty. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { FILES_SCHEMA } from "../../../src/adapters/files/schema.ts";
import { FileStore } from "../../../src/adapters/files/store.ts";
import { embeddedBox } from "../../../src/adapters/sandbox/embedded.ts";
import type { AddressRules } from "../../../src/adapters/web/address.ts";
import type { Box } from "../../../src/tools/box.ts";

export async function withBox(
  test: (box: Box, files: FileStore) => Promise<void>,
  rules: AddressRules = {},
): Promise<void> {
  const stub = env.SESSION.get(env.SESSION.newUniqueId());
  await runInDurableObject(stub, async (_, state) => {
    for (const statement of FILES_SCHEMA) state.storage.sql.exec(statement);
    const files = new FileStore(state.storage.sql, { now: () => 1_000 });
    await test(embeddedBox(files, rules), files);
  });
}
