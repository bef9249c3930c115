import { toJsonObject } from "../../../core/json.ts";
import { parseApiVersion } from "../../../core/object-ref.ts";
import type { Lookup } from "../../../core/ports/helm-engine.ts";
import type { TargetCluster } from "../../../core/ports/home-and-target.ts";

/**
 * Answers `lookup` of templates as Helm does, with the rights of the release: an object, `{}` if there is none, and without a name
 * the list of all objects in the namespace, or in the cluster if there is no namespace.
 */
export function lookupIn(cluster: TargetCluster): Lookup {
  return async ({ apiVersion, kind, name, namespace }, signal) => {
    const { group, version } = parseApiVersion(apiVersion);
    const resource = await cluster.resource({ group, kind, version }, signal);
    if (resource === undefined) {
      throw new Error(
        `unable to get apiresource from unstructured: ${apiVersion}, Kind=${kind}: the server does not serve it`,
      );
    }
    const within = resource.namespaced ? namespace : "";
    if (name !== "") {
      const found = await cluster.get({ group, version, kind, namespace: within, name }, signal);
      return found && toJsonObject(found);
    }
    const query = { group, version, kind, ...(within === "" ? {} : { namespace: within }) };
    const items = await cluster.list(query, signal);
    return { apiVersion, kind: `${kind}List`, metadata: {}, items: items.map((item) => toJsonObject(item)) };
  };
}
