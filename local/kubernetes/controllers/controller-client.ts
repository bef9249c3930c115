import type { ApiObject } from "../api-object.ts";

/** A resource by group and plural, in its stored version. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

export interface ServedKind extends ResourceName {
  /** The version objects are read and written in. */
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface ObjectEvent extends ResourceName {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: ApiObject;
}

export interface WriteOptions {
  readonly subresource?: "status";
}

export interface DeleteOptions {
  readonly uid?: string;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
}

/**
 * The API server as its controllers see it, in process: the same write path as HTTP (defaults, validation, managed
 * fields), by the manager `kube-controller-manager`. Objects carry apiVersion and kind and are never mutated.
 * Writes throw `StatusError`; an update carries the resourceVersion it was made from, so a lost race is a 409.
 */
export interface ControllerClient {
  /** All kinds served now that can be listed and deleted, custom ones too. */
  kinds(): readonly ServedKind[];
  get(resource: ResourceName, namespace: string, name: string): ApiObject | undefined;
  /** Without a namespace: all of them. */
  list(resource: ResourceName, namespace?: string): readonly ApiObject[];
  create(resource: ResourceName, namespace: string, object: ApiObject): Promise<ApiObject>;
  update(resource: ResourceName, object: ApiObject, options?: WriteOptions): Promise<ApiObject>;
  delete(resource: ResourceName, namespace: string, name: string, options?: DeleteOptions): Promise<void>;
  /** PUT to `/finalize` of a Namespace: sets `spec.finalizers`; empty ones end a terminating Namespace. */
  finalizeNamespace(object: ApiObject): Promise<void>;
  /** Every committed change of every resource from now on, in order. The listener must not throw. */
  subscribe(listener: (event: ObjectEvent) => void): () => void;
}
