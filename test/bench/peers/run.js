/** What every peer is given, and the object that runs it: the same for all of them, as the floor has it. */
import { DurableObject } from "cloudflare:workers";

/** The one tool of a run: its definition is Dormouse's own, its result the same text. */
export function toolOf({ fields, result }) {
  const tool = fields.tools.find((t) => t.function.name === "file_read");
  return { ...tool.function, result };
}
export const systemOf = ({ messages }) => messages[0].content;
export const taskOf = ({ messages }) => String(messages.at(-1).content);

/** A Worker whose object runs one session with `loop(run, env, storage)`, which gives the number of tool calls. */
export function peer(loop) {
  class Peer extends DurableObject {
    async fetch(request) {
      return Response.json({ steps: await loop(await request.json(), this.env, this.ctx.storage) });
    }
  }
  const worker = {
    async fetch(request, env) {
      if (request.method !== "POST") return new Response("ready");
      return env.PEER.getByName(new URL(request.url).pathname).fetch(request);
    },
  };
  return { Peer, worker };
}
