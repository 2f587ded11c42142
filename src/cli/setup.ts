/** The first run: language, server, token. Nothing is kept before it is known to work, unless that is wanted. */
import {
  cancel,
  confirm,
  intro,
  isCancel,
  log,
  outro,
  password,
  select,
  text,
} from "@clack/prompts";
import { type Config, LOCAL, saveConfig, serverUrl } from "./config.ts";
import { connect } from "./server.ts";
import { type Language, type Say, sayIn } from "./strings.ts";

/** null: left without a change. */
export async function setUp(path: string, held: Config, guess: Language): Promise<Config | null> {
  const language = await select({
    message: sayIn(guess)("chooseLanguage"),
    options: [
      { value: "en" as const, label: "English" },
      { value: "zh" as const, label: "中文" },
    ],
    initialValue: held.language ?? guess,
    showInstructions: false,
  });
  if (isCancel(language)) return left(sayIn(guess));
  const say = sayIn(language);
  intro(say("welcome"));
  const address = await text({
    message: say("askUrl"),
    defaultValue: held.url ?? LOCAL,
    placeholder: held.url ?? LOCAL,
    validate: (value) => (!value || serverUrl(value) ? undefined : say("badUrl")),
  });
  if (isCancel(address)) return left(say);
  const token = await password({ message: say("askToken") });
  if (isCancel(token)) return left(say);
  const config: Config = {
    language,
    url: serverUrl(address) ?? LOCAL,
    ...(token ? { token } : {}),
  };
  if (!(await works(config, say))) return left(say);
  await saveConfig(path, config);
  outro(say("saved", path));
  return config;
}

function left(say: Say): null {
  cancel(say("cancelled"));
  return null;
}

async function works({ url = LOCAL, token }: Config, say: Say): Promise<boolean> {
  try {
    const { config } = await connect({ url, ...(token ? { token } : {}) }, say);
    log.info(config.practice ? say("practice") : say("provider", config.provider));
    return true;
  } catch (error) {
    log.warn(say("tryFailed", (error as Error).message));
    return (await confirm({ message: say("saveAnyway"), initialValue: false })) === true;
  }
}
