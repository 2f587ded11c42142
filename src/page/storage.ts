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

export function readTheme(): Theme {
  const held = attempt(() => localStorage.getItem("theme"), null);
  return NAMES.find((name) => name === held) ?? "auto";
}
export function applyTheme(theme: Theme): void {
  attempt(() => localStorage.setItem("theme", theme), undefined);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
export const nextTheme = (theme: Theme): Theme =>
  NAMES[(NAMES.indexOf(theme) + 1) % NAMES.length] ?? "auto";
