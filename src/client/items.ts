/**
 * Putting rows into the timeline and changing them, without touching what stays the same.
 *
 * I1  A row lands in the step under way, if there is one, else at the end.
 * I2  A change copies the row, its step and the list; every other item keeps its identity.
 * I3  What is folded in `together` copies a list once and then grows that copy in place, so a history of n events
 *     costs n steps, not n²; nobody sees the copy before it is whole.
 */
import type { Item, Row, StepItem, ToolItem, View } from "./view.ts";

/** The lists that the fold under way has made itself. */
let own: WeakSet<readonly unknown[]> | null = null;

export function together(fold: () => View): View {
  if (own) return fold();
  own = new WeakSet();
  try {
    return fold();
  } finally {
    own = null;
  }
}

function writable<T>(list: readonly T[]): T[] {
  if (own?.has(list)) return list as T[];
  const copy = list.slice();
  own?.add(copy);
  return copy;
}
const replaceAt = <T>(list: readonly T[], index: number, value: T): T[] => {
  const copy = writable(list);
  copy[index] = value;
  return copy;
};
const append = <T>(list: readonly T[], value: T): T[] => replaceAt(list, list.length, value);

export function addRow(view: View, row: Row): View {
  const step = view.items[view.open];
  if (step?.kind !== "step") return addItem(view, row);
  const grown: StepItem = { ...step, rows: append(step.rows, row) };
  return { ...view, items: replaceAt(view.items, view.open, grown) };
}

/** At the end, whatever is under way. */
export function addItem(view: View, item: Item): View {
  return { ...view, items: append(view.items, item) };
}

/** Changes the last row that matches; looks from the end, where changes happen. */
export function changeRow<R extends Row>(
  view: View,
  matches: (row: Row) => row is R,
  change: (row: R) => Row,
): View {
  for (let i = view.items.length - 1; i >= 0; i--) {
    const item = view.items[i] as Item;
    if (item.kind !== "step") {
      if (matches(item)) return { ...view, items: replaceAt(view.items, i, change(item)) };
      continue;
    }
    const at = item.rows.findLastIndex(matches);
    if (at < 0) continue;
    const rows = replaceAt(item.rows, at, change(item.rows[at] as R));
    return { ...view, items: replaceAt(view.items, i, { ...item, rows }) };
  }
  return view;
}

/** Maps the items from an index on; what the function gives back unchanged keeps its identity. */
export function mapItems(view: View, change: (item: Item) => Item, from = 0): View {
  let { items } = view;
  for (let i = from; i < items.length; i++) {
    const item = items[i] as Item;
    const next = change(item);
    if (next !== item) items = replaceAt(items, i, next);
  }
  return items === view.items ? view : { ...view, items };
}

/** The same for every row, those inside steps included. */
export function mapRows(view: View, change: (row: Row) => Row, from = 0): View {
  const inside = (item: Item): Item => {
    if (item.kind !== "step") return change(item);
    const rows = item.rows.map(change);
    return rows.every((row, i) => row === item.rows[i]) ? item : { ...item, rows };
  };
  return mapItems(view, inside, from);
}

/** Where the turn under way begins: each turn ends with its sum. */
export const turnStart = (view: View): number =>
  view.items.findLastIndex((item) => item.kind === "sum") + 1;

export function changeTool(view: View, id: string, change: (tool: ToolItem) => ToolItem): View {
  return changeRow(view, (row): row is ToolItem => row.kind === "tool" && row.id === id, change);
}

export function changeStepAt(view: View, at: number, change: (step: StepItem) => StepItem): View {
  const item = view.items[at];
  return item?.kind === "step" ? { ...view, items: replaceAt(view.items, at, change(item)) } : view;
}

/** The last group of a step: a plan of a later turn may use its ids again. */
export function changeStep(view: View, id: string, change: (step: StepItem) => StepItem): View {
  const at = view.items.findLastIndex((item) => item.kind === "step" && item.step.id === id);
  return changeStepAt(view, at, change);
}

/** A stored message with this id is already in the timeline. Recent ones only: live text is never old. */
export function isStored(view: View, messageId: string): boolean {
  for (let i = view.items.length - 1, seen = 0; i >= 0 && seen < 200; i--, seen++) {
    const item = view.items[i] as Item;
    if (item.id === messageId) return true;
    if (item.kind === "step" && item.rows.some((row) => row.id === messageId)) return true;
  }
  return false;
}
