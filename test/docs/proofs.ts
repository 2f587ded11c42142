/**
 * How each command of the docs is proved. A command without an entry fails a test, as does an entry without a command.
 *
 * In `run` stand URL (the shared server), HOST (the same without its scheme), MODEL (a scripted model) and TMP (a folder
 * that is thrown away). Where it is shorter than what the docs say, it differs in numbers alone.
 */
export type Proof =
  /**
   * Typed in a shell, where the repository is; must end well and print this. `chromium`: skipped where there is none.
   * `alone`: it starts what it needs itself.
   */
  | { run: string; shows: RegExp; chromium?: true; alone?: true }
  /** Started; must answer at this address, and is ended then. */
  | { serves: string; at: string }
  /** The shared server of these tests was made with it. */
  | { served: true }
  /** Another test, or what runs the tests, does just that. */
  | { by: string; because: string }
  /** It cannot be done here. */
  | { cannot: string };

const ACCOUNT = "needs a Cloudflare account";
const made =
  "ID=$(curl -s -X POST HOST/api/sessions -d '{}' | node -p 'JSON.parse(require(\"fs\").readFileSync(0)).id')";
const CI = { by: ".ci/run", because: "this is what runs the tests" };
const SOAK = "npm run -s soak -- --storage-faults 0.01 --minutes 5";

