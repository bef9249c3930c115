import { type Condition, findCondition, isTrue } from "../../api/condition.ts";
import type { SourceStatus } from "../../api/source.ts";
import type { Failure, Reason } from "../../core/failure.ts";
import { failing, removeConditions, type Said, setConditions } from "../conditions.ts";

// The status of a source in each phase of a run, in Flux's words (reference 1.3 to 1.7). Pure: nothing is written here.

/** The generation of the object and the time, for each condition that is set. */
export interface Now {
  readonly generation: number;
  /** Wall time, milliseconds since 1970. */
  readonly at: number;
}

/** The conditions of failures that only some kinds of source have, by the reason of the failure. */
export type ConditionByReason = Readonly<
  Partial<Record<Reason, "BuildFailed" | "FetchFailed" | "IncludeUnavailable" | "SourceVerified">>
>;

/** The possible reasons of ArtifactOutdated. */
export type OutdatedReason = "IncludeChange" | "NewChart" | "NewRevision";

/** The possible reasons of the conditions of a stored artifact. */
export type StoredReason = "ChartPackageSucceeded" | "ChartPullSucceeded" | "Succeeded";

/** The conditions of failures, present only while True. Ready repeats the first one. */
const failureTypes = ["StorageOperationFailed", "FetchFailed", "BuildFailed", "IncludeUnavailable"];
const builtMessage = "building artifact";

/** The run has begun. Ready changes only if nothing was known before, so an unchanged source never leaves True. */
export function begun(status: SourceStatus, now: Now): SourceStatus {
  const { observedGeneration = -1 } = status;
  const message =
    observedGeneration === now.generation
      ? "reconciliation in progress"
      : `processing object: new generation ${observedGeneration} -> ${now.generation}`;
  const ready = findCondition(status.conditions ?? [], "Ready");
  const isUnknown = ready === undefined || ready.status === "Unknown";
  return inProgress({ ...status, observedGeneration }, message, isUnknown, now);
}

/** Whether the status already says that a run works on this generation. */
export function isBegun({ conditions = [] }: SourceStatus, { generation }: Now): boolean {
  const reconciling = findCondition(conditions, "Reconciling");
  return reconciling?.status === "True" && reconciling.observedGeneration === generation;
}

/** There is no artifact (`disappeared`: the one in the status is lost), so one is built even if the origin has not changed. */
export function withoutArtifact(status: SourceStatus, disappeared: boolean, now: Now): SourceStatus {
  const { artifact: _artifact, url: _url, ...rest } = status;
  const message = disappeared ? `${builtMessage}: disappeared from storage` : builtMessage;
  return inProgress(removeConditions(rest, ["ArtifactInStorage"]), message, true, now);
}

/** The origin has another revision than the stored one, or what is included in it has; `message` says what is new. */
export function outdated(
  status: SourceStatus,
  message: string,
  now: Now,
  reason: OutdatedReason = "NewRevision",
): SourceStatus {
  const isReplaced = status.artifact !== undefined;
  const said: Said = { type: "ArtifactOutdated", status: "True", reason, message };
  const next = isReplaced ? setConditions(status, [said], now) : status;
  return inProgress(next, `${builtMessage}: ${message}`, true, now);
}

