/**
 * 03 · A new tool, whole. It shows: one zod schema is what the model sees, what its arguments are held against, and the
 * type that `run` gets. To add it:
 *
 *   sed 's#"../src/tools/#"./#' examples/03-tool.ts > src/tools/file-hash.ts
 *
 * then name `fileHash` in the list of src/tools/index.ts. docs/tools.md says what each field means.
 */
import * as z from "zod";
import { defineTool } from "../src/tools/define.ts";
import { load, observe } from "../src/tools/text-file.ts";

export const fileHash = defineTool({
  name: "file_hash",
  toolkit: "file",
  description: "The SHA-256 of a text file, in hexadecimal.",
  args: () => z.object({ path: z.string().describe("Path of the file.") }),
  parallelSafe: true,
  effect: false,
  recovery: "rerun",
  async run({ path }, ctx) {
    const file = await load(path, ctx);
    if (file.type !== "text") return observe(`There is no text file ${path}.`);
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(file.text));
    const bytes = Array.from(new Uint8Array(hash));
    return observe(bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  },
});
