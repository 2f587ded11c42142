/** Errands of a session (core/errand.ts), run: each by an id of its own outside, so that twice is once. */
import type { Rotation } from "../core/errand.ts";
import type { Errands } from "../core/ports.ts";
import type { Session } from "../core/session.ts";
import { childId } from "./children.ts";
import type { Bindings } from "./env.ts";
import { derivedId, newSessionId, sessionStub } from "./ids.ts";
import { log } from "./log.ts";
import { unwrap } from "./problem.ts";
import { originOf, rotate } from "./rotation.ts";

/** Tries of one errand, and the pause before the second; each next pause is twice as long. */
const TRIES = 5;
const PAUSE_MS = 200;

async function patiently<T>(act: () => Promise<T>): Promise<T | null> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === TRIES) {
        log("error", "errand_failed", {}, error);
        return null;
      }
      await scheduler.wait(PAUSE_MS * 2 ** (tries - 1));
    }
  }
}

/** Its id follows from the session and the message: after a crash it is found, and named again. */
async function succeed(env: Bindings, s: Session, { client, text }: Rotation): Promise<string> {
  const id = await derivedId("rotate", s.id, client);
  await rotate(env, originOf(s), id);
  if (text !== "") {
    unwrap(await sessionStub(env, id).say(s.owner, { id: client, text, route: "task" }));
  }
  return id;
}

/** One that is gone, or has ended, needs no word. */
async function release(env: Bindings, s: Session, call: string): Promise<void> {
  await sessionStub(env, await childId(s.id, call)).stop(s.owner, newSessionId());
}

export function errandsPort(env: Bindings, session: () => Session): Errands {
  return {
    async run(errand) {
      const s = session();
      switch (errand.type) {
        case "rotate":
          return { to: await patiently(() => succeed(env, s, errand)) };
        case "release":
          await patiently(() => release(env, s, errand.call));
          return { to: null };
      }
    },
  };
}
