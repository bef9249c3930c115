import { isJsonObject } from "../core/json.ts";
import type { Resource } from "../resource/resource.ts";
import { parseStored } from "../store/stored-object.ts";
import type { Cluster } from "./cluster.ts";
import { forbidden, notFound } from "./errors.ts";

/**
 * A new object needs its namespace, and one that is not being deleted.
 *
 * @throws {StatusError} 404 or 403
 */
export function checkNamespace(cluster: Cluster, resource: Resource, namespace: string, name: string): void {
  if (!resource.namespaced) return;
  const stored = cluster.store.get({ resource: "/namespaces", namespace: "", name: namespace });
  if (stored === undefined) throw notFound({ group: "", plural: "namespaces" }, namespace);
  const { metadata } = parseStored(stored, "v1", "Namespace");
  if (!isJsonObject(metadata) || metadata["deletionTimestamp"] === undefined) return;
  throw forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    {
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    },
  );
}
