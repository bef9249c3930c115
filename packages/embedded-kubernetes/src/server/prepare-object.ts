import type { ApiObject, FieldError } from "../core/api-object.ts";
import { equal } from "../core/json.ts";
import { hasStatus, type Resource } from "../resource/resource.ts";
import { admitUpdate } from "../rules/admit.ts";
import { allocate, keepAllotted } from "../rules/allocate.ts";
import { canonicalObject } from "../rules/canonical-object.ts";
import { defaultObject } from "../rules/default-object.ts";
import { generationOf } from "../rules/generation.ts";
import { invalid } from "../rules/invalid.ts";
import type { KindFacts } from "../rules/kind-facts.ts";
import { prepareForCreate, prepareForUpdate } from "../rules/storage-strategy.ts";
import { validateCustom } from "../rules/validate-custom.ts";
import { validateObject } from "../rules/validate-object.ts";
import { warningsFor } from "../rules/warnings.ts";
import { type Cluster, metadataOf } from "./cluster.ts";
import { convertObject } from "./convert-object.ts";

/** An object as it will be kept, in the version it is kept in. */
export interface Prepared {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

export function kindFacts(resource: Resource): KindFacts {
  return { isBuiltin: resource.custom === undefined, hasStatus: hasStatus(resource) };
}

/**
 * What the kind's rules make of a new object that has its identity and defaults.
 *
 * @throws {StatusError} 422
 */
export function prepareNew(
  cluster: Cluster,
  resource: Resource,
  object: ApiObject,
  admit: (object: ApiObject) => ApiObject,
): Prepared {
  const facts = kindFacts(resource);
  const defaulted = defaultObject(prepareForCreate(object, resource, facts), resource, resource.schema());
  const kept = toStorage(admit(defaulted), resource);
  refuseInvalid(resource, kept, validate(cluster, resource, kept, undefined, undefined));
  const allotted = allocate(kept, undefined, resource.storage, cluster.allocator);
  return {
    object: withGeneration(allotted, generationOf(allotted, undefined, resource.storage, facts)),
    warnings: warningsFor(kept, resource.storage, undefined),
  };
}

/**
 * The same of a changed object; `before` is in the version it is kept in, `object` in the version of the request.
 *
 * @throws {StatusError} 422
 */
export function prepareChanged(
  cluster: Cluster,
  resource: Resource,
  object: ApiObject,
  before: ApiObject,
  subresource: string | undefined,
): Prepared {
  const facts = kindFacts(resource);
  const candidate = toStorage(object, resource);
  if (subresource === "finalize") return { object: { ...before, spec: candidate["spec"] ?? {} }, warnings: [] };
  const prepared = keepAllotted(
    prepareForUpdate(candidate, before, resource.storage, facts, subresource),
    before,
    resource.storage,
  );
  const schema = storageResource(cluster, resource).schema();
  const kept = admitUpdate(defaultObject(prepared, resource.storage, schema), resource.storage);
  refuseInvalid(resource, kept, validate(cluster, resource, kept, before, subresource));
  const allotted = subresource === "status" ? kept : allocate(kept, before, resource.storage, cluster.allocator);
  return {
    object: withGeneration(allotted, generationOf(allotted, before, resource.storage, facts)),
    warnings: equal(kept, before) ? [] : warningsFor(kept, resource.storage, before),
  };
}

function validate(
  cluster: Cluster,
  resource: Resource,
  object: ApiObject,
  old: ApiObject | undefined,
  subresource: string | undefined,
): readonly FieldError[] {
  const of = storageResource(cluster, resource);
  return of.custom === undefined
    ? validateObject(object, resource.storage, of.schema(), old, subresource)
    : validateCustom({
        object,
        old,
        openAPIV3Schema: of.custom.openAPIV3Schema,
        namespaced: of.namespaced,
        ...(subresource === undefined ? {} : { subresource }),
      });
}

/** The resource in the version that it is kept in; the asked one where that version is not served. */
function storageResource(cluster: Cluster, resource: Resource): Resource {
  const { group, version } = resource.storage;
  return cluster.resources.find(group, version, resource.plural) ?? resource;
}

function toStorage(object: ApiObject, resource: Resource): ApiObject {
  return convertObject(object, resource, resource.storage);
}

/** A custom resource loses what the schema of the version that it is kept in does not know. */
export function prunedForStorage(cluster: Cluster, resource: Resource, object: ApiObject): ApiObject {
  if (resource.custom === undefined || resource.version === resource.storage.version) return object;
  return canonicalObject(object, resource.storage, storageResource(cluster, resource).schema());
}

function refuseInvalid({ group, kind }: Resource, object: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const { name } = metadataOf(object);
  throw invalid({ group, kind }, typeof name === "string" ? name : "", errors);
}

function withGeneration(object: ApiObject, generation: number | undefined): ApiObject {
  const { generation: _generation, ...metadata } = metadataOf(object);
  return { ...object, metadata: generation === undefined ? metadata : { ...metadata, generation } };
}
