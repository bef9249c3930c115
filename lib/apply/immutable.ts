import type { ApiError } from "../core/ports/cluster.ts";

/** The texts with which API servers refuse to change a field for good, of all kinds that have such fields. */
const texts = [
  /field is immutable/,
  /is immutable/,
  /immutable field/,
  /may not change once set/,
  /may not change fields other than/,
  /updates to statefulset spec for fields other than/,
  /spec is immutable after creation/,
];

/**
 * Whether the API server refused the change because a field can never change, so that only recreating the object helps.
 * Flux takes every Conflict and Invalid for that, and so deletes objects whose new version is plainly wrong; we do not.
 */
export function isImmutable({ reason, message }: Pick<ApiError, "reason" | "message">): boolean {
  const refused = reason === "Invalid" || reason === "Conflict" || reason === "Forbidden";
  return refused && texts.some((text) => text.test(message));
}
