/**
 * What the people of the soak ask for: a text that the scripted model can read. `do: record a1 + write a.txt; ask colour`
 * is two steps, the first of them with two acts.
 */
export interface Act {
  /** append, book, flaky (records in the ledger), write (a file), shell, ask (the person), flunk (the step, once). */
  verb: string;
  what: string;
}

export const TASK = /do: ([^\n<]+)/;
export const taskOf = (...steps: string[]): string => `do: ${steps.join("; ")}`;

/** The steps of a text; none when it asks for nothing. */
export const stepsOf = (text: string): string[] => TASK.exec(text)?.[1]?.split("; ") ?? [];

export const actsOf = (step: string): Act[] =>
  step.split(" + ").flatMap((act) => {
    const [, verb, what] =
      /^(append|book|flaky|write|shell|ask|flunk) (.+)$/.exec(act.trim()) ?? [];
    return verb && what ? [{ verb, what }] : [];
  });

const EFFECTS = new Set(["append", "book", "flaky"]);
/** The records that a text asks for. */
export const recordsOf = (text: string): string[] =>
  stepsOf(text)
    .flatMap(actsOf)
    .filter(({ verb }) => EFFECTS.has(verb))
    .map(({ what }) => what);
