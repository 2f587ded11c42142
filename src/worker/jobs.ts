/**
 * The stored jobs of one session: the wake that looks after its work, and the end of an ephemeral one.
 *
 * J1  `arm` is durable before any work starts; the flag only spares a row when it is known to be stored.
 * J2  A look at work that goes on is one row, the alarm of the next: the wake job stays overdue, so that whatever the
 *     alarm finds dead is revived by it.
 */
import type { Lifecycle } from "agents/lifecycle";
import { LIMITS } from "../core/limits.ts";

export const WAKE = "wake";
export const EXPIRE = "expire";
export const WEBHOOK = "webhook";

export class Jobs {
  readonly #lifecycle: Lifecycle;
  readonly #storage: DurableObjectStorage;
  #armed = false;
  /** When the wake job is due, as far as this life of the object knows. */
  #due = 0;

  constructor(lifecycle: Lifecycle, storage: DurableObjectStorage) {
    this.#lifecycle = lifecycle;
    this.#storage = storage;
  }

  /** When the wake job is due next: at the end of a sleep, else after a while. */
  static next(retryAt: number | undefined): number {
    const now = Date.now();
    return retryAt !== undefined && retryAt > now ? retryAt : now + LIMITS.wakeMs;
  }

  async arm(): Promise<void> {
    if (!this.#armed) await this.wakeAt(Jobs.next(undefined));
  }
  /** The alarm has come, and all is well: it comes again after a while. False: another job is due. */
  async lookAgain(): Promise<boolean> {
    const now = Date.now();
    const others = this.#lifecycle.jobs.list().filter(({ id }) => id !== WAKE);
    const next = Math.min(Jobs.next(undefined), ...others.map(({ time }) => time));
    if (next <= now) return false;
    await this.#storage.setAlarm(next);
    return true;
  }
  /** The job has fired: it is stored for as long as it is rescheduled. */
  fired(): void {
    this.#armed = true;
  }
  async wakeAt(time: number): Promise<void> {
    await this.#lifecycle.jobs.push({
      id: WAKE,
      fn: WAKE,
      time,
      singleflight: true,
      recoveryLoop: true,
    });
    this.#armed = true;
    this.#due = time;
  }
  /** Brings a job that is due late forward; one that is gone stays gone. */
  async soonAgain(): Promise<void> {
    const soon = Jobs.next(undefined);
    if (this.#armed && this.#due > soon) await this.wakeAt(soon);
  }
  async disarm(): Promise<void> {
    this.#armed = false;
    await this.#lifecycle.jobs.cancel(WAKE);
  }
  /** The job ends by itself, by returning nothing. */
  ended(): void {
    this.#armed = false;
  }

  async push(job: { id: string; fn: string; time: number }): Promise<void> {
    await this.#lifecycle.jobs.push({ ...job, singleflight: true });
  }
  async expireAt(time: number): Promise<void> {
    await this.#lifecycle.jobs.push({ id: EXPIRE, fn: EXPIRE, time });
  }
  /** It is not to go after all. */
  async stay(): Promise<void> {
    await this.#lifecycle.jobs.cancel(EXPIRE);
  }
}
