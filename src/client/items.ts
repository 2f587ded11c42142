/**
 * Putting rows into the timeline and changing them, without touching what stays the same.
 *
 * I1  A row lands in the step under way, if there is one, else at the end.
 * I2  A change copies the row, its step and the list; every other item keeps its identity.
 */
import type { Item, Row, StepItem, ToolItem, View } from "./view.ts";

const replaceAt = <T>(list: readonly T[], index: number, value: T): T[] => {
  const copy = list.slice();
  copy[index] = value;
  return copy;
};

export function addRow(view: View, row: Row): View {
  const step = view.items[view.open];
  if (step?.kind !== "step") return { ...view, items: [...view.items, row] };
  const grown: StepItem = { ...step, rows: [...step.rows, row] };
  return { ...view, items: replaceAt(view.items, view.open, grown) };
}

/** At the end, whatever is under way. */
export function addItem(view: View, item: Item): View {
  return { ...view, items: [...view.items, item] };
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

/** Maps every row; what the function gives back unchanged keeps its identity. */
export function mapRows(view: View, change: (row: Row) => Row): View {
  let touched = false;
  const items = view.items.map((item): Item => {
    if (item.kind !== "step") {
      const next = change(item);
      touched ||= next !== item;
      return next;
    }
    const rows = item.rows.map(change);
    if (rows.every((row, i) => row === item.rows[i])) return item;
    touched = true;
    return { ...item, rows };
  });
  return touched ? { ...view, items } : view;
}

export function changeTool(view: View, id: string, change: (tool: ToolItem) => ToolItem): View {
  return changeRow(view, (row): row is ToolItem => row.kind === "tool" && row.id === id, change);
}

/** The last group of a step: a plan of a later turn may use its ids again. */
export function changeStep(view: View, id: string, change: (step: StepItem) => StepItem): View {
  const at = view.items.findLastIndex((item) => item.kind === "step" && item.step.id === id);
  const item = view.items[at];
  return item?.kind === "step" ? { ...view, items: replaceAt(view.items, at, change(item)) } : view;
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
