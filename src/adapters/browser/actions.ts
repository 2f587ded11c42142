/** What an action does to the page in front, and how its outcome is said to the model. */
import { LIMITS } from "../../core/limits.ts";
import type { BrowserAction, PageView } from "../../tools/browser-port.ts";
import type { Refusal } from "./gate.ts";
import { keyOf } from "./keys.ts";
import type { Tab } from "./tab.ts";

/** Why an element cannot be used, from the page's script. */
type Problem =
  | {
      problem: "stale" | "gone" | "disabled" | "hidden" | "select" | "file" | "button" | "readonly";
    }
  | { problem: "none"; count: number }
  | { problem: "covered"; by: string }
  | { problem: "option"; options: string[] }
  | { problem: "value"; type: string };
type Point = Problem | { x: number; y: number; problem?: undefined };
type Prepared = Problem | { done?: true; write?: true; problem?: undefined };

export const NO_PAGE = "No page is open. Open one with browser_navigate.";

/** Sentences on its outcome; empty when there is nothing to say. */
export async function perform(
  tab: Tab,
  action: BrowserAction,
  refusal: Refusal,
  loadMs: number,
): Promise<string[]> {
  switch (action.type) {
    case "navigate":
      return navigate(tab, action.url, refusal, loadMs);
    case "view":
      return [];
    case "click":
      return click(tab, action.index);
    case "input":
      return input(tab, action);
    case "scroll": {
      const { moved } = await tab.run<{ moved: boolean }>("scroll", action.direction);
      return moved ? [] : [`The page cannot be scrolled ${WAY[action.direction]}.`];
    }
    case "press":
      return press(tab, action.key);
  }
}

const WAY = {
  up: "up any further",
  top: "up any further",
  down: "down any further",
  bottom: "down any further",
};

async function navigate(
  tab: Tab,
  url: string,
  refusal: Refusal,
  loadMs: number,
): Promise<string[]> {
  const refused = refusal(url);
  if (refused) return [`Not opened: ${refused}`];
  const error = await tab.navigate(url, loadMs);
  if (error === null) return [];
  return [`${url} could not be opened: ${WHY[error] ?? error}`];
}

const WHY: Record<string, string> = {
  "net::ERR_NAME_NOT_RESOLVED": "there is no such host (net::ERR_NAME_NOT_RESOLVED).",
  "net::ERR_CONNECTION_REFUSED": "the host refuses connections (net::ERR_CONNECTION_REFUSED).",
  "net::ERR_BLOCKED_BY_CLIENT": "it was refused.",
  "net::ERR_ABORTED": "it ended without a page (net::ERR_ABORTED).",
};

async function click(tab: Tab, index: number): Promise<string[]> {
  const point = await tab.run<Point>("point", index);
  if (point.problem !== undefined) return [explain(index, point)];
  await tab.click(point.x, point.y);
  return [];
}

async function input(
  tab: Tab,
  { index, text, enter }: { index: number; text: string; enter: boolean },
): Promise<string[]> {
  const prepared = await tab.run<Prepared>("prepare", index, text);
  if (prepared.problem !== undefined) return [explain(index, prepared)];
  if (prepared.write && text !== "") await tab.write(text);
  if (prepared.write && text === "") await press(tab, "Delete");
  return enter ? press(tab, "Enter") : [];
}

async function press(tab: Tab, name: string): Promise<string[]> {
  const key = keyOf(name);
  if (!key) {
    return [
      `There is no key ${JSON.stringify(name)}; nothing was pressed. Keys are named like Enter, Escape, Tab, ArrowDown, F5, a, Control+A.`,
    ];
  }
  await tab.press(key);
  return [];
}

function explain(index: number, why: Problem): string {
  return `Nothing was done: [${index}] ${reason(index, why)}`;
}

function reason(index: number, why: Problem): string {
  switch (why.problem) {
    case "stale":
      return "is a number of an earlier view, and the page has changed since. Take it from the view below.";
    case "gone":
      return "is not in the page any more. Take it from the view below.";
    case "none":
      return `does not exist; the last view had ${why.count} elements. Take it from the view below.`;
    case "disabled":
      return "is disabled.";
    case "hidden":
      return "cannot be seen.";
    case "readonly":
      return "is read only.";
    case "covered":
      return `is covered by ${why.by}. Deal with that first.`;
    case "select":
      return `is a list: choose with browser_input, index ${index} and the text of an option.`;
    case "file":
      return "asks for a file; files cannot be given to a page here.";
    case "button":
      return "is no field to write into; it may be clicked.";
    case "option":
      return `has no such option. It has: ${why.options.map((o) => JSON.stringify(o)).join(", ")}`;
    case "value":
      return `did not take this; it is a field of type ${why.type}, which wants its own format (date: 2026-01-31, time: 13:45, color: #ff8800).`;
  }
}

/** Whether a page of the web is open. */
export const isOpen = async (tab: Tab): Promise<boolean> => isWeb(await tab.run<string>("place"));

const isWeb = (url: string): boolean => !/^(about|chrome|chrome-error):/.test(url);

/** What can be seen now; null when it is no page of the web. Elements get new numbers. */
export async function look(tab: Tab): Promise<Omit<PageView, "screenshot"> | null> {
  const view = await tab.run<Omit<PageView, "screenshot">>("view", {
    nodes: LIMITS.browserNodes,
    elements: LIMITS.browserElements,
    text: LIMITS.browserTextChars,
  });
  return isWeb(view.url) ? view : null;
}
