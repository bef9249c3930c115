import type { Flow } from "../../core/ports/run.ts";
import type { FlowParts } from "../kinds/kind.ts";

/** The reconcile of an ImageUpdateAutomation: not there yet. Its helper replaces this file. */
export function imageUpdateAutomationFlow(_parts: FlowParts): Flow {
  return async () => ({ outcome: "absent", dueInMs: undefined });
}
