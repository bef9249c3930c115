import type { JsonObject } from "./json.ts";
import { parseApiVersion, type VersionedRef } from "./object-ref.ts";

/** The fields of `metadata` that Sluice reads. All others are passed on unchanged. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** One entry of `metadata.managedFields`: a manager and the fields that it owns. */
export interface ManagedFieldsEntry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: JsonObject;
  readonly subresource?: string;
}

/** An object as its author wrote it or as the cluster answered it. `spec`, `data` and all other fields stay untyped JSON. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

/** An object that a cluster answered. It exists, or would exist after a dry run, so it has a uid. */
export interface LiveObject extends Manifest {
  readonly metadata: Metadata & { readonly uid: string };
}

export function refOf(manifest: Pick<Manifest, "apiVersion" | "kind" | "metadata">): VersionedRef {
  const { group, version } = parseApiVersion(manifest.apiVersion);
  const { name, namespace = "" } = manifest.metadata;
  return { group, version, kind: manifest.kind, namespace, name };
}
