import { parseApiVersion } from "../core/api-object.ts";
import { versionsOf as builtinVersions, type Versions } from "../fields/versions.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import type { Cluster } from "./cluster.ts";

/** How managers that wrote in another version of the kind see an object. */
export function versionsOf({ resources }: Cluster, resource: Resource): Versions {
  if (resource.custom === undefined) return builtinVersions(resource, resource.schema());
  const other = (apiVersion: string): Resource | undefined => {
    const { group, version } = parseApiVersion(apiVersion);
    return resources.find(group, version, resource.plural);
  };
  return {
    schemaOf: (apiVersion) => other(apiVersion)?.schema(),
    convert: (object, apiVersion) =>
      apiVersion === apiVersionOf(resource) || other(apiVersion) !== undefined ? { ...object, apiVersion } : undefined,
  };
}
