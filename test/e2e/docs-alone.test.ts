/** What the docs tell people to type is typed: the commands that start what they need themselves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { typeIn } from "../docs/type-in.ts";

const folder = mkdtempSync(join(tmpdir(), "dormouse-docs-"));
after(() => rmSync(folder, { recursive: true, force: true }));

typeIn("alone", {
  filled: (command) => command.replaceAll("TMP", folder),
  env: () => ({}),
});
