/** Files that are dropped anywhere on the conversation, or pasted into it, or picked. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../icons.tsx";
import { t } from "../strings.ts";

const holdsFiles = (data: DataTransfer | null) => data?.types.includes("Files") ?? false;

/** Folders are left out: a browser gives them as files that cannot be read. */
export function filesOf(data: DataTransfer | null): File[] {
  const items = [...(data?.items ?? [])].filter((item) => item.kind === "file");
  const plain = items.filter((item) => !item.webkitGetAsEntry?.()?.isDirectory);
  return plain.flatMap((item) => item.getAsFile() ?? []);
}

/** Watches the nearest conversation of the composer; true while files hang over it. */
export function useDrop(
  inside: RefObject<HTMLElement | null>,
  onFiles: (files: File[]) => void,
): boolean {
  const [over, setOver] = useState(false);
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    const area = inside.current?.closest<HTMLElement>(".conversation");
    if (!area) return;
    let depth = 0;
    const listen = (act: (event: DragEvent) => void) => (event: DragEvent) => {
      if (!holdsFiles(event.dataTransfer)) return;
      event.preventDefault();
      act(event);
    };
    const enter = listen(() => setOver(++depth > 0));
    const leave = listen(() => setOver(--depth > 0));
    const hover = listen(() => undefined);
    const drop = listen((event) => {
      depth = 0;
      setOver(false);
      const files = filesOf(event.dataTransfer);
      if (files.length > 0) latest.current(files);
    });
    area.addEventListener("dragenter", enter);
    area.addEventListener("dragleave", leave);
    area.addEventListener("dragover", hover);
    area.addEventListener("drop", drop);
    return () => {
      area.removeEventListener("dragenter", enter);
      area.removeEventListener("dragleave", leave);
      area.removeEventListener("dragover", hover);
      area.removeEventListener("drop", drop);
    };
  }, []);
  return over;
}

export function DropHint() {
  return (
    <div class="drop-hint" aria-hidden="true">
      <Icon name="clip" /> {t("dropHere")}
    </div>
  );
}

export function PickFiles({ onFiles }: { onFiles(files: File[]): void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        data-testid="pick"
        onChange={(e) => {
          onFiles([...(e.currentTarget.files ?? [])]);
          // The same file can be chosen again.
          e.currentTarget.value = "";
        }}
      />
      <button
        type="button"
        class="icon-button"
        title={t("attach")}
        onClick={() => input.current?.click()}
      >
        <Icon name="clip" />
        <span class="sr-only">{t("attach")}</span>
      </button>
    </>
  );
}
