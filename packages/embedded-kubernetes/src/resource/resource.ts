import type { Gvk } from "../core/api-object.ts";
import type { ServedResource } from "../schema/builtin-schema.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import type { CustomVersion } from "./custom-version.ts";

/** A resource in one of its versions, as a request names it: built in, or by a CustomResourceDefinition. */
export interface Resource extends ServedResource {
  readonly listKind: string;
  /** Its place in the store, the same for all versions: `apps/deployments`. */
  readonly key: string;
  /** The version that objects are kept in. */
  readonly storage: Gvk;
  readonly custom: CustomVersion | undefined;
  /** Resolved when first asked for. */
  schema(): TypeSchema;
}

/** `v1`, `apps/v1`. */
export function apiVersionOf({ group, version }: Pick<Gvk, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** As errors name a resource: `configmaps`, `deployments.apps`. */
export function qualifiedName({ group, plural }: Pick<Resource, "group" | "plural">): string {
  return group === "" ? plural : `${plural}.${group}`;
}

export function hasStatus(resource: Resource): boolean {
  return resource.subresources.some(({ name }) => name === "status");
}
