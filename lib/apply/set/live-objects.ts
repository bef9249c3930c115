import { type LabelledName, ownerSelector } from "../../api/names.ts";
import { mapLimit } from "../../core/concurrency.ts";
import { refOf } from "../../core/manifest.ts";
import type { ObjectRef, VersionedRef } from "../../core/object-ref.ts";
import { ApiError, type PartialObject, type Resource } from "../../core/ports/cluster.ts";
import type { TargetCluster } from "../../core/ports/home-and-target.ts";
import { formatEntryId } from "./entry-id.ts";

/**
 * The metadata of every object with the owner's labels, by entry id; where listing is forbidden, of every object that was asked for and may
 * be read. An object that may not be read is left out: nothing is proven about it, and a prune reads it once more.
 */
export type LiveObjects = ReadonlyMap<string, PartialObject>;

/**
 * Reads the metadata of an owner's objects: one list per kind, with the owner labels as selector, in one namespace where all of the kind's
 * objects are in one. If listing is forbidden, single reads take its place.
 *
 * @param refs the objects that are wanted or in the inventory: they decide which kinds and namespaces to list
 */
export async function liveObjects(
  refs: readonly { readonly ref: ObjectRef; readonly resource: Resource }[],
  owner: LabelledName,
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<LiveObjects> {
  const byKind = Map.groupBy(refs, ({ ref }) => `${ref.group}/${ref.kind}`);
  const lists = await mapLimit(
    [...byKind.values()],
    8,
    (sameKind, stop) => listKind(sameKind, owner, cluster, stop),
    signal,
  );
  return new Map(lists.flat().map((object) => [formatEntryId(refOf(object)), object]));
}

async function listKind(
  sameKind: readonly { readonly ref: ObjectRef; readonly resource: Resource }[],
  owner: LabelledName,
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<readonly PartialObject[]> {
  const resource = sameKind[0]?.resource;
  if (resource === undefined) return [];
  const { group, version, kind } = resource;
  const namespaces = new Set(sameKind.map(({ ref }) => ref.namespace));
  const [only] = namespaces;
  const labelSelector = ownerSelector(owner);
  const within = resource.namespaced && namespaces.size === 1 && only !== undefined ? { namespace: only } : {};
  try {
    return await cluster.listMetadata({ group, version, kind, labelSelector, ...within }, signal);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "Forbidden")) throw error;
    return readEach(
      sameKind.map(({ ref }) => ({ ...ref, version })),
      cluster,
      signal,
    );
  }
}

async function readEach(
  refs: readonly VersionedRef[],
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<readonly PartialObject[]> {
  const read = async (ref: VersionedRef, stop: AbortSignal): Promise<PartialObject | undefined> => {
    try {
      const found = await cluster.get(ref, stop);
      // Without its content: a large set would be held whole for as long as the run lasts.
      return found && { apiVersion: found.apiVersion, kind: found.kind, metadata: found.metadata };
    } catch (error) {
      if (error instanceof ApiError && error.reason === "Forbidden") return undefined;
      throw error;
    }
  };
  const found = await mapLimit(refs, 8, read, signal);
  return found.filter((object) => object !== undefined);
}
