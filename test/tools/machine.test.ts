/** The container's box over a real bash: the program that is put into a container is run as it is. */
import { describe, expect, it, vi } from "vitest";
import { machineBox } from "../../src/adapters/sandbox/machine-box.ts";
import type { Kept } from "../../src/adapters/sandbox/machine.ts";
import type { Box, ExecResult } from "../../src/tools/box.ts";
import { BashLink } from "../support/bash-link.ts";
import { boxSuite } from "../support/box-suite.ts";
import { memoryFiles } from "../support/sqlite.ts";

// Every call is a handful of real processes, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

class World {
  readonly link = new BashLink();
  readonly files = memoryFiles();
  readonly notices: string[] = [];
  stored: Kept | undefined;
  box: Box = this.wake();

  /** The object comes to life: it knows what was stored, and nothing else. */
  wake(): Box {
    const keeper = {
      get: () => this.stored,
      put: (kept: Kept) => {
        this.stored = structuredClone(kept);
      },
    };
    const notice = (code: string) => this.notices.push(code);
    const { link } = this;
    const box = machineBox(this.files, { link, keeper, notice, places: link.places });
    this.box = translated(box, link.places.root);
    return this.box;
  }
}

/** The folder of this container is called otherwise; what it prints is told as if it were /workspace. */
function translated(box: Box, root: string): Box {
  const say = (text: string) => text.replaceAll(root, "/workspace");
  const exec: Box["exec"] = async (request, live, signal): Promise<ExecResult> => {
    const result = await box.exec(request, (text) => live(say(text)), signal);
    return { ...result, output: say(result.output) };
  };
  return new Proxy(box, {
    get: (target, key) => {
      if (key === "exec") return exec;
      const value = Reflect.get(target, key) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function withWorld(test: (world: World) => Promise<void>): Promise<void> {
  const world = new World();
  try {
    await test(world);
  } finally {
    world.link.close();
  }
}

boxSuite("machine", (test) => withWorld(({ box }) => test(box)));
describe("x", () => { it("y", () => expect(1).toBe(1)); });
