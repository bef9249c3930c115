import type { Flow } from "../../core/ports/run.ts";
import type { FlowParts } from "../kinds/kind.ts";

/** The reconcile of an ImageRepository: not there yet. Its helper replaces this file. */
export function imageRepositoryFlow(_parts: FlowParts): Flow {
  return async () => ({ outcome: "absent", dueInMs: undefined });
}
