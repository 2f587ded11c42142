/** Small things the browser keeps for us; where it may not, the page works without. */
const NAMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof NAMES)[number];

const attempt = <T>(act: () => T, otherwise: T): T => {
  try {
    return act();
  } catch {
    return otherwise;
  }
};

export const readDraft = (key: string): string =>
  attempt(() => sessionStorage.getItem(`draft:${key}`) ?? "", "");
export const keepDraft = (key: string, text: string): void =>
  attempt(() => {
    if (text === "") sessionStorage.removeItem(`draft:${key}`);
    else sessionStorage.setItem(`draft:${key}`, text);
  }, undefined);

/** A small choice of the reader's. */
export const readChoice = (key: string): string | null =>
  attempt(() => localStorage.getItem(key), null);
export const writeChoice = (key: string, value: string): void =>
  attempt(() => localStorage.setItem(key, value), undefined);

/** Keys without Ctrl or ⌘ do something; who dictates or has a tremor turns them off. */
const KEYS = "single-keys";
export const singleKeys = (): boolean => readChoice(KEYS) !== "off";
export const setSingleKeys = (on: boolean): void => writeChoice(KEYS, on ? "on" : "off");

export function readTheme(): Theme {
  const held = readChoice("theme");
  return NAMES.find((name) => name === held) ?? "auto";
}
export function applyTheme(theme: Theme): void {
  writeChoice("theme", theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
