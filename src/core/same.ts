/** Two types that must not drift apart: what is described to clients, and what the program works with. */

/** `true` where they are the same. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Types of one shape look the same to `Same` only when they are written out. */
type Plain<T> = T extends (infer U)[]
  ? Plain<U>[]
  : T extends object
    ? { [K in keyof T]: Plain<T[K]> }
    : T;
/** Does nothing; it compiles only where the types are the same. */
export const same = <A, B>(_: Same<Plain<A>, Plain<B>>): void => {};
