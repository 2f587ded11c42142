/** A link that shows a session to others as it is now: read-only, without settings, and only the files it names. */
import { useState } from "preact/hooks";
import type { SessionInfo } from "../../core/wire.ts";
import { api, errorWords } from "../api.ts";
import { CopyButton } from "../copy.tsx";
import { Dialog } from "../dialog.tsx";
import { t } from "../strings.ts";

export function ShareDialog({ session, onClose }: { session: SessionInfo; onClose(): void }) {
  const [url, setUrl] = useState<string | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const attempt = async (does: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    setSaid(null);
    try {
      await does();
    } catch (error) {
      setProblem(errorWords(error));
    }
    setBusy(false);
  };
  const create = () => attempt(async () => setUrl((await api.shareSession(session.id)).url));
  const end = () =>
    attempt(async () => {
      await api.unshareSession(session.id);
      setUrl(null);
      setSaid(t("shareEnded"));
    });
  return (
    <Dialog title={t("share")} kind="small" onClose={onClose}>
      <p>{t("shareText")}</p>
      {url && (
        <p class="share-url">
          <input
            readOnly
            value={url}
            aria-label={t("shareLink")}
            onFocus={(e) => e.currentTarget.select()}
          />
          <CopyButton text={url} label={t("copyLink")} />
        </p>
      )}
      {said && <p role="status">{said}</p>}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <footer class="dialog-foot">
        <button type="button" class="button" disabled={busy} onClick={() => void end()}>
          {t("unshare")}
        </button>
        <button type="button" class="button primary" disabled={busy} onClick={() => void create()}>
          {t(url ? "shareAgain" : "shareCreate")}
        </button>
      </footer>
    </Dialog>
  );
}