export const PROOFS: Readonly<Record<string, Proof>> = {
  "npm ci && npm start": { served: true },
  "npm start": { served: true },
  "npm ci": CI,
  "npm ci && npm test": CI,
  "npm test": CI,
  "npm run check": CI,
  "npm ci && npm run check": CI,
  "bash .ci/run": CI,
  "npm run build": { by: "package.json", because: "`npm run check` runs it" },
  "npm run format": {
    by: "package.json",
    because: "it rewrites files; `npm run check` holds them against the same rules",
  },
  "wrangler dev": { by: "test/e2e/restart.test.ts", because: "it starts and kills it" },
  "wrangler deploy --dry-run": { by: "package.json", because: "`npm run check` runs it" },

  "npm run chat": { by: "test/e2e/terminal.test.ts", because: "it types into a terminal" },
  "npm run -s chat -- -p 'say `echo hello`'": {
    run: "npm run -s chat -- -p 'say `echo hello`'",
    shows: /hello/,
  },
  "printf 'first task\\nsecond task\\n' | npm run -s chat": {
    run: "printf 'first task\\nsecond task\\n' | npm run -s chat",
    shows: /second task/,
  },
  "npm run -s chat -- --json -p 'task' | jq -c .event": {
    // Where there is no jq, so that nothing has to be installed for the tests.
    run: `npm run -s chat -- --json -p 'task' | node -e 'for (const line of require("fs").readFileSync(0, "utf8").trim().split("\\n")) console.log(JSON.stringify(JSON.parse(line).event ?? null))'`,
    shows: /"message"[\s\S]*"done"/,
  },
  'npm run chat -- --url https://… -p "say hello"': {
    run: 'npm run -s chat -- --url URL -p "say hello"',
    shows: /hello/,
  },
  'curl -H "Authorization: Bearer …" "https://…/api/health?deep=1&reach=1"': {
    run: 'curl -sS -H "Authorization: Bearer x" "URL/api/health?deep=1&reach=1"',
    shows: /"checks":\[/,
  },
  "npm start | grep '^{' | jq": {
    by: "test/e2e/observe.test.ts",
    because: "it reads these lines of a server",
  },
  "npm run docs:api": {
    by: "test/core/api-docs.test.ts",
    because: "it holds the files against what the command writes",
  },
  "npm run save-sessions": {
    by: "test/worker/saved.test.ts",
    because: "it opens what the command wrote, and fails when that is of an older schema",
  },
  "FC_SEED=random FC_RUNS=5000 npx vitest run --project core": {
    by: ".github/workflows/ci.yml",
    because: "the same runs every night",
  },
  "npx wrangler secret put QUOTAS": { cannot: ACCOUNT },
  "ID=$(curl -s -X POST localhost:8787/api/sessions -d '{}' | node -p 'JSON.parse(require(\"fs\").readFileSync(0)).id')":
    { run: `${made}; echo $ID`, shows: /^[a-z2-7]{26}$/m },
  "curl -s -X POST localhost:8787/api/sessions/$ID/messages -H 'Prefer: wait=60' -d '{\"text\":\"say `echo hello`\"}'":
    {
      run: `${made}; curl -s -X POST HOST/api/sessions/$ID/messages -H 'Prefer: wait=60' -d '{"text":"say \`echo hello\`"}'`,
      shows: /"outcome":"completed".*hello/,
    },
  "curl -s localhost:8787/api/sessions/$ID/events": {
    run: `${made}; curl -s HOST/api/sessions/$ID/events`,
    shows: /"events":\[\]/,
  },
  "openssl rand -hex 32": { run: "openssl rand -hex 32", shows: /^[0-9a-f]{64}$/m, alone: true },

  "sh examples/01-http.sh": {
    run: "sh examples/01-http.sh",
    shows:
      /waiting: Which colour[\s\S]*completed: [\s\S]*hello\.txt says: hello[\s\S]*done status_update/,
  },
  "npx node examples/02-client.ts": {
    run: "npx node examples/02-client.ts",
    shows: /step running: Look around[\s\S]*workspace[\s\S]*\[red, green, blue\][\s\S]*completed: /,
  },
  "sed 's#\"../src/tools/#\"./#' examples/03-tool.ts > src/tools/file-hash.ts": { served: true },
  "npx node examples/05-mcp.ts": {
    run: "npx node examples/05-mcp.ts",
    shows: /run_task[\s\S]*it asks: Shall I go on[\s\S]*completed: /,
  },
  "npx node examples/06-openai.ts": {
    run: "npx node examples/06-openai.ts",
    shows: /shell_exec \{"command":"date"\} → 2\d{3}-[\s\S]*answer: /,
  },
  "npx node examples/07-webhook.ts": {
    run: "npx node examples/07-webhook.ts",
    shows: /session\.waiting: Shall I[\s\S]*session\.completed: /,
  },

  "npm run evals": { run: "npm run -s evals", shows: /^(\d+) of \1 passed/m, alone: true },
  "npm run evals -- --scenario two_steps --scenario ask_user_waits": {
    run: "npm run -s evals -- --scenario two_steps --scenario ask_user_waits",
    shows: /2 of 2 passed/,
    alone: true,
  },
  "npm run evals -- --json scores.json": {
    run: "npm run -s evals -- --scenario two_steps --json TMP/scores.json && cat TMP/scores.json",
    shows: /"name": "two_steps"/,
    alone: true,
  },
  "npm run test:faults": {
    by: "test/faults/faults.test.ts",
    because: "the same runs, each a test",
  },
  'npm run test:faults -- --kind "429"': {
    run: 'npm run -s test:faults -- --kind "429 with Retry-After: 0"',
    shows: /0 wrong/,
    alone: true,
  },
  "npm run test:faults -- --chaos 2000 --seed 7 --json faults.json": {
    run: 'npm run -s test:faults -- --kind "overloaded" --chaos 2 --seed 7 --json TMP/faults.json',
    shows: /chaos/,
    alone: true,
  },
  "npm run test:faults -- --proxy": {
    by: "test/faults/proxy.test.ts",
    because: "the same runs, each a test",
  },
  "npm run test:faults -- --mcp": {
    by: "test/faults/mcp.test.ts",
    because: "the same runs, each a test",
  },
  "npm run bench": {
    by: "test/docs/proofs.ts",
    because: "the next one is the same, with its numbers named",
  },
  "npm run bench -- --only steps --steps 50,500 --rounds 5 --json bench.json": {
    run: "npm run -s bench -- --only steps --steps 3,4 --rounds 1 --calls 3 --json TMP/bench.json && cat TMP/bench.json",
    shows: /"section": "CPU of a step"/,
    alone: true,
  },
  "npm run bench:peers": { cannot: "installs 200 packages, and takes a quarter of an hour" },
  "npm run bench:cost": {
    run: "npm run -s bench:cost -- --sessions 1 --reply-seconds 0.1 --wait-seconds 0",
    shows: /rows written[\s\S]*together[\s\S]*waiting cost nothing/,
    alone: true,
  },
  "npm run bench:cost -- --reply-seconds 5 --wait-seconds 1800": {
    by: "test/docs/proofs.ts",
    because: "the same as `npm run bench:cost`, with other numbers",
  },
  "npm run bench:page": {
    run: "npm run -s bench:page -- --stored 50 --live 10",
    shows: /ms to interactive[\s\S]*KiB of heap per live event/,
    alone: true,
    chromium: true,
  },
  "npm run soak": {
    run: `${SOAK} --sessions 15 --kills 1`,
    shows: /^0 violations$/m,
    alone: true,
  },
  "npm run soak -- --sessions 50 --seed 7 --minutes 5": {
    by: "test/docs/proofs.ts",
    because: "the same as `npm run soak`, with other numbers",
  },
  "npm run probe -- --base-url URL --model NAME": {
    run: "npm run -s probe -- --base-url MODEL --model mock",
    shows: /"toolChoice"/,
  },
  "npm run probe -- --base-url https://host/v1 --model name --key-env MY_KEY": {
    run: "MY_KEY=secret npm run -s probe -- --base-url MODEL --model mock --key-env MY_KEY",
    shows: /"toolChoice"/,
  },
  "npm run mock-model": { serves: "npm run mock-model", at: "/v1/models" },
  "npm run screenshot": {
    run: "npm run -s screenshot -- --url URL --out TMP",
    shows: /page-light\.webp[\s\S]*page-dark\.webp/,
    chromium: true,
  },

  "npm run deploy": {
    run: "npm run -s deploy -- --dry-run --containers-rollout=none --outdir TMP/deploy",
    shows: /--dry-run: exiting now/,
    alone: true,
  },
  "npm run deploy:embedded": {
    run: "npm run -s deploy:embedded -- --dry-run --outdir TMP/embedded",
    shows: /--dry-run: exiting now/,
    alone: true,
  },
  "npx wrangler login": { cannot: ACCOUNT },
  "wrangler secret put": { cannot: ACCOUNT },
  "npx wrangler secret put AUTH_TOKENS": { cannot: ACCOUNT },
  "npx wrangler secret put OPENAI_API_KEY": { cannot: ACCOUNT },
  "npm run dev:containers": { cannot: "needs Docker and the image of the sandbox" },
  "git pull": { cannot: "needs a repository to pull from" },
  "git bundle": { cannot: "is meant for the model's own repositories, in a container" },
};
