/** A tool call on one line; its detail opens beside the timeline. */
import type { ToolItem } from "../client/index.ts";
import { Icon } from "./icons.tsx";
import { memo } from "./memo.ts";
import { StateMark } from "./status.tsx";
import { t } from "./strings.ts";
import { short, since, useNow } from "./time.ts";
import { exitCode, toolIcon, toolLabel } from "./tool-label.ts";

interface Props {
  tool: ToolItem;
  selected: boolean;
  onSelect(id: string): void;
}
const STATES = {
  running: "running",
  ok: "completed",
  failed: "failed",
  stopped: "stopped",
  lost: "lost",
} as const;

export const ToolRow = memo(function ToolRow({ tool, selected, onSelect }: Props) {
  const code = exitCode(tool);
  return (
    <button
      type="button"
      class="tool-row"
      data-testid="tool-row"
      data-state={tool.state}
      aria-pressed={selected}
      onClick={() => onSelect(tool.id)}
    >
      <Icon name={toolIcon(tool)} class="tool-icon" />
      <span class={`tool-label ${tool.brief ? "" : "mono"}`} dir="auto">
        {toolLabel(tool)}
      </span>
      {code !== null && <span class="chip">{t("exitCode", { code })}</span>}
      <Duration tool={tool} />
      {code === null && <StateMark state={STATES[tool.state]} quiet={tool.state === "ok"} />}
    </button>
  );
});

function Duration({ tool }: { tool: ToolItem }) {
  const now = useNow(tool.state === "running");
  if (tool.state === "lost") return null;
  return <span class="duration">{short(tool.durationMs ?? since(tool.ts, null, now))}</span>;
}
