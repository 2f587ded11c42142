/** Another title for a session. */
import { useContext, useRef, useState } from "preact/hooks";
import type { SessionInfo } from "../core/wire.ts";
import { api, errorWords } from "./api.ts";
import { Dialog } from "./dialog.tsx";
import { type EnterGuard, enterGuard } from "./ime.ts";
import { Shell } from "./shell.ts";
import { t } from "./strings.ts";

export function Rename({ session, onClose }: { session: SessionInfo; onClose(): void }) {
  const shell = useContext(Shell);
  const guard = useRef<EnterGuard | null>(null);
  guard.current ??= enterGuard();
  const [title, setTitle] = useState(session.title);
  const [problem, setProblem] = useState<string | null>(null);
  const save = () => {
    if (title.trim() === "") return;
    api.patchSession(session.id, { title: title.trim() }).then(
      () => {
        shell.reload();
        onClose();
      },
      (error: unknown) => setProblem(errorWords(error)),
    );
  };
  return (
    <Dialog title={t("rename")} kind="small" onClose={onClose}>
      <label class="field">
        <span>{t("titleField")}</span>
        <input
          value={title}
          maxLength={200}
          dir="auto"
          onInput={(e) => setTitle(e.currentTarget.value)}
          onCompositionStart={() => guard.current?.started()}
          onCompositionEnd={() => guard.current?.ended()}
          onKeyDown={(e) => {
            if (guard.current?.sends(e)) save();
          }}
        />
      </label>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <footer class="dialog-foot">
        <button type="button" class="button" onClick={onClose}>
          {t("cancel")}
        </button>
        <button type="button" class="button primary" disabled={title.trim() === ""} onClick={save}>
          {t("save")}
        </button>
      </footer>
    </Dialog>
  );
}
