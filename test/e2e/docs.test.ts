/**
 * What the docs tell people to type is typed: examples and commands that ask a server. It is `npm start` in a copy of
 * the repository to which the tool of examples/03-tool.ts was added, as its header says.
 */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT } from "../docs/collect.ts";
import { typeIn } from "../docs/type-in.ts";
import { call, complete, plan, Remote, Scripts } from "../support/client-node.ts";
import { freePort } from "../support/dev-server.ts";
import { type MockModel, startMockModel } from "../support/mock-model.ts";
import { serving, typed } from "../support/typed.ts";

const ADD_TOOL = "sed 's#\"../src/tools/#\"./#' examples/03-tool.ts > src/tools/file-hash.ts";
const PARTS = [
  "docs",
  "src",
  "prompts",
  "scripts",
  "examples",
  "package.json",
  "wrangler.toml",
  "Dockerfile",
];
let folder: string;
let tree: string;
let model: MockModel;
let url: string;
let server: { stop(): Promise<void> };

async function addTool(): Promise<void> {
  const { code, output } = await typed(ADD_TOOL, { cwd: tree });
  assert.equal(code, 0, output);
  const list = join(tree, "src/tools/index.ts");
  const text = readFileSync(list, "utf8");
  const named = text
    .replace(
      "export const TOOLS",
      'import { fileHash } from "./file-hash.ts";\n\nexport const TOOLS',
    )
    .replace("  fileFindByName,\n  info", "  fileFindByName,\n  fileHash,\n  info");
  assert.notEqual(named, text);
  writeFileSync(list, named);
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-docs-"));
  tree = join(folder, "tree");
  for (const part of PARTS) cpSync(join(ROOT, part), join(tree, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  await addTool();
  model = await startMockModel({ script: [{ text: "ok" }], wrap: true });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const vars = `--var PROVIDER:practice --var CUSTOM_BASE_URL:${model.url}`;
  const quiet = "--inspector-port 0 --show-interactive-dev-session=false";
  server = await serving(
    `npm start -- --port ${port} --persist-to ${folder}/state ${quiet} ${vars}`,
    `${url}/api/health`,
    { cwd: tree },
  );
});
after(async () => {
  await server?.stop();
  await model?.close();
  rmSync(folder, { recursive: true, force: true });
});

void test("the tool of examples/03-tool.ts works in a session", async () => {
  const scripts = new Scripts(model);
  scripts.set("hash", plan("a"), call("file_hash", { path: "a.txt", brief: "hash" }), complete());
  const session = await Remote.create(url, "hash");
  await fetch(`${session.at}/files/a.txt`, { method: "PUT", body: "abc" });
  await session.say("Hash it");
  await session.status("completed");
  const called = (await session.of("tool")).find((t) => t.status === "called");
  assert.match(JSON.stringify(called?.content), /ba7816bf/);
  model.script(() => ({ text: "ok" }));
});

typeIn("served", {
  filled: (command) =>
    command
      .replaceAll("URL", url)
      .replaceAll("HOST", url.replace("http://", ""))
      .replaceAll("MODEL", model.url)
      .replaceAll("TMP", folder),
  // As somebody who has set up nothing.
  env: () => ({ DORMOUSE_URL: url, XDG_CONFIG_HOME: join(folder, "config") }),
});
