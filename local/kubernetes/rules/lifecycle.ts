import type { ApiObject, Gvk } from "../api-object.ts";

/** Hands out cluster-wide scarce values; a dry run gives them back. */
export interface Allocator {
  /** An unused address of the service range, or `wanted` if it is free; `undefined` if it is taken or out of range. */
  clusterIp(wanted?: string): string | undefined;
  /** An unused port of 30000 to 32767, or `wanted` if it is free. */
  nodePort(wanted?: number): number | undefined;
}

/** What a kind does that its schema does not tell. */
export interface KindFacts {
  readonly isBuiltin: boolean;
  /** Whether the resource has a `status` subresource. */
  readonly hasStatus: boolean;
}

/** What the storage strategy does before a create: status dropped, generation 1, fields that belong to the server. */
export function prepareForCreate(object: ApiObject, _gvk: Gvk, _facts: KindFacts): ApiObject {
  return object;
}

/** What the strategy does before an update: the part that this (sub)resource may not write comes from `old`. */
export function prepareForUpdate(
  object: ApiObject,
  _old: ApiObject,
  _gvk: Gvk,
  _facts: KindFacts,
  _subresource?: string,
): ApiObject {
  return object;
}

/** The generation after a write: 1 at first, one more when what counts for the kind changed, else as it was. */
export function generationOf(
  object: ApiObject,
  _old: ApiObject | undefined,
  _gvk: Gvk,
  _facts: KindFacts,
): number | undefined {
  const generation = object["metadata"];
  return typeof generation === "number" ? generation : undefined;
}

/** Allots cluster addresses and node ports. */
export function allocate(object: ApiObject, _old: ApiObject | undefined, _gvk: Gvk, _allocator: Allocator): ApiObject {
  return object;
}

/** Whether DELETE answers the object where it is gone at once (Pod, Service), or a Status. */
export function deleteAnswersObject(_gvk: Gvk): boolean {
  return false;
}

/** Whether PUT creates an absent object. */
export function createsOnUpdate(_gvk: Gvk): boolean {
  return false;
}

/** Seconds that a DELETE without finalizers still waits: Pods that are scheduled; 0 deletes at once. */
export function gracePeriodSeconds(_object: ApiObject, _gvk: Gvk, requested: number | undefined): number {
  return requested ?? 0;
}
