/**
 * `npm run mock-model`: the scripted model as a server of its own, for development without a key.
 *
 *   PORT            default 9090
 *   MOCK_DATA_DIR   folder of the scenario files, default test/scenarios
 *   MOCK_DATA_FILE  the scenario to begin with, default one-step.yaml
 *   MOCK_DELAY      seconds before every reply, default 1
 *   MOCK_WRAP       0: a spent script answers 500; default 1: it begins again
 */
import { fileURLToPath } from "node:url";
import { startMockModel } from "../test/support/mock-model.ts";

const env = process.env;
const folder = fileURLToPath(new URL("../test/scenarios", import.meta.url));
const mock = await startMockModel({
  port: Number(env.PORT ?? 9090),
  dir: env.MOCK_DATA_DIR ?? folder,
  file: env.MOCK_DATA_FILE ?? "one-step.yaml",
  delayMs: Number(env.MOCK_DELAY ?? 1) * 1000,
  wrap: env.MOCK_WRAP !== "0",
});
console.log(`mock model at ${mock.url}
  OPENAI_BASE_URL=${mock.url} OPENAI_API_KEY=sk-mock
  POST ${new URL("/mock/scenario", mock.url)} {"file": "two-steps.yaml"} changes the script`);
