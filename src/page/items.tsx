/**
 * The items of a timeline, in groups.
 *
 * G1  A whole group that is out of sight costs nothing: the browser neither lays it out nor paints it. It is painted
 *     whole once before, so that it keeps its true height and nothing moves when it comes back.
 * G2  Its elements stay: what was unfolded in it is still unfolded, and the browser's own search finds its text.
 * G3  A group is drawn again only when something of it has changed.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Item, View } from "../client/index.ts";
import { memo } from "./memo.ts";
import { idList, inIdList, type RowContext, RowView } from "./rows.tsx";
import { StepGroup } from "./step.tsx";
import { GROUP } from "./use-window.ts";

interface Props {
  view: View;
  /** Index of the first item that is drawn. */
  from: number;
  context: RowContext;
}

export function Items({ view, from, context }: Props) {
  const queued = idList(view.queue.map((message) => message.id));
  const paused = view.pausedAt === null ? null : (view.items[view.open]?.id ?? null);
  return (
    <>
      {[...useGroups(view.items, from)].map(([at, items]) => {
        const here = items.some((item) => item.id === paused);
        return (
          <Group
            key={at}
            items={items}
            queued={queued}
            openWait={view.wait?.wait_id ?? null}
            paused={here ? paused : null}
            pausedAt={here ? view.pausedAt : null}
            {...context}
          />
        );
      })}
    </>
  );
}

/** By the index they begin with; one whose items are the same as before is the same list. */
function useGroups(items: readonly Item[], from: number): Map<number, readonly Item[]> {
  const held = useRef(new Map<number, readonly Item[]>());
  const groups = new Map<number, readonly Item[]>();
  for (let at = from - (from % GROUP); at < items.length; at += GROUP) {
    const now = items.slice(Math.max(at, from), at + GROUP);
    const before = held.current.get(at);
    groups.set(at, before && same(before, now) ? before : now);
  }
  held.current = groups;
  return groups;
}

const same = (a: readonly Item[], b: readonly Item[]): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i]);

interface GroupProps extends RowContext {
  items: readonly Item[];
  /** Ids of messages that were not read yet, as `idList` makes it. */
  queued: string;
  openWait: string | null;
  /** The step that waits for a person, and since when. */
  paused: string | null;
  pausedAt: string | null;
}

const Group = memo(function Group({ items, paused, pausedAt, ...rest }: GroupProps) {
  const { queued, openWait, selected, onSelect } = rest;
  const whole = items.length === GROUP;
  const [settled, setSettled] = useState(false);
  // After it was painted whole: its height is known from then on.
  useEffect(() => setSettled(whole), [whole]);
  return (
    <div class={whole && settled ? "group settled" : "group"}>
      {items.map((item) =>
        item.kind === "step" ? (
          <StepGroup
            key={item.id}
            item={item}
            queued={queued}
            openWait={openWait}
            pausedAt={item.id === paused ? pausedAt : null}
            selected={selected}
            onSelect={onSelect}
          />
        ) : (
          <RowView
            key={item.id}
            row={item}
            queued={inIdList(queued, item.id)}
            open={item.kind === "ask" && item.wait?.wait_id === openWait && !item.answer}
            selected={selected}
            onSelect={onSelect}
          />
        ),
      )}
    </div>
  );
});
