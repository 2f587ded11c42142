/**
 * Errors of the platform itself: the object was reset for a deploy, ran out of memory, or lost its storage. They say
 * nothing of what was being done, so they are nobody's failure: the object is to die, and what was under way is taken
 * up by its wake job.
 */
const RESET =
  /code was updated|script has been upgraded|exceeded its memory|caused object to be reset/i;
const LOST = /Network connection lost/i;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A call to an object, or of its own storage, that broke for a reason of the platform's. */
export const isPlatformError = (error: unknown): boolean =>
  RESET.test(textOf(error)) || LOST.test(textOf(error));

/**
 * The same, inside a tool. A connection that was lost is the storage's only when it was not lost to the outside, which
 * the platform marks. (A tool takes in the failures of its own requests itself.)
 */
export function brokeUnderTool(error: unknown): boolean {
  const outside = error instanceof Error && (error as { remote?: unknown }).remote === true;
  return RESET.test(textOf(error)) || (LOST.test(textOf(error)) && !outside);
}
