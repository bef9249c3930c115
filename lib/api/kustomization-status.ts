import { z } from "zod";
import { Conditions } from "./condition.ts";

/** One entry of `status.inventory`: Flux's id `<namespace>_<name>_<group>_<kind>` and the version. */
const StatusEntry = z.object({
  id: z.string().describe("namespace_name_group_kind of the object."),
  v: z.string().describe("API version of the object, without its group."),
});

/** One entry of `status.history`, which counts all runs with the same digest and outcome. */
export const Snapshot = z.object({
  digest: z.string().describe("Digest of what was applied."),
  firstReconciled: z.string().meta({ format: "date-time" }).describe("When it was applied for the first time."),
  lastReconciled: z.string().meta({ format: "date-time" }).describe("When it was applied for the last time."),
  lastReconciledDuration: z.string().describe("How long the last run took."),
  lastReconciledStatus: z.string().describe("Reason of the Ready condition after the last run."),
  totalReconciliations: z.number().int().describe("Number of runs."),
  metadata: z.record(z.string(), z.string()).describe("Revision and origin revision.").exactOptional(),
});
export type Snapshot = Readonly<z.infer<typeof Snapshot>>;

/** `status` of a Kustomization (reference kustomization 1.5). */
export const KustomizationStatus = z.object({
  observedGeneration: z.number().int().describe("Generation that was last made true.").exactOptional(),
  conditions: Conditions.exactOptional(),
  lastAttemptedRevision: z.string().describe("Revision of the last attempt.").exactOptional(),
  lastAppliedRevision: z.string().describe("Revision of the last success.").exactOptional(),
  lastAppliedOriginRevision: z.string().describe("Revision of the origin at the last success.").exactOptional(),
  lastHandledReconcileAt: z.string().describe("Value of the last handled request for a run.").exactOptional(),
  inventory: z
    .object({ entries: z.array(StatusEntry).describe("The objects.") })
    .describe("Objects that the Kustomization has in the cluster.")
    .exactOptional(),
  history: z.array(Snapshot).describe("The latest outcomes, newest first.").exactOptional(),
});
export type KustomizationStatus = Readonly<z.infer<typeof KustomizationStatus>>;
