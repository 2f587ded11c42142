/** Where objects live: a wish, a rule, and what becomes of neither. */
import { describe, expect, vi } from "vitest";
import { objectNamed } from "../../src/worker/place.ts";
import { api, failureOf, it, useVars } from "./support/client.ts";

/** A namespace that tells what it was asked for. */
function fake() {
  const getByName = vi.fn(() => "stub");
  const jurisdiction = vi.fn(() => ({ getByName }));
  const namespace = { getByName, jurisdiction } as unknown as DurableObjectNamespace;
  return { namespace, getByName, jurisdiction };
}

describe("an object", () => {
  it("is made near whoever asks first, when nothing is said", async () => {
    const { namespace, getByName, jurisdiction } = fake();
    objectNamed({}, namespace, "a");
    expect(getByName).toHaveBeenCalledWith("a", {});
    expect(jurisdiction).not.toHaveBeenCalled();
  });

  it("is made where DO_LOCATION_HINT says", async () => {
    const { namespace, getByName } = fake();
    objectNamed({ DO_LOCATION_HINT: " WEUR " }, namespace, "a");
    expect(getByName).toHaveBeenCalledWith("a", { locationHint: "weur" });
  });

  it("stays within DO_JURISDICTION, the hint beside it", async () => {
    const { namespace, getByName, jurisdiction } = fake();
    objectNamed({ DO_JURISDICTION: "eu", DO_LOCATION_HINT: "eeur" }, namespace, "a");
    expect(jurisdiction).toHaveBeenCalledWith("eu");
    expect(getByName).toHaveBeenCalledWith("a", { locationHint: "eeur" });
  });
});

for (const [name, value] of [
  ["DO_LOCATION_HINT", "europe"],
  ["DO_JURISDICTION", "moon"],
] as const) {
  it(`a ${name} that there is not is told, and nothing is made`, async () => {
    useVars({ [name]: value });
    const response = await api("/api/sessions", { json: {} });
    expect(response.status).toBe(500);
    const { code, message } = await failureOf(response);
    expect(code).toBe("bad_configuration");
    expect(message).toContain(name);
  });
}

it("a hint does not keep a session from working", async () => {
  useVars({ DO_LOCATION_HINT: "apac" });
  const response = await api("/api/sessions", { json: {} });
  expect(response.status).toBe(201);
});
