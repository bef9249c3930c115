import { isJsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import { parseApiVersion } from "../core/object-ref.ts";
import { objectAt } from "./fields.ts";

/** How long after the last change of an object its controller may take to say something about it. */
export const attendedWithinMs = 20_000;

/**
 * Whether the status of an object shows no controller that works on its present generation: there is none, only the default of the
 * definition (`observedGeneration: -1`), or one of an earlier generation. Pure.
 */
export function isUnattended(object: LiveObject): boolean {
  const status = objectAt(object, "status");
  const observed = [status["observedGeneration"], ...conditionsOf(status).map((one) => one["observedGeneration"])]
    .filter((value) => typeof value === "number" || typeof value === "bigint")
    .map(Number);
  const { generation } = object.metadata;
  if (observed.some((value) => value >= 0) && generation !== undefined) {
    return observed.every((value) => value < generation);
  }
  // Controllers that do not say which generation they have seen, for example Flagger's.
  return Object.keys(status).every((field) => field === "observedGeneration");
}

function conditionsOf({ conditions }: { readonly [key: string]: unknown }) {
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}

/** When the object was last changed, its status aside: wall time of the API server in milliseconds, 0 if it does not say. Pure. */
export function lastChangeOf({ metadata: { creationTimestamp, managedFields = [] } }: LiveObject): number {
  const changes = managedFields.filter(({ subresource }) => subresource === undefined || subresource === "");
  const times = [creationTimestamp, ...changes.map(({ time }) => time)];
  return Math.max(0, ...times.map((time) => Date.parse(time ?? "") || 0));
}

/** Why the health of an object that Sluice does not reconcile is unknown. */
export function unattendedText({ apiVersion, kind }: LiveObject): string {
  const { group } = parseApiVersion(apiVersion);
  return `Sluice does not reconcile ${kind} (${group}), and no other controller has worked on this object`;
}
