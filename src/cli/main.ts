/** `npm run chat`: the terminal client. See docs/terminal.md. */
import { type Options, readArgs } from "./args.ts";
import { type Config, configPath, loadConfig, type Target, targetOf } from "./config.ts";
import { linesOf, NO_LINES } from "./lines.ts";
import { painter, wantsColour } from "./paint.ts";
import { Renderer } from "./render.ts";
import { runScript } from "./script.ts";
import { connect, createSession, namedSession, Trouble, wordsFor } from "./server.ts";
import { languageOf, type Say, sayIn } from "./strings.ts";

const { stdin, stdout, stderr, env, argv } = process;
const out = (line: string): void => void stdout.write(`${line}\n`);
const note = (line: string): void => void stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const path = configPath(env);
  const held = await loadConfig(path);
  const say = sayIn(languageOf(held?.language, env));
  const parsed = readArgs(argv.slice(2));
  if (!parsed.ok) throw new Trouble(say(parsed.problem, parsed.detail));
  const { options } = parsed;
  if (options.help) {
    out(say("usage"));
    return 0;
  }
  const interactive = stdin.isTTY && stdout.isTTY && options.task === undefined && !options.json;
  const config = interactive || options.setup ? await settle(path, held, options) : (held ?? {});
  if (!config) return 2;
  return talkWith(options, config, sayIn(languageOf(config.language, env)), interactive);
}

/** The first run in a terminal asks; later ones only when that is wanted. */
async function settle(path: string, held: Config | null, options: Options): Promise<Config | null> {
  const told = options.url !== undefined || Boolean(env.DORMOUSE_URL);
  if (!options.setup && (held || told)) return held ?? {};
  const { setUp } = await import("./setup.ts");
  return setUp(path, held ?? {}, languageOf(held?.language, env));
}

async function talkWith(
  options: Options,
  config: Config,
  say: Say,
  interactive: boolean,
): Promise<number> {
  const target = targetOf(options.url, env, config);
  if (!target) throw new Trouble(say("badUrl"));
  try {
    return await (interactive ? chat : script)(options, config, target, say);
  } catch (error) {
    throw error instanceof Trouble ? error : new Trouble(wordsFor(error, target.url, say));
  }
}

const wantedOf = ({ session, key, mode }: Options, { language }: Config) => ({
  ...(session === undefined ? {} : { session }),
  ...(key === undefined ? {} : { key }),
  ...(mode === undefined ? {} : { mode }),
  ...(language === undefined ? {} : { language }),
});

async function chat(options: Options, config: Config, target: Target, say: Say): Promise<number> {
  const server = await connect(target, say);
  const wanted = wantedOf(options, config);
  const session = await namedSession(server, wanted, say);
  const { Chat } = await import("./chat.ts");
  const colour = wantsColour(stdout, env);
  return new Chat({ server, session, wanted, say, colour, input: stdin, output: stdout }).run();
}

async function script(options: Options, config: Config, target: Target, say: Say): Promise<number> {
  const { task, json } = options;
  const stopping = new AbortController();
  process.on("SIGINT", () => {
    if (stopping.signal.aborted) process.exit(130);
    note(say("stopping"));
    stopping.abort();
  });
  const server = await connect(target, say);
  const wanted = wantedOf(options, config);
  const session =
    (await namedSession(server, wanted, say)) ?? (await createSession(server, wanted));
  const colour = wantsColour(stderr, env);
  const renderer = new Renderer({
    say,
    paint: painter(colour),
    colour,
    live: false,
    columns: () => stderr.columns || 100,
    progress: note,
    answer: out,
  });
  // A person at the keys is not asked in a script; what is piped in answers.
  const lines = task !== undefined && stdin.isTTY ? NO_LINES : linesOf(stdin);
  return runScript({
    server,
    session,
    say,
    ...(task === undefined ? {} : { task }),
    lines,
    json,
    renderer,
    out,
    note,
    signal: stopping.signal,
  });
}

/** A reader that has left (`| head`) is no error. */
stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 2));

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    note(error instanceof Error ? error.message : String(error));
    process.exit(2);
  },
);
