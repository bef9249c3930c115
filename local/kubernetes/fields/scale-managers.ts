import type { ManagedFields } from "../api-object.ts";
import { difference, type FieldSet, fieldSet, intersection, isEmpty, leaf } from "./field-set.ts";
import { decodeManagers, encodeManagers, type Manager, managerId } from "./managers.ts";

const scaleVersion = "autoscaling/v1";
const replicasInScale: FieldSet = setOfPath(["f:spec", "f:replicas"]);

/**
 * Who owns the replicas of a scaled object, told as managers of its Scale.
 *
 * @param replicasPath where the replicas are in the scaled object, dotted: `.spec.replicas`
 */
export function toScaleManagers(parent: ManagedFields, replicasPath: string): ManagedFields {
  const replicas = setOfDotted(replicasPath);
  const owners = [...decodeManagers(parent).values()].filter(({ set }) => owns(set, replicas));
  return encoded(owners.map((owner) => ({ ...owner, apiVersion: scaleVersion, set: replicasInScale })));
}

/** The scaled object's managers after a write to its Scale: who lost the replicas there loses them here too. */
export function toParentManagers(
  parent: ManagedFields,
  scale: ManagedFields,
  apiVersion: string,
  replicasPath: string,
): ManagedFields {
  const replicas = setOfDotted(replicasPath);
  const owners = new Map(
    [...decodeManagers(scale).values()]
      .filter(({ set }) => owns(set, replicasInScale))
      .map((owner) => [identityInBoth(owner), owner] as const),
  );
  const kept = [...decodeManagers(parent).values()].map((manager) => {
    const isOwner = owners.delete(identityInBoth(manager));
    return isOwner ? manager : { ...manager, set: difference(manager.set, replicas) };
  });
  // A real server does not note when a Scale's owner came.
  const added = [...owners.values()].map((owner) => ({ ...owner, apiVersion, time: undefined, set: replicas }));
  return encoded([...kept, ...added]);
}

/** Tells a manager of the object from others however its Scale is versioned. */
function identityInBoth(manager: Manager): string {
  return managerId({ ...manager, apiVersion: "" });
}

function encoded(managers: readonly Manager[]): ManagedFields {
  return encodeManagers(new Map(managers.map((manager) => [managerId(manager), manager])));
}

function owns(set: FieldSet, replicas: FieldSet): boolean {
  return !isEmpty(intersection(set, replicas));
}

function setOfDotted(path: string): FieldSet {
  const fields = path.split(".").filter((field) => field !== "");
  return setOfPath(fields.map((field) => `f:${field}`));
}

function setOfPath(path: readonly string[]): FieldSet {
  return path.reduceRight<FieldSet>((below, key) => fieldSet(false, new Map([[key, below]])), leaf);
}
