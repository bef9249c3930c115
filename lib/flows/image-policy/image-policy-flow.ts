import type { Flow } from "../../core/ports/run.ts";
import type { FlowParts } from "../kinds/kind.ts";

/** The reconcile of an ImagePolicy: not there yet. Its helper replaces this file. */
export function imagePolicyFlow(_parts: FlowParts): Flow {
  return async () => ({ outcome: "absent", dueInMs: undefined });
}