/** The artifact of the present revision is stored. */
export function stored(
  status: SourceStatus,
  message: string,
  now: Now,
  reason: StoredReason = "Succeeded",
): SourceStatus {
  const said = { status: "True", reason, message } as const;
  const cleared = removeConditions(withoutFailures(status), ["ArtifactOutdated", "Reconciling", "Stalled"]);
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
export function failed(status: SourceStatus, failure: Failure, now: Now, own: ConditionByReason = {}): SourceStatus {
  const said = conditionOf(failure, own);
  const next = setConditions(
    withoutFailures(status, keptBeside(said)),
    [said, ...unverifiedBeside(failure, said)],
    now,
  );
  return failing(next, firstFailure(next.conditions ?? []) ?? said, now);
}

/** What a run checks before the includes. */
const reasonsBeforeIncludes = new Set(["AuthenticationFailed", "FeatureGateDisabled", "InvalidProviderConfiguration"]);

/** Former failures stay until a run has passed the step that they are of: the login, the includes, the fetch. */
function keptBeside({ type, reason }: Said): readonly string[] {
  if (type === "IncludeUnavailable") return ["FetchFailed"];
  return reasonsBeforeIncludes.has(reason) ? ["IncludeUnavailable"] : [];
}

function conditionOf(failure: Failure, own: ConditionByReason): Said {
  const { reason } = failure.inCondition;
  const type = storageReasons.has(reason) ? "StorageOperationFailed" : (own[reason] ?? "FetchFailed");
  return { ...saidOf(failure), type, status: type === "SourceVerified" ? "False" : "True" };
}

/** A chart with an invalid signature is not verified, in addition to the condition of its failure (reference 7.6). */
function unverifiedBeside({ reason, message }: Failure, { type }: Said): readonly Said[] {
  const isOfSignature = reason === "ChartVerificationError" || reason === "VerificationError";
  if (!isOfSignature || type === "SourceVerified") return [];
  return [{ type: "SourceVerified", status: "False", reason: "VerificationError", message }];
}

const storageReasons = new Set(["ArchiveOperationFailed", "CopyFailure", "IllegalPath", "StorageOperationFailed"]);

/** The run failed, and only a change of the object helps. */
export function stalled(status: SourceStatus, failure: Failure, now: Now, own: ConditionByReason = {}): SourceStatus {
  // A field that is refused was never fetched.
  const { reason } = failure.inCondition;
  const hasCondition = reason === "URLInvalid" || own[reason] !== undefined;
  const next = setConditions(
    removeConditions(withoutFailures(status, hasCondition ? keptBeside(conditionOf(failure, own)) : []), [
      "Reconciling",
    ]),
    [
      { reason: failure.reason, message: failure.message, type: "Stalled", status: "True" },
      { ...saidOf(failure), type: "Ready", status: "False" },
      ...(hasCondition ? [conditionOf(failure, own)] : []),
    ],
    now,
  );
  return { ...next, observedGeneration: now.generation };
}

/**
 * The object is suspended. Its origin is not asked, but if it has conditions its generation counts as observed, and Flux sums
 * up again: an interrupted run is to be tried again, nothing is stalled, and Ready follows from the other conditions.
 */
export function suspended(status: SourceStatus, now: Now): SourceStatus {
  const { conditions = [] } = status;
  if (conditions.length === 0) return status;
  const doing = findCondition(conditions, "Reconciling");
  const retried = doing === undefined ? [] : [{ ...doing, reason: "ProgressingWithRetry" }];
  const next = setConditions(removeConditions(status, ["Stalled"]), retried, now);
  return { ...setConditions(next, summary(next.conditions ?? []), now), observedGeneration: now.generation };
}

/** Ready as it follows from the other conditions: the first failure, or the stored artifact (reference 1.7). */
function summary(conditions: readonly Condition[]): readonly Said[] {
  const failure = firstFailure(conditions, ["ArtifactOutdated", "Reconciling"]);
  if (failure !== undefined) return [{ ...failure, type: "Ready", status: "False" }];
  const inStorage = findCondition(conditions, "ArtifactInStorage") ?? findCondition(conditions, "Ready");
  return inStorage === undefined ? [] : [{ ...inStorage, type: "Ready" }];
}

/** The condition that Ready repeats. `others`: further conditions that count as a failure. */
function firstFailure(conditions: readonly Condition[], others: readonly string[] = []): Condition | undefined {
  const isOne = (type: string): boolean => isTrue(conditions, type);
  const unverified = conditions.find(isUnverified);
  return unverified ?? conditions.find(({ type }) => type === [...failureTypes, ...others].find(isOne));
}

/** The status `after`; a condition that is the same as in `before` keeps its time. */
export function withTimesOf(before: SourceStatus, after: SourceStatus): SourceStatus {
  if (after.conditions === undefined) return after;
  const conditions = after.conditions.map((condition) => {
    const was = findCondition(before.conditions ?? [], condition.type);
    const isSame =
      was?.status === condition.status && was.reason === condition.reason && was.message === condition.message;
    return isSame ? { ...condition, lastTransitionTime: was.lastTransitionTime } : condition;
  });
  return { ...after, conditions };
}

/** Whether the last run failed, so that an event tells of the end of it. That of a signature tells its own (reference 2.7). */
export function wasFailing({ conditions = [] }: SourceStatus): boolean {
  return failureTypes.some((type) => isTrue(conditions, type));
}

/** A proven source stays so when something else fails. */
function withoutFailures(status: SourceStatus, kept: readonly string[] = []): SourceStatus {
  const isVerified = !(status.conditions ?? []).some(isUnverified);
  const removed = failureTypes.filter((type) => !kept.includes(type));
  return removeConditions(status, isVerified ? removed : [...removed, "SourceVerified"]);
}

function isUnverified({ type, status }: Pick<Said, "type" | "status">): boolean {
  return type === "SourceVerified" && status === "False";
}

/** Whether Ready already shows this very failure, or its own condition, where Ready shows an older one. */
export function isShown({ conditions = [] }: SourceStatus, failure: Failure, own: ConditionByReason = {}): boolean {
  const { type, status, reason, message } = conditionOf(failure, own);
  return conditions.some(
    (one) =>
      ((one.type === "Ready" && one.status === "False") || (one.type === type && one.status === status)) &&
      one.reason === reason &&
      one.message === message,
  );
}

function inProgress(status: SourceStatus, message: string, includesReady: boolean, now: Now): SourceStatus {
  const said = { reason: "Progressing", message } as const;
  return setConditions(
    removeConditions(status, ["Stalled"]),
    [
      { ...said, type: "Reconciling", status: "True" },
      ...(includesReady ? [{ ...said, type: "Ready", status: "Unknown" } as const] : []),
    ],
    now,
  );
}

function saidOf({ inCondition: { reason, message } }: Failure): Pick<Said, "message" | "reason"> {
  return { reason, message };
}
