import type { Clock } from "../core/ports/clock.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { Run } from "../core/run.ts";
import { removeCondition, setCondition } from "./conditions.ts";
import { tellOfObject } from "./tell-of-object.ts";

/** Tells the users of an object that it is parked: Ready=False and Stalled=True, reason `Poisoned`, and an Event. */
export async function reportPoisoned(
  run: Run,
  message: string,
  deps: { readonly cluster: Cluster; readonly clock: Clock },
): Promise<void> {
  await tellOfObject(
    run,
    ({ conditions, generation }) => {
      const said = { reason: "Poisoned", message, observedGeneration: generation };
      const now = deps.clock.now();
      const stalled = setCondition(conditions, { ...said, type: "Stalled", status: "True" }, now);
      const ready = setCondition(stalled, { ...said, type: "Ready", status: "False" }, now);
      return {
        conditions: removeCondition(ready, "Reconciling"),
        event: { type: "Warning", reason: "Poisoned", message, annotations: {} },
      };
    },
    deps,
  );
}
