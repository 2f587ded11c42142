/** A modal dialog: the browser keeps the focus in it, gives it back, and closes it on Escape. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icons.tsx";
import { t } from "./strings.ts";

interface Props {
  title: string;
  /** A name for its styles. */
  kind?: string;
  /** The title is read out, not shown. */
  bare?: boolean;
  children: ComponentChildren;
  onClose(): void;
}

export function Dialog({ title, kind = "", bare = false, children, onClose }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    box.current?.showModal();
    return () => box.current?.close();
  }, []);
  return (
    <dialog
      ref={box}
      class={`dialog ${kind}`}
      aria-labelledby={id}
      onClose={onClose}
      onMouseDown={(e) => {
        // Beside it: the dialog itself is the backdrop's target.
        if (e.target === box.current) box.current?.close();
      }}
    >
      <div class="dialog-inner">
        <header class={bare ? "sr-only" : "dialog-head"}>
          <h2 id={id}>{title}</h2>
          {!bare && (
            <button
              type="button"
              class="icon-button"
              title={t("close")}
              onClick={() => box.current?.close()}
            >
              <Icon name="cross" />
              <span class="sr-only">{t("close")}</span>
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
