/**
 * A meter for Durable Objects: what Cloudflare bills of them is counted where it happens, for `npm run bench:cost`.
 *
 * M1  Rows are counted by the storage's own cursors, in every statement; an alarm that is set is a row, and so is every
 *     key that is put or deleted.
 * M2  A request is a call or a fetch that reaches an object, whoever makes it; its time is taken at the caller's side,
 *     so it is never less than what the object was awake for it.
 * M3  Counts outlive the objects: one that was evicted goes on where it stopped.
 */
import type { Bill } from "../../bench/prices.ts";

export const bill: Bill = {
  worker_requests: 0,
  object_requests: 0,
  request_ms: 0,
  socket_messages: 0,
  alarms: 0,
  rows_written: 0,
  rows_read: 0,
  wakes: 0,
  objects: {},
};

/** Puts the meter on an object's storage, before the object itself sees it. */
export function meter(kind: string, ctx: DurableObjectState): void {
  bill.wakes += 1;
  const { storage } = ctx;
  const { sql } = storage;
  const own = { kind, bytes: 0, alarm: null as number | null };
  bill.objects[ctx.id.toString()] = own;
  const exec = sql.exec.bind(sql);
  define(sql, "exec", (query: string, ...bindings: unknown[]) => {
    const cursor = exec(query, ...bindings);
    // Books that only the local runtime keeps.
    if (query.includes("__miniflare")) return cursor;
    // Whoever asks reads the whole answer at once; what it took is known by then.
    queueMicrotask(() => {
      bill.rows_written += cursor.rowsWritten;
      bill.rows_read += cursor.rowsRead;
      own.bytes = sql.databaseSize;
    });
    return cursor;
  });
  meterKeys(storage);
  meterKeys(storage.kv);
  const setAlarm = storage.setAlarm.bind(storage);
  const deleteAlarm = storage.deleteAlarm.bind(storage);
  define(storage, "setAlarm", (at: number | Date, options?: DurableObjectSetAlarmOptions) => {
    bill.rows_written += 1;
    own.alarm = Number(at);
    return setAlarm(at, options);
  });
  define(storage, "deleteAlarm", (options?: DurableObjectSetAlarmOptions) => {
    own.alarm = null;
    return deleteAlarm(options);
  });
}
/** `put` and `delete`, of one key or of many. */
function meterKeys(keys: object): void {
  for (const name of ["put", "delete"]) {
    const own = Reflect.get(keys, name) as (...args: unknown[]) => unknown;
    define(keys, name, (first: unknown, ...more: unknown[]) => {
      bill.rows_written += typeof first === "object" ? Object.keys(first ?? {}).length : 1;
      return Reflect.apply(own, keys, [first, ...more]);
    });
  }
}

const define = (target: object, name: string, value: unknown): void => {
  Object.defineProperty(target, name, { value });
};

/** The alarm of an object has come. */
export function rang(ctx: DurableObjectState): void {
  bill.alarms += 1;
  const own = bill.objects[ctx.id.toString()];
  if (own) own.alarm = null;
}

/** The namespace, with every request to one of its objects counted. */
export const countedNamespace = <T extends object>(namespace: T): T =>
  proxied(namespace, (method, args) => proxied(method(...args) as object, timed));

type Method = (...args: unknown[]) => unknown;

function proxied<T extends object>(
  target: T,
  call: (method: Method, args: unknown[]) => unknown,
): T {
  return new Proxy(target, {
    get(_, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      // Not `value.apply`: on a stub that is a call of a method named apply.
      const method: Method = (...given) => Reflect.apply(value, target, given);
      return (...args: unknown[]) => call(method, args);
    },
  });
}

async function timed(method: Method, args: unknown[]): Promise<unknown> {
  const from = Date.now();
  bill.object_requests += 1;
  try {
    return await method(...args);
  } finally {
    bill.request_ms += Date.now() - from;
  }
}

const METER = "/api/meter";
/** The reply to whoever reads the meter; null for every other request, which is counted. */
export function readMeter(request: Request): Response | null {
  if (new URL(request.url).pathname === METER) return Response.json(bill);
  bill.worker_requests += 1;
  return null;
}
