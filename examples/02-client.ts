/**
 * 02 · The typed client over a WebSocket. It shows: events as they happen, text as it streams, a question that is
 * answered, over lost connections and restarts of the server. `src/client` needs nothing else and runs in browsers,
 * Workers and Node.
 *
 *   npx node examples/02-client.ts
 */
import { createClient, talk } from "../src/client/index.ts";

const { DORMOUSE_URL: baseUrl = "http://localhost:8787", DORMOUSE_TOKEN: token } = process.env;
const options = { baseUrl, ...(token ? { token } : {}) };

const session = await createClient(options).createSession({ title: "With the client" });
const conversation = talk({
  ...options,
  session,
  onFrames(frames) {
    for (const frame of frames) {
      if (frame.type === "live" && frame.event === "message_delta") {
        process.stdout.write(frame.data.text);
      }
    }
  },
});

let result = await conversation.run("Look around `ls /`\nWhich colour (red/green/blue)?", {
  onEvent(event) {
    if (event.event === "step") console.log(`step ${event.data.status}: ${event.data.description}`);
    if (event.event === "tool" && event.data.status === "called") console.log(event.data.content);
  },
});
while (result.wait) {
  console.log(`\n${result.wait.text} [${result.wait.options?.join(", ")}]`);
  result = await conversation.answer({ wait_id: result.wait.wait_id, text: "blue" });
}
console.log(`\n${result.outcome}: ${result.message}`);
conversation.close();
