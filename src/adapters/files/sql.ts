/** The part of a Durable Object's SQL storage that files need: synchronous, rows as objects. */
export interface Sql {
  exec<T extends Record<string, ArrayBuffer | string | number | null>>(
    query: string,
    ...values: (ArrayBuffer | Uint8Array | string | number | null)[]
  ): {
    toArray(): T[];
    /** Exactly one row, else it throws. */
    one(): T;
  };
}

/** The storage has no room left: the object's own limit, its account's, or the disk's. */
export const isFull = (error: unknown): boolean =>
  /SQLITE_FULL|database or disk is full/i.test(String(error));
