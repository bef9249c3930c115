import { type Condition, findCondition } from "../../api/condition.ts";
import type { ImagePolicyStatus, ImageRef } from "../../api/image-policy.ts";
import type { Failure } from "../../core/failure.ts";
import { failing, removeConditions, setConditions } from "../conditions.ts";

// The status of an ImagePolicy, in Flux's words (reference image-automation 1 and 3.4). Pure: nothing is written here.

/** The generation of the object and the time, for each condition that is set. */
interface Now {
  readonly generation: number;
  /** Wall time, milliseconds since 1970. */
  readonly at: number;
}

/** The present step of the run. Ready is unknown only where no earlier run has found out. */
export function begun(status: ImagePolicyStatus, now: Now): ImagePolicyStatus {
  const { observedGeneration = -1 } = status;
  const message =
    observedGeneration === now.generation
      ? "reconciliation in progress"
      : `processing object: new generation ${observedGeneration} -> ${now.generation}`;
  const doing = { status: "True", reason: "Progressing", message } as const;
  const ready = readyOf(status);
  const isUnknown = ready === undefined || ready.status === "Unknown";
  return setConditions(
    removeConditions(status, ["Stalled"]),
    [
      { ...doing, type: "Reconciling" },
      ...(isUnknown ? [{ ...doing, type: "Ready", status: "Unknown" } as const] : []),
    ],
    now,
  );
}

/** A tag is chosen. */
export function succeeded(status: ImagePolicyStatus, message: string, now: Now): ImagePolicyStatus {
  const next = setConditions(
    removeConditions(status, ["Reconciling", "Stalled"]),
    [{ type: "Ready", status: "True", reason: "Succeeded", message }],
    now,
  );
  return { ...next, observedGeneration: now.generation };
}

/** The run failed and will be tried again. */
export function failed(
  status: ImagePolicyStatus,
  failure: Pick<Failure, "message" | "reason">,
  now: Now,
): ImagePolicyStatus {
  return failing(begun(status, now), failure, now);
}

/** Only a change of the object helps. As in Flux, Ready keeps telling of an earlier failure. */
export function stalled(
  status: ImagePolicyStatus,
  { reason, message }: Pick<Failure, "message" | "reason">,
  now: Now,
): ImagePolicyStatus {
  const said = { reason, message } as const;
  const isFailed = readyOf(status)?.status === "False";
  const next = setConditions(
    removeConditions(status, ["Reconciling"]),
    [
      { ...said, type: "Stalled", status: "True" },
      ...(isFailed ? [] : [{ ...said, type: "Ready", status: "False" } as const]),
    ],
    now,
  );
  return { ...next, observedGeneration: now.generation };
}

/** As in Flux, only a Ready object has observed the generation that suspends it. */
export function suspended(status: ImagePolicyStatus, { generation }: Now): ImagePolicyStatus {
  return readyOf(status)?.status === "True" ? { ...status, observedGeneration: generation } : status;
}

/** The status with this choice; the one before stays as `observedPreviousRef`. */
export function chosen(status: ImagePolicyStatus, latestRef: ImageRef): ImagePolicyStatus {
  const { latestRef: former, observedPreviousRef: _previous, ...rest } = status;
  if (former !== undefined && isSame(former, latestRef)) return status;
  return { ...rest, latestRef, ...(former === undefined ? {} : { observedPreviousRef: former }) };
}

/** The Ready message. @param passedOver barred tags that would have been chosen, the best first */
export function chosenText(
  { latestRef, observedPreviousRef: previous }: ImagePolicyStatus,
  passedOver: readonly string[],
): string {
  if (latestRef === undefined) throw new TypeError("no image is chosen");
  const { name, tag, digest } = latestRef;
  const found = `Latest image tag for ${name} resolved to ${tag}${digest === undefined ? "" : ` with digest ${digest}`}`;
  const before =
    previous === undefined || isSame(previous, latestRef) ? "" : ` (previously ${formatImageRef(previous)})`;
  return `${found}${before}${passedOver.length === 0 ? "" : ` (barred: ${listed(passedOver)})`}`;
}

/** `name:tag`, or `name:tag@digest`. */
export function formatImageRef({ name, tag, digest }: ImageRef): string {
  return `${name}:${tag}${digest === undefined ? "" : `@${digest}`}`;
}

export function isSame(one: ImageRef, other: ImageRef): boolean {
  return formatImageRef(one) === formatImageRef(other);
}

const maxListed = 5;

/** The first of them by name. */
export function listed(tags: readonly string[]): string {
  const names = tags.slice(0, maxListed).join(", ");
  return tags.length <= maxListed ? names : `${names} and ${tags.length - maxListed} more`;
}

export function readyOf({ conditions = [] }: ImagePolicyStatus): Condition | undefined {
  return findCondition(conditions, "Ready");
}
