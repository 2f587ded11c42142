/** A session that somebody shares: as it was, to be read at once or watched again. Nothing can be changed here. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError } from "../../client/index.ts";
import type { Event, FileInfo } from "../../core/events.ts";
import type { SharedView } from "../../core/wire.ts";
import { api, errorWords } from "../api.ts";
import { useDetail } from "../conversation.tsx";
import { Detail } from "../detail.tsx";
import { FilesAt, filesOfShare } from "../files/files-at.ts";
import { Icon } from "../icons.tsx";
import { StateMark } from "../status.tsx";
import { t } from "../strings.ts";
import { FixedNow } from "../time.ts";
import { Timeline } from "../timeline.tsx";
import { Player, usePlayer } from "./player.tsx";
import { replayOf } from "./replay.ts";

interface Loaded {
  session: SharedView;
  events: Event[];
}

export function Shared({ id }: { id: string }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    load(id).then(setLoaded, (error: unknown) => {
      const gone = error instanceof ApiError && error.status === 404;
      setProblem(gone ? t("shareGone") : errorWords(error));
    });
  }, [id]);
  useEffect(() => {
    document.title = loaded?.session.title || t("product");
  }, [loaded]);
  if (problem) {
    return (
      <main class="sign-in" id="main">
        <div class="notice-box">
          <h1>{t("notHere")}</h1>
          <p>{problem}</p>
        </div>
      </main>
    );
  }
  return loaded ? <Replayed id={id} {...loaded} /> : <p class="loading">{t("loading")}</p>;
}

async function load(id: string): Promise<Loaded> {
  const session = await api.getShared(id);
  const events: Event[] = [];
  for (;;) {
    const page = await api.sharedEvents(id, { after: events.at(-1)?.seq ?? 0 });
    events.push(...page.events);
    if (page.events.length === 0 || (events.at(-1)?.seq ?? 0) >= page.last_seq) break;
  }
  return { session, events };
}

const nothing = () => undefined;

function Replayed({ id, session, events }: Loaded & { id: string }) {
  const replay = useMemo(() => replayOf(events), [events]);
  const player = usePlayer(replay);
  const { shown, setShown, select, toggleFiles } = useDetail();
  const view = useMemo(() => replay.at(player.at), [replay, player.at]);
  const files = useMemo<FilesAt>(
    () => ({
      url: filesOfShare(id),
      show: (file: FileInfo) => setShown({ type: "file", file, back: false }),
    }),
    [id],
  );
  const now = Date.parse(events[player.at - 1]?.ts ?? session.created_at);
  return (
    <FilesAt.Provider value={files}>
      <div class="app">
        <aside class="banner" aria-label={t("sharedName")}>
          <Icon name="share" /> <span>{t("sharedText")}</span>
        </aside>
        <FixedNow.Provider value={now}>
          <div class="columns">
            <main class="conversation" id="main">
              <header class="head">
                <h1 dir="auto">{session.title || t("untitled")}</h1>
                <span class="status" data-testid="status" data-status={view.status}>
                  <StateMark state={view.status} />
                </span>
                <span class="head-actions">
                  <button
                    type="button"
                    class="icon-button"
                    title={t("usage")}
                    onClick={toggleFiles}
                  >
                    <Icon name="folder" />
                    <span class="sr-only">{t("usage")}</span>
                  </button>
                </span>
              </header>
              <Timeline
                session={{ view, pending: [], send: nothing, retry: nothing, discard: nothing }}
                readOnly
                selected={shown?.type === "tool" ? shown.id : null}
                onSelect={select}
              />
              <Player player={player} length={replay.length} />
            </main>
            <Detail shown={shown} view={view} session={null} onShow={setShown} />
          </div>
        </FixedNow.Provider>
      </div>
    </FilesAt.Provider>
  );
}
