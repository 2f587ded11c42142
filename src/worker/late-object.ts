/**
 * A Durable Object whose class is large and seldom wanted. The platform wants a class when the Worker starts, so it gets
 * one that loads the real one when an object wakes, and hands on whatever it is called with.
 *
 * L1  Nobody is served before the real one is there and has read what its constructor reads.
 * L2  It has the methods of the real class, those that are inherited too, from then on. `fetch` and `alarm` it has from
 *     the beginning: the platform looks for them.
 */
import { DurableObject } from "cloudflare:workers";

// biome-ignore lint/suspicious/noExplicitAny: what a class that is given takes is its own business.
type Class = new (ctx: any, env: any) => DurableObject<any>;
/** What the stand-in asks of it: whatever it is asked itself. */
type Real = Required<Pick<DurableObject, "fetch" | "alarm">> & Record<string, unknown>;

/** Names of what objects of a class can be asked, up to the platform's own. */
function namesOf(prototype: object): string[] {
  if (prototype === DurableObject.prototype || prototype === Object.prototype) return [];
  return [...Object.getOwnPropertyNames(prototype), ...namesOf(Object.getPrototypeOf(prototype))];
}

export function lateObject<C extends Class>(load: () => Promise<C>): C {
  class Late extends DurableObject {
    #real!: Real;

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env);
      void ctx.blockConcurrencyWhile(async () => {
        const real = new (await load())(ctx, env);
        Late.#lend(real);
        this.#real = real as unknown as Real;
        // L1: one after the other, so its own has ended.
        await ctx.blockConcurrencyWhile(() => Promise.resolve());
      });
    }

    static #lend(real: DurableObject): void {
      for (const name of namesOf(Object.getPrototypeOf(real))) {
        if (name in Late.prototype) continue;
        const get = function (this: Late): unknown {
          const value: unknown = this.#real[name];
          return typeof value === "function" ? value.bind(this.#real) : value;
        };
        Object.defineProperty(Late.prototype, name, { get, configurable: true });
      }
    }

    override fetch(request: Request): Response | Promise<Response> {
      return this.#real.fetch(request);
    }
    override alarm(info?: AlarmInvocationInfo): void | Promise<void> {
      return this.#real.alarm(info);
    }
  }
  return Late as unknown as C;
}
