/** The bare floor (test/bench/floor.ts) with the same meter on it. */
import bare, { Floor as Bare } from "../../bench/floor.ts";
import { countedNamespace, meter, readMeter } from "./meter.ts";

type FloorEnv = ConstructorParameters<typeof Bare>[1];

export class Floor extends Bare {
  constructor(ctx: DurableObjectState, env: FloorEnv) {
    meter("floor", ctx);
    super(ctx, env);
  }
}

export default {
  async fetch(request: Request, env: FloorEnv): Promise<Response> {
    return (
      readMeter(request) ?? bare.fetch(request, { ...env, FLOOR: countedNamespace(env.FLOOR) })
    );
  },
};
