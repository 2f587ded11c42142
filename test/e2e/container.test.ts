/**
 * A real container of the real image, where Docker and the image are there; elsewhere this is skipped, aloud. Get
 * the image with `docker pull`, as the Dockerfile names it.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startDev } from "../support/dev-server.ts";

const dockerfile = readFileSync(new URL("../../Dockerfile", import.meta.url), "utf8");
const image = /^FROM (\S+)$/m.exec(dockerfile)?.[1] ?? "";
const found = spawnSync("docker", ["image", "inspect", image], { stdio: "ignore" }).status === 0;
const skip = found ? false : `Docker or the image ${image} is not there`;
if (skip) console.error(`SKIPPED: a run in a real container. ${skip}.`);

void test("commands, files and a restart in a real container", { skip }, async () => {
  const persistTo = mkdtempSync(join(tmpdir(), "container-"));
  const server = await startDev({
    persistTo,
    vars: { PROVIDER: "practice", SANDBOX: "container" },
    args: ["--enable-containers=true"],
    timeoutMs: 300_000,
  });
  try {
    const post = async (path: string, body: unknown) => {
      const response = await fetch(`${server.url}/api/sessions${path}`, {
        method: "POST",
        headers: { prefer: "wait=300" },
        body: JSON.stringify(body),
      });
      return (await response.json()) as { id: string; outcome: string; message: string };
    };
    const { id } = await post("", {});
    const script = "run `uname -s; node -v; echo kept > a.txt; exit 3`";
    const first = await post(`/${id}/messages`, { text: script });
    assert.match(first.message, /Linux\nv\d+/);
    // Another turn, another container: the files are there again.
    const second = await post(`/${id}/messages`, { text: "look `cat a.txt`" });
    assert.equal(second.outcome, "completed");
    assert.match(second.message, /kept/);
    const file = await fetch(`${server.url}/api/sessions/${id}/files/a.txt`);
    assert.equal(await file.text(), "kept\n");
  } finally {
    await server.stop();
    rmSync(persistTo, { recursive: true, force: true });
  }
});
