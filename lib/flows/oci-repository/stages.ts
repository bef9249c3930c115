import { type Condition, findCondition, isTrue } from "../../api/condition.ts";
import type { OciRepositoryStatus } from "../../api/oci-repository.ts";
import type { Failure } from "../../core/failure.ts";
import { failing, removeConditions, type Said, setConditions } from "../conditions.ts";

/** The status of an OCIRepository at each stage of a run, in Flux's words (reference 1.3 to 1.7). Pure: nothing is written. */

/** What every stage needs to know. */
export interface Now {
  readonly generation: number;
  /** Wall time, milliseconds since 1970. */
  readonly at: number;
}

/** Conditions that say that something failed; Ready takes the first of them that is True. */
const failureTypes = ["StorageOperationFailed", "FetchFailed"] as const;
const builtMessage = "building artifact";

/** The run has begun. Ready is told only where nothing was known before, so an unchanged source never leaves True. */
export function begun(status: OciRepositoryStatus, now: Now): OciRepositoryStatus {
  const { observedGeneration = -1 } = status;
  const message =
    observedGeneration === now.generation
      ? "reconciliation in progress"
      : `processing object: new generation ${observedGeneration} -> ${now.generation}`;
  const ready = findCondition(status.conditions ?? [], "Ready");
  const isUnknown = ready === undefined || ready.status === "Unknown";
  return inProgress({ ...status, observedGeneration }, message, isUnknown, now);
}

/** Whether an earlier run has told already that it works on this generation. */
export function isBegun({ conditions = [] }: OciRepositoryStatus, { generation }: Now): boolean {
  const reconciling = findCondition(conditions, "Reconciling");
  return reconciling?.status === "True" && reconciling.observedGeneration === generation;
}

/** There is no artifact, or none any more (`disappeared`), so one has to be built whatever the registry says. */
export function withoutArtifact(status: OciRepositoryStatus, disappeared: boolean, now: Now): OciRepositoryStatus {
  const { artifact: _artifact, url: _url, ...rest } = status;
  const message = disappeared ? `${builtMessage}: disappeared from storage` : builtMessage;
  return inProgress(removeConditions(rest, ["ArtifactInStorage"]), message, true, now);
}

/** The registry has another revision than the stored one. */
export function outdated(
  status: OciRepositoryStatus,
  { revision, reference }: { readonly revision: string; readonly reference: string },
  now: Now,
): OciRepositoryStatus {
  const message = `new revision '${revision}' for '${reference}'`;
  const isReplaced = status.artifact !== undefined;
  const said: Said = { type: "ArtifactOutdated", status: "True", reason: "NewRevision", message };
  const next = isReplaced ? setConditions(status, [said], now) : status;
  return inProgress(next, `${builtMessage}: ${message}`, true, now);
}

/** The artifact of the present revision is stored. */
export function stored(status: OciRepositoryStatus, revision: string, now: Now): OciRepositoryStatus {
  const said = { status: "True", reason: "Succeeded", message: `stored artifact for digest '${revision}'` } as const;
  const cleared = removeConditions(status, [...failureTypes, "ArtifactOutdated", "Reconciling", "Stalled"]);
  const next = setConditions(
    cleared,
    [
      { ...said, type: "ArtifactInStorage" },
      { ...said, type: "Ready" },
    ],
    now,
  );
  return { ...next, observedGeneration: now.generation };
}

/** The run failed and will be tried again: the last artifact stays, and so does the generation that was observed. */
export function failed(status: OciRepositoryStatus, failure: Failure, now: Now): OciRepositoryStatus {
  const next = failing(removeConditions(status, failureTypes), saidOf(failure), now);
  return setConditions(next, [{ ...saidOf(failure), type: failureTypeOf(failure), status: "True" }], now);
}

/** The run failed in a way that only a change of the object can mend. */
export function stalled(status: OciRepositoryStatus, failure: Failure, now: Now): OciRepositoryStatus {
  const next = setConditions(
    removeConditions(status, [...failureTypes, "Reconciling"]),
    [
      { ...saidOf(failure), type: "Stalled", status: "True" },
      { ...saidOf(failure), type: "Ready", status: "False" },
      // A field that is refused was never fetched.
      ...(failure.reason === "URLInvalid"
        ? [{ ...saidOf(failure), type: "FetchFailed", status: "True" } as const]
        : []),
    ],
    now,
  );
  return { ...next, observedGeneration: now.generation };
}

/**
 * Nothing is looked at while it is suspended, but where anything was ever said the generation counts as seen, and Flux sums up
 * anew: a run that was under way is to be tried again, nothing is stalled, and Ready says what the others say.
 */
export function suspended(status: OciRepositoryStatus, now: Now): OciRepositoryStatus {
  const { conditions = [] } = status;
  if (conditions.length === 0) return status;
  const doing = findCondition(conditions, "Reconciling");
  const retried = doing === undefined ? [] : [{ ...doing, reason: "ProgressingWithRetry" }];
  const next = setConditions(removeConditions(status, ["Stalled"]), retried, now);
  return { ...setConditions(next, summary(next.conditions ?? []), now), observedGeneration: now.generation };
}

/** What Ready says by the other conditions: the first failure, or that the artifact is stored (reference 1.7). */
function summary(conditions: readonly Condition[]): readonly Said[] {
  const failure = [...failureTypes, "ArtifactOutdated", "Reconciling"]
    .map((type) => findCondition(conditions, type))
    .find((one) => one?.status === "True");
  if (failure !== undefined) return [{ ...failure, type: "Ready", status: "False" }];
  const stored = findCondition(conditions, "ArtifactInStorage") ?? findCondition(conditions, "Ready");
  return stored === undefined ? [] : [{ ...stored, type: "Ready" }];
}

/** Keeps the time of every condition that says what it said in the status before. */
export function settled(before: OciRepositoryStatus, after: OciRepositoryStatus): OciRepositoryStatus {
  if (after.conditions === undefined) return after;
  const conditions = after.conditions.map((condition) => {
    const was = findCondition(before.conditions ?? [], condition.type);
    const isSame =
      was?.status === condition.status && was.reason === condition.reason && was.message === condition.message;
    return isSame ? { ...condition, lastTransitionTime: was.lastTransitionTime } : condition;
  });
  return { ...after, conditions };
}

/** Whether the last run had failed and would have been tried again. */
export function wasFailing({ conditions = [] }: OciRepositoryStatus): boolean {
  return failureTypes.some((type) => isTrue(conditions, type));
}

/** Whether this very failure has been told already. */
export function isTold({ conditions = [] }: OciRepositoryStatus, failure: Failure): boolean {
  const ready = findCondition(conditions, "Ready");
  return ready?.status === "False" && ready.reason === failure.reason && ready.message === failure.message;
}

function inProgress(status: OciRepositoryStatus, message: string, tellsReady: boolean, now: Now): OciRepositoryStatus {
  const said = { reason: "Progressing", message } as const;
  return setConditions(
    removeConditions(status, ["Stalled"]),
    [
      { ...said, type: "Reconciling", status: "True" },
      ...(tellsReady ? [{ ...said, type: "Ready", status: "Unknown" } as const] : []),
    ],
    now,
  );
}

const storageReasons = new Set(["ArchiveOperationFailed", "StorageOperationFailed"]);

function failureTypeOf({ reason }: Failure): (typeof failureTypes)[number] {
  return storageReasons.has(reason) ? "StorageOperationFailed" : "FetchFailed";
}

function saidOf({ reason, message }: Failure): Pick<Said, "message" | "reason"> {
  return { reason, message };
}
