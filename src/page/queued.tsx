/** A message that waits to be read: what will happen to it, and how to change or take it back until then. */
import { useContext, useState } from "preact/hooks";
import type { Delivery } from "../core/events.ts";
import { Acts } from "./acts.ts";
import { WILL } from "./composer.tsx";
import { t } from "./strings.ts";
import { TextBox } from "./text-box.tsx";

interface Props {
  id: string;
  text: string;
  delivery: Delivery;
}

export function QueuedTag({ id, text, delivery }: Props) {
  const acts = useContext(Acts);
  const [editing, setEditing] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const act = async (does: Promise<string | null> | undefined) => {
    if (!does) return;
    setBusy(true);
    const words = await does;
    setProblem(words);
    setBusy(false);
    if (!words) setEditing(false);
  };
  if (editing) {
    return (
      <QueuedEdit
        text={text}
        busy={busy}
        problem={problem}
        onSave={(next) => void act(acts?.editQueued(id, next))}
        onCancel={() => setEditing(false)}
      />
    );
  }
  return (
    <p class="tag queued" data-testid="queued">
      {t("queued")} · {t(WILL[delivery])}
      {acts && (
        <>
          <button type="button" class="link-button" onClick={() => setEditing(true)}>
            {t("edit")}
          </button>
          <button
            type="button"
            class="link-button"
            disabled={busy}
            onClick={() => void act(acts.removeQueued(id))}
          >
            {t("takeBack")}
          </button>
        </>
      )}
      {problem && <Problem text={problem} />}
    </p>
  );
}

const Problem = ({ text }: { text: string }) => (
  <span class="problem" role="alert">
    {text}
  </span>
);

interface EditProps {
  text: string;
  busy: boolean;
  problem: string | null;
  onSave(text: string): void;
  onCancel(): void;
}
function QueuedEdit({ text, busy, problem, onSave, onCancel }: EditProps) {
  const [draft, setDraft] = useState(text);
  const save = () => {
    if (draft.trim() !== "" && !busy) onSave(draft.trim());
  };
  return (
    <form
      class="queued-edit"
      onSubmit={(e) => {
        e.preventDefault();
        save();
      }}
    >
      <TextBox
        label={t("editQueued")}
        placeholder=""
        value={draft}
        focus={1}
        onInput={setDraft}
        onSend={save}
      />
      <p class="tag">
        <button type="submit" class="link-button" disabled={busy || draft.trim() === ""}>
          {t("save")}
        </button>
        <button type="button" class="link-button" onClick={onCancel}>
          {t("cancel")}
        </button>
        {problem && <Problem text={problem} />}
      </p>
    </form>
  );
}
