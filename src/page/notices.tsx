/** A few words at the edge of the page, read out as well; they go by themselves unless somebody is at them. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";
import type { Notice } from "./shell.ts";
import { t } from "./strings.ts";

const STAYS_MS = 8_000;

export function useNotices() {
  const [notice, setNotice] = useState<(Notice & { n: number }) | null>(null);
  const n = useRef(0);
  const say = useCallback((next: Notice) => setNotice({ ...next, n: ++n.current }), []);
  const clear = useCallback(() => setNotice(null), []);
  return { notice, say, clear };
}

interface Props {
  notice: (Notice & { n: number }) | null;
  onClear(): void;
}

export function Notices({ notice, onClear }: Props) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (!notice || held) return;
    const timer = setTimeout(onClear, STAYS_MS);
    return () => clearTimeout(timer);
  }, [notice?.n, held]);
  return (
    <div
      class="notices"
      role="status"
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      {notice && (
        <div class={`notice ${notice.problem ? "is-problem" : ""}`} key={notice.n}>
          {notice.problem && <Icon name="alert" />}
          <span dir="auto">{notice.text}</span>
          {notice.action && (
            <button
              type="button"
              class="button small"
              onClick={() => {
                notice.action?.act();
                onClear();
              }}
            >
              {notice.action.label}
            </button>
          )}
          <button type="button" class="icon-button small" title={t("close")} onClick={onClear}>
            <Icon name="cross" />
            <span class="sr-only">{t("close")}</span>
          </button>
        </div>
      )}
    </div>
  );
}
