/**
 * When Enter sends and when it only ends a word that is being composed (Chinese, Japanese, Korean …).
 *
 * K1  Only a plain Enter outside a composition sends.
 * K2  Safari ends the composition before the key event of the same Enter; that key carries code 229, and the
 *     guard holds until the event loop has turned.
 */
export interface KeyLike {
  key: string;
  keyCode: number;
  shiftKey: boolean;
  altKey: boolean;
  isComposing: boolean;
}

export interface EnterGuard {
  started(): void;
  ended(): void;
  /** True when this key sends. */
  sends(event: KeyLike): boolean;
}

const COMPOSING_KEY = 229;

export function enterGuard(
  later: (act: () => void) => void = (act) => setTimeout(act),
): EnterGuard {
  let composing = false;
  return {
    started: () => {
      composing = true;
    },
    ended: () => {
      later(() => {
        composing = false;
      });
    },
    sends: (event) =>
      event.key === "Enter" &&
      !event.shiftKey &&
      !event.altKey &&
      !event.isComposing &&
      event.keyCode !== COMPOSING_KEY &&
      !composing,
  };
}
