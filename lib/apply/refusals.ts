import { subject } from "../core/object-ref.ts";
import type { ApiError } from "../core/ports/cluster.ts";
import type { DesiredObject } from "./desired-objects.ts";

/** A refusal in Flux's words (reference 3.14, error texts). */
export function dryRunMessage({ ref }: Pick<DesiredObject, "ref">, error: ApiError): string {
  const name = subject(ref);
  if (error.reason === "NotFound") return `${name} not found: ${error.message}`;
  const isFieldConflict = error.causes.some(({ reason }) => reason === "FieldManagerConflict");
  const reason = isFieldConflict ? "FieldManagerConflict" : error.reason === "NoMatch" ? "" : error.reason;
  return `${name} dry-run failed${reason === "" ? "" : ` (${reason})`}: ${error.message}`;
}

/** Whether a definition of the set brings the kind, and the API server does not serve it yet. */
export function isUnserved({ isPromised }: Pick<DesiredObject, "isPromised">, error: ApiError | undefined): boolean {
  return isPromised === true && error?.reason === "NoMatch";
}

/** The texts with which API servers refuse to change an immutable field, for all kinds that have such fields. */
const texts = [
  /is immutable/,
  /immutable field/,
  /cannot change roleRef/,
  /may not change once set/,
  /may not change fields other than/,
  /updates to statefulset spec for fields other than/,
];

/**
 * The same for rules in a definition: texts that authors usually write, unless they name a temporary state, and the API server's text if
 * the author writes none.
 */
const textsOfRules = [
  /: [^:]*\b(?:cannot|can not|can't|may not|must not) be (?:changed|modified)(?: (?:after|once)\b|[.,\]]|$)/,
  /failed rule: self == oldSelf/,
];

/** A policy may later allow what it denies now, and it protects the object: its refusal does not mean that a field is immutable. */
const ofAdmission = /admission webhook|ValidatingAdmissionPolicy|denied (?:the )?request/;

/**
 * Whether the API server refused the change because a field can never change, so that only recreating the object helps. Flux treats every
 * Conflict and Invalid as that, and so deletes objects whose new version is simply wrong; we do not.
 */
export function isImmutable({ reason, message }: Pick<ApiError, "reason" | "message">): boolean {
  const refused = reason === "Invalid" || reason === "Conflict" || reason === "Forbidden";
  if (!refused) return false;
  const isOfRule = reason === "Invalid" && !ofAdmission.test(message);
  return [...texts, ...(isOfRule ? textsOfRules : [])].some((text) => text.test(message));
}

/** Whether the refusal concerns only the terminating object, and not the object that will replace it. */
export function isOverOnceGone({ reason, message, causes }: ApiError): boolean {
  const faults = causes.length === 0 ? [message] : causes.map((cause) => cause.message ?? "");
  return faults.every((fault) => isForDeletion(fault) || isImmutable({ reason, message: fault }));
}

function isForDeletion(fault: string): boolean {
  return fault.includes("can be added if the object is being deleted");
}

const noJudgement = new Set([
  "ServerTimeout",
  "ServiceUnavailable",
  "Timeout",
  "TooManyRequests",
  "Unauthorized",
  "Unreachable",
]);

/** Whether the API server could not judge the object at all, so that a later try may go better. */
export function isNoJudgement({ reason }: ApiError): boolean {
  return noJudgement.has(reason);
}

/**
 * Whether a refusal is about the object's own fields, and not about who asks or where it was tried: a policy may well refuse
 * everything in the namespace where it was tried.
 */
export function isAboutFields({ code, reason, message }: ApiError): boolean {
  if (/admission webhook|ValidatingAdmissionPolicy/.test(message)) return false;
  return (code === 422 && reason === "Invalid") || message.startsWith("failed to create typed patch object");
}
