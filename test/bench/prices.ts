/**
 * What Cloudflare asks for, in US dollars, beyond what the paid plan includes. Published at
 * developers.cloudflare.com/durable-objects/platform/pricing and …/workers/platform/pricing; looked up in 2026.
 */
const PRICES = {
  worker_request: 0.3e-6,
  worker_cpu_ms: 0.02e-6,
  object_request: 0.15e-6,
  gb_second: 12.5e-6,
  row_written: 1e-6,
  row_read: 0.001e-6,
  gb_month: 0.2,
} as const;

/** An object is billed as 128 MB, whatever it uses; a decimal GB, as in the examples there. */
const OBJECT_GB = 0.128;
/** So many messages that come in on a socket are one request. */
const MESSAGES_PER_REQUEST = 20;

/** What the meter (test/worker/support/meter.ts) shows. */
export interface Bill {
  worker_requests: number;
  object_requests: number;
  request_ms: number;
  socket_messages: number;
  alarms: number;
  rows_written: number;
  rows_read: number;
  /** Constructors that ran: the first of each object, and one for each time that it came back. */
  wakes: number;
  /** By object: its database's size, and when its alarm is due. */
  objects: Record<string, { kind: string; bytes: number; alarm: number | null }>;
}

/** What was counted of one session. */
export interface Counted {
  events: number;
  rows_written: number;
  rows_read: number;
  worker_requests: number;
  object_requests: number;
  alarms: number;
  socket_messages: number;
  /** Of the Worker's requests; what an object computes is billed as its time. */
  cpu_ms: number;
  /** While an object was awake. */
  active_s: number;
  /** Of what stays stored. */
  bytes: number;
}

/** Dollars of 1,000 such sessions, by what they are for. */
export function dollars(c: Counted) {
  const requests = c.object_requests + c.alarms + c.socket_messages / MESSAGES_PER_REQUEST;
  const parts = {
    active: c.active_s * OBJECT_GB * PRICES.gb_second,
    rows: c.rows_written * PRICES.row_written + c.rows_read * PRICES.row_read,
    requests: requests * PRICES.object_request + c.worker_requests * PRICES.worker_request,
    cpu: c.cpu_ms * PRICES.worker_cpu_ms,
  };
  const sum = parts.active + parts.rows + parts.requests + parts.cpu;
  const thousand = (n: number) => n * 1_000;
  return {
    active: thousand(parts.active),
    rows: thousand(parts.rows),
    requests: thousand(parts.requests),
    cpu: thousand(parts.cpu),
    sum: thousand(sum),
    /** For each month that they are kept. */
    stored: thousand((c.bytes / 1e9) * PRICES.gb_month),
  };
}

/** What it would come to if an object that waits stayed awake. */
export const awake = (seconds: number): number => seconds * OBJECT_GB * PRICES.gb_second * 1_000;
