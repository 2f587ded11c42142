/** A value as a tree that opens. Deep and long parts are drawn when they are opened. */
import { useState } from "preact/hooks";
import { t } from "../strings.ts";
import { plainText } from "./terminal.ts";

/** Entries that are drawn at once. */
const MOST = 100;
/** So deep it is open from the start. */
const OPEN_DEPTH = 2;

export function JsonTree({ value }: { value: unknown }) {
  return (
    <div class="json mono">
      <Value value={value} depth={0} />
    </div>
  );
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (typeof value === "string") return <span class="json-text">{plainText(value)}</span>;
  if (typeof value !== "object" || value === null) {
    return <span class="json-plain">{String(value)}</span>;
  }
  const entries = Object.entries(value);
  if (entries.length === 0)
    return <span class="muted">{Array.isArray(value) ? "[ ]" : "{ }"}</span>;
  return (
    <ul>
      {entries.slice(0, MOST).map(([name, inner]) => (
        <li key={name}>
          <Entry name={name} value={inner} depth={depth} />
        </li>
      ))}
      {entries.length > MOST && <li class="muted">{t("andMore", { n: entries.length - MOST })}</li>}
    </ul>
  );
}

interface EntryProps {
  name: string;
  value: unknown;
  depth: number;
}
function Entry({ name, value, depth }: EntryProps) {
  const [open, setOpen] = useState(depth < OPEN_DEPTH);
  const branch = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!branch) {
    return (
      <>
        <span class="json-name">{plainText(name)}</span> <Value value={value} depth={depth + 1} />
      </>
    );
  }
  const size = Object.keys(value).length;
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span class="json-name">{plainText(name)}</span>{" "}
        <span class="muted">{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span>
      </summary>
      {open && <Value value={value} depth={depth + 1} />}
    </details>
  );
}
