import type { Flow } from "../../core/ports/run.ts";
import type { FlowDeps } from "../flow-deps.ts";

/** The reconcile of an ImagePolicy: not there yet. Its helper replaces this file. */
export function imagePolicyFlow(_parts: FlowDeps): Flow {
  return async () => ({ outcome: "absent", dueInMs: undefined });
}
