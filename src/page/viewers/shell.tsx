/** A command and what it printed, in its colours; follows the end while it runs. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { ToolItem } from "../../client/index.ts";
import { CopyButton } from "../copy.tsx";
import { t } from "../strings.ts";
import { exitCode, textOf } from "../tool-label.ts";
import { plainText, terminalRuns } from "./terminal.ts";

/** Of a command that runs, as much is drawn; the whole comes with its result. */
const LIVE_CHARS = 24_000;
const NEAR_PX = 40;

export function TerminalView({ tool }: { tool: ToolItem }) {
  const whole = textOf(tool.content?.output) ?? tool.live;
  const output = tool.state === "running" ? whole.slice(-LIVE_CHARS) : whole;
  const command = textOf(tool.args.command) ?? textOf(tool.content?.command) ?? tool.function;
  const code = exitCode(tool);
  return (
    <section class="terminal" aria-label={t("output")}>
      <div class="command">
        <pre>
          <span aria-hidden="true">$ </span>
          {plainText(command)}
        </pre>
        <CopyButton text={command} />
      </div>
      <Output output={output} running={tool.state === "running"} />
      {code !== null && <p class="chip">{t("exitCode", { code })}</p>}
    </section>
  );
}

function Output({ output, running }: { output: string; running: boolean }) {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  const runs = useMemo(() => terminalRuns(output), [output]);
  useLayoutEffect(() => {
    const pre = box.current;
    if (pre && running && follows.current) pre.scrollTop = pre.scrollHeight;
  }, [output]);
  const moved = () => {
    const pre = box.current;
    if (pre) follows.current = pre.scrollHeight - pre.scrollTop - pre.clientHeight < NEAR_PX;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys.
    <pre class="output" ref={box} data-testid="output" tabIndex={0} onScroll={moved}>
      {runs.length === 0
        ? t(running ? "noOutputYet" : "noOutput")
        : runs.map(({ text, style }) => (style ? <span class={style}>{text}</span> : text))}
    </pre>
  );
}
