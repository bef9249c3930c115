import type { ArtifactGeneratorStatus } from "../../api/artifact-generator.ts";
import { type Condition, findCondition } from "../../api/condition.ts";
import type { Failure } from "../../core/failure.ts";
import { failing, removeConditions, setConditions } from "../conditions.ts";

// The status of an ArtifactGenerator, in Flux's words (reference sources 10.2). Pure: nothing is written here.

/** The generation of the object and the time, for each condition that is set. */
interface Now {
  readonly generation: number;
  /** Wall time, milliseconds since 1970. */
  readonly at: number;
}

const inProgress = { reason: "Progressing", message: "Reconciliation in progress" } as const;

/** The run makes artifacts. A failure stays in Ready while the same generation is tried again. */
export function begun(status: ArtifactGeneratorStatus, now: Now): ArtifactGeneratorStatus {
  const ready = readyOf(status);
  const isRetry = ready?.status === "False" && ready.observedGeneration === now.generation;
  if (isRetry && findCondition(status.conditions ?? [], "Stalled") === undefined) return status;
  return setConditions(
    removeConditions(status, ["Stalled"]),
    [
      { ...inProgress, type: "Reconciling", status: "True" },
      { ...inProgress, type: "Ready", status: "Unknown" },
    ],
    now,
  );
}

/** All artifacts are published. */
export function succeeded(
  status: ArtifactGeneratorStatus,
  { inventory, observedSourcesDigest }: Required<Pick<ArtifactGeneratorStatus, "inventory" | "observedSourcesDigest">>,
  now: Now,
): ArtifactGeneratorStatus {
  const message = `reconciliation succeeded, generated ${inventory.length} artifact(s)`;
  const next = setConditions(
    removeConditions(status, ["Reconciling", "Stalled"]),
    [{ type: "Ready", status: "True", reason: "Succeeded", message }],
    now,
  );
  return { ...next, inventory: [...inventory], observedSourcesDigest };
}

/** The run failed and will be tried again. */
export function failed(status: ArtifactGeneratorStatus, failure: Failure, now: Now): ArtifactGeneratorStatus {
  const doing = setConditions(status, [{ ...inProgress, type: "Reconciling", status: "True" }], now);
  return failing(doing, failure, now);
}

/** Only a change of the object or of a source helps. */
export function stalled(
  status: ArtifactGeneratorStatus,
  { reason, message }: Failure,
  now: Now,
): ArtifactGeneratorStatus {
  return setConditions(
    removeConditions(status, ["Reconciling"]),
    [
      { type: "Stalled", status: "True", reason, message },
      { type: "Ready", status: "False", reason, message },
    ],
    now,
  );
}

/** The object was created paused. A generator that was paused later keeps its conditions. */
export function paused(status: ArtifactGeneratorStatus, now: Now): ArtifactGeneratorStatus {
  if (readyOf(status) !== undefined) return status;
  const message = "Initialized with reconciliation suspended";
  return setConditions(status, [{ type: "Ready", status: "True", reason: "ReconciliationDisabled", message }], now);
}

export function readyOf({ conditions = [] }: ArtifactGeneratorStatus): Condition | undefined {
  return findCondition(conditions, "Ready");
}
