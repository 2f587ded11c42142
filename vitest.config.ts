import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

const BOTH = {
  // Bounds for a test that hangs, never expectations: a machine may be busy.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // Every core: by default one is kept free.
  maxWorkers: "100%",
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "core",
          environment: "node",
          setupFiles: ["./test/support/properties.ts"],
          ...BOTH,
          include: [
            "test/core/**/*.test.ts",
            "test/page/**/*.test.ts",
            "test/cli/**/*.test.ts",
            "test/tools/**/*.test.ts",
            "test/faults/**/*.test.ts",
          ],
        },
      },
      {
        plugins: [
          cloudflareTest({
            // The real container's object cannot run here.
            main: "./test/worker/support/entry.ts",
            wrangler: { configPath: "./wrangler.toml" },
            // Tests of the log state their own.
            miniflare: { bindings: { LOG_LEVEL: "error" } },
            verbose: false,
          }),
        ],
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          // Each isolated file costs about 1.5 s of start-up on two cores; the tests use fresh ids instead.
          // So the files are shared out among a few runtimes, which begin once.
          isolate: false,
          ...BOTH,
          deps: {
            optimizer: {
              ssr: {
                enabled: true,
                include: [
                  ...["openai/core/streaming", "hono", "hono/route", "zod"],
                  ...["@modelcontextprotocol/client", "@modelcontextprotocol/server"],
                ],
              },
            },
          },
        },
      },
    ],
  },
});
