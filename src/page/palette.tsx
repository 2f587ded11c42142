/** Everything by its name: sessions and what the page can do, found by a few letters. */
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import type { SessionInfo } from "../core/wire.ts";
import { api } from "./api.ts";
import { Dialog } from "./dialog.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { goTo } from "./route.ts";
import type { DialogShown } from "./shell.ts";
import { StateMark } from "./status.tsx";
import { t } from "./strings.ts";
import type { SessionList } from "./use-sessions.ts";

interface Props {
  list: SessionList;
  onShow(dialog: DialogShown): void;
  onClose(): void;
}
interface Choice {
  id: string;
  label: string;
  icon: IconName;
  session?: SessionInfo;
  act(): void;
}
const MOST = 20;
const PAUSE_MS = 150;

export function Palette({ list, onShow, onClose }: Props) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const sessions = useFound(query, list.sessions);
  const choices = useMemo(
    () => [...actions(query, onShow), ...sessions.slice(0, MOST).map(toChoice)],
    [query, sessions],
  );
  const id = useId();
  const chosen = choices[Math.min(at, choices.length - 1)];
  const choose = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    choice.act();
  };
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && choices.length > 0) {
      event.preventDefault();
      setAt((now) => (Math.min(now, choices.length - 1) + step + choices.length) % choices.length);
    } else if (event.key === "Enter" && event.keyCode !== 229) {
      event.preventDefault();
      choose(chosen);
    }
  };
  return (
    <Dialog title={t("palette")} kind="palette" bare onClose={onClose}>
      <label class="palette-box">
        <Icon name="search" />
        <span class="sr-only">{t("palette")}</span>
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={chosen ? `${id}-${chosen.id}` : undefined}
          placeholder={t("paletteHint")}
          value={query}
          dir="auto"
          onInput={(e) => {
            setQuery(e.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
      </label>
      <div id={id} class="palette-list" role="listbox" aria-label={t("palette")}>
        {choices.map((choice) => (
          <Line
            key={choice.id}
            id={`${id}-${choice.id}`}
            choice={choice}
            chosen={choice === chosen}
            onChoose={() => choose(choice)}
          />
        ))}
      </div>
      {choices.length === 0 && <p class="muted pad">{t("noMatches")}</p>}
    </Dialog>
  );
}

interface LineProps {
  id: string;
  choice: Choice;
  chosen: boolean;
  onChoose(): void;
}
function Line({ id, choice, chosen, onChoose }: LineProps) {
  useEffect(() => {
    if (chosen) document.getElementById(id)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the box's above, as a combobox has it.
    <div id={id} role="option" aria-selected={chosen} tabIndex={-1} onClick={onChoose}>
      <Icon name={choice.icon} />
      <span class="palette-label" dir="auto">
        {choice.label}
      </span>
      {choice.session && <StateMark state={choice.session.status} />}
    </div>
  );
}

const toChoice = (session: SessionInfo): Choice => ({
  id: session.id,
  label: session.title || t("untitled"),
  icon: session.pinned ? "pin" : "talk",
  session,
  act: () => goTo(session.id),
});

function actions(query: string, onShow: (dialog: DialogShown) => void): Choice[] {
  const all: Choice[] = [
    { id: "new", label: t("newSession"), icon: "plus", act: () => goTo(null) },
    {
      id: "settings",
      label: t("settings"),
      icon: "gear",
      act: () => onShow({ type: "settings", session: null }),
    },
    { id: "help", label: t("shortcuts"), icon: "help", act: () => onShow({ type: "help" }) },
  ];
  const wanted = query.trim().toLowerCase();
  return all.filter((choice) => choice.label.toLowerCase().includes(wanted));
}

/** The server knows more sessions than the list shows. */
function useFound(query: string, known: SessionInfo[]): SessionInfo[] {
  const [found, setFound] = useState<SessionInfo[] | null>(null);
  const wanted = query.trim();
  useEffect(() => {
    setFound(null);
    if (wanted === "") return;
    let current = true;
    const timer = setTimeout(() => {
      api.listSessions({ q: wanted, limit: MOST }).then(
        (page) => current && setFound(page.sessions),
        () => undefined,
      );
    }, PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [wanted]);
  const here = known.filter((s) => s.title.toLowerCase().includes(wanted.toLowerCase()));
  return found ?? here;
}
