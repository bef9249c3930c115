import type { Resource } from "../core/ports/cluster.ts";
import { ApiError } from "../core/ports/cluster.ts";

/** The path of all objects of a kind, in one namespace where one is given. */
export function collectionPath(
  { group, version, plural, namespaced }: Resource,
  namespace: string | undefined,
): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const within = namespaced && namespace !== undefined && namespace !== "";
  return within ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`;
}

/** The path of one object, or of a subresource of it. A cluster-scoped kind leaves out a namespace that the ref may have. */
export function objectPath(
  resource: Resource,
  { namespace, name }: { namespace: string; name: string },
  subresource?: string,
): string {
  if (resource.namespaced && namespace === "") {
    const message = `${resource.kind}/${name} has no namespace, which its kind needs: set metadata.namespace`;
    throw new ApiError({ code: 400, reason: "BadRequest", message });
  }
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
