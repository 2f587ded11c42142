/** Types commands of the docs, each a test, as their proofs say. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WITH_CHROMIUM } from "../support/chromium-program.ts";
import { freePort } from "../support/dev-server.ts";
import { serving, typed } from "../support/typed.ts";
import { commands } from "./collect.ts";
import { PROOFS } from "./proofs.ts";

/** What only the running tests know. */
export interface Place {
  /** A command with addresses and folders in it. */
  filled(command: string): string;
  env(): Record<string, string>;
}

/** Those that start what they need themselves, or those that do not. */
export function typeIn(which: "alone" | "served", { filled, env }: Place): void {
  const typedIn = new Map(commands().map((found) => [found.command, found]));
  void describe(`what the docs say is typed (${which})`, () => {
    for (const [command, { file, line }] of typedIn) {
      const proof = PROOFS[command];
      const name = `${command} (${file}:${line})`;
      if (proof && "run" in proof && (proof.alone ?? false) === (which === "alone")) {
        test(name, proof.chromium ? WITH_CHROMIUM : {}, async () => {
          const { code, output } = await typed(filled(proof.run), { env: env() });
          assert.equal(code, 0, output);
          assert.match(output, proof.shows);
        });
      }
      if (proof && "serves" in proof && which === "alone") {
        test(name, async () => {
          const port = await freePort();
          const at = `http://127.0.0.1:${port}${proof.at}`;
          await (await serving(proof.serves, at, { env: { PORT: String(port) } })).stop();
        });
      }
    }
  });
}
