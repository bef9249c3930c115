import type { ApiObject } from "../core/api-object.ts";

/** A resource by group and plural, in its stored version. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

interface ServedKind extends ResourceName {
  /** The version objects are read and written in. */
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

interface WriteOptions {
  readonly subresource?: "status";
}

export interface ObjectEvent extends ResourceName {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: ApiObject;
}

interface DeleteOptions {
  readonly uid?: string;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
}

/**
 * The API server as its controllers see it, in process: the same write path as HTTP (defaults, validation, managed
 * fields), by the manager `kube-controller-manager`. Objects carry apiVersion and kind and are never mutated. Every
 * call is synchronous and throws `StatusError`; an update carries the resourceVersion it was made from.
 */
export interface ControllerClient {
  /** All resources served now that can be listed and deleted, custom ones too, each once. */
  kinds(): readonly ServedKind[];
  get(resource: ResourceName, namespace: string, name: string): ApiObject | undefined;
  /** Without a namespace: all of them. */
  list(resource: ResourceName, namespace?: string): readonly ApiObject[];
  create(resource: ResourceName, namespace: string, object: ApiObject): ApiObject;
  update(resource: ResourceName, object: ApiObject, options?: WriteOptions): ApiObject;
  delete(resource: ResourceName, namespace: string, name: string, options?: DeleteOptions): void;
  /** PUT to `/finalize` of a Namespace: sets its `spec.finalizers`; without any a terminating one is gone. */
  finalizeNamespace(object: ApiObject): void;
  /** Every committed change of every resource from now on, in order. The listener must not throw. */
  subscribe(listener: (event: ObjectEvent) => void): () => void;
}
