/** One session in the middle: its head, its timeline, and the dock where you answer or write. */
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { View } from "../client/index.ts";
import type { FileInfo } from "../core/events.ts";
import { activity, announcement } from "./activity.ts";
import { Acts } from "./acts.ts";
import { api, errorWords } from "./api.ts";
import { Detail, type Shown } from "./detail.tsx";
import { Dock } from "./dock.tsx";
import { FilesAt, filesOfSession } from "./files/files-at.ts";
import { Head } from "./head.tsx";
import { notify } from "./notify.ts";
import { goTo } from "./route.ts";
import { Shell } from "./shell.ts";
import { keepDraft } from "./storage.ts";
import { t } from "./strings.ts";
import { markdown } from "./text.tsx";
import { Timeline } from "./timeline.tsx";
import { type LiveSession, useSession } from "./use-session.ts";

interface Props {
  id: string;
  /** The list has to be asked for again. */
  onChange(): void;
  onMenu(): void;
}

export function Conversation({ id, onChange, onMenu }: Props) {
  const session = useSession(id);
  const { view } = session;
  const { shown, setShown, select, toggleFiles } = useDetail();
  const { acts, offer } = useActs(session);
  const files = useMemo<FilesAt>(
    () => ({
      url: filesOfSession(id),
      show: (file: FileInfo) =>
        setShown((now) => ({ type: "file", file, back: now?.type === "files" })),
    }),
    [id],
  );
  useEffect(() => {
    if (session.ready || session.gone) onChange();
  }, [view.status, view.title, session.ready, session.gone]);
  useEffect(() => void markdown.get().catch(() => undefined), []);
  useTitle(session);
  useNews(session);
  if (session.gone) return <Gone session={session} />;
  return (
    <FilesAt.Provider value={files}>
      <Acts.Provider value={acts}>
        <main class="conversation" id="main">
          <Head session={session} onMenu={onMenu} onFiles={toggleFiles} />
          <Timeline
            session={session}
            selected={shown?.type === "tool" ? shown.id : null}
            onSelect={select}
          />
          <Dock session={session} offer={offer} />
          <p class="sr-only" aria-live="polite">
            {session.ready ? announcement(view) : ""}
          </p>
        </main>
        <Detail shown={shown} view={view} session={id} onShow={setShown} />
      </Acts.Provider>
    </FilesAt.Provider>
  );
}

/** What the right column shows; choosing the same thing again closes it, and so does Escape. */
export function useDetail() {
  const [shown, setShown] = useState<Shown>(null);
  const select = useCallback(
    (id: string) =>
      setShown((now) => (now?.type === "tool" && now.id === id ? null : { type: "tool", id })),
    [],
  );
  const toggleFiles = () => setShown((now) => (now?.type === "files" ? null : { type: "files" }));
  useEscape(shown !== null, () => setShown(null));
  return { shown, setShown, select, toggleFiles };
}

function useEscape(active: boolean, close: () => void): void {
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    if (!active) return;
    const press = (event: KeyboardEvent) => {
      const taken = event.isComposing || document.querySelector("dialog[open], :popover-open");
      if (event.key === "Escape" && !taken) latest.current();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [active]);
}

/** What a reader can do with one message. */
function useActs(session: LiveSession): { acts: Acts; offer: { text: string; count: number } } {
  const shell = useContext(Shell);
  const [offer, setOffer] = useState({ text: "", count: 0 });
  const { id, editQueued } = session;
  const latest = useRef(session.view);
  latest.current = session.view;
  const acts = useMemo<Acts>(
    () => ({
      fork: (seq, own) =>
        void api.forkSession(id, own === undefined ? turnEnd(latest.current, seq) : seq).then(
          (copy) => {
            if (own !== undefined) keepDraft(copy.id, own);
            goTo(copy.id);
            shell.say({ text: t("forked") });
          },
          (error: unknown) => shell.say({ text: errorWords(error), problem: true }),
        ),
      reuse: (text) => setOffer((now) => ({ text, count: now.count + 1 })),
      editQueued,
      removeQueued: (message) => editQueued(message, null),
    }),
    [id, shell],
  );
  return { acts, offer };
}

/** A copy stands at the end of a turn: of that with this event, or of the one before when it has not ended. */
const turnEnd = (view: View, seq: number): number =>
  view.items.find((item) => item.kind === "sum" && item.seq >= seq)?.seq ?? seq;

function useTitle({ view, ready }: LiveSession): void {
  const waits = view.wait !== null;
  useEffect(() => {
    const name = ready ? view.title || t("untitled") : t("product");
    document.title = waits ? `${t("badge")} · ${name}` : name;
    return () => {
      document.title = t("product");
    };
  }, [waits, view.title, ready]);
}

/** What may interest somebody who is elsewhere, and what the page has to admit. */
function useNews({ id, view, ready, rebuilt }: LiveSession): void {
  const shell = useContext(Shell);
  const before = useRef<string | null>(null);
  useEffect(() => {
    const last = before.current;
    before.current = ready ? view.status : null;
    if (!ready || last === null || last === view.status) return;
    const name = view.title || t("untitled");
    if (view.wait) notify(`${t("badge")} · ${name}`, view.wait.text, id);
    else if (last === "running" && activity(view) === null) notify(name, t(view.status), id);
  }, [view.status, ready]);
  useEffect(() => {
    if (rebuilt > 0) shell.say({ text: t("rebuilt") });
  }, [rebuilt]);
}

function Gone({ session }: { session: LiveSession }) {
  return (
    <main class="conversation empty" id="main">
      <div class="notice-box">
        <h1>{t("notHere")}</h1>
        <p>{session.gone ? errorWords(session.gone) : ""}</p>
        <button type="button" class="button primary" onClick={() => goTo(null)}>
          {t("home")}
        </button>
      </div>
    </main>
  );
}
