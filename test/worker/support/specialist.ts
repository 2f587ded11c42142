/** A deployment with one specialist, `tester`, and the script that it works by. */
import { useVars } from "./client.ts";
import { type Model, type Scripted, scripted } from "./upstream.ts";

export function specialist(script: Scripted[], more: Record<string, unknown> = {}): Model {
  const model = scripted(script);
  const prompt = "You are the tester.";
  const tester = {
    provider: "custom",
    model: model.name,
    roles: { assistant: { prompt } },
    ...more,
  };
  useVars({ PROFILES: JSON.stringify({ tester }) });
  return model;
}
