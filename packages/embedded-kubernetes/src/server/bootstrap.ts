import type { ApiObject } from "../core/api-object.ts";
import { plainText } from "../core/plain-text.ts";
import type { Cluster } from "./cluster.ts";
import { createObject } from "./create-object.ts";
import { noSuchResource } from "./errors.ts";
import type { WriteOptions } from "./write-options.ts";

const options: WriteOptions = { dryRun: false, manager: "kube-apiserver", fieldValidation: "Warn", force: false };
const namespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];
/** Makes what every cluster has from the start, where it is missing, and forgets that it was made. */
export function bootstrap(cluster: Cluster): void {
  for (const name of namespaces) {
    ensure(cluster, "", "namespaces", "", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  for (const namespace of namespaces) {
    const metadata = { name: "default", namespace };
    ensure(cluster, "", "serviceaccounts", namespace, { apiVersion: "v1", kind: "ServiceAccount", metadata });
  }
  cluster.store.compact();
}

function ensure(cluster: Cluster, group: string, plural: string, namespace: string, object: ApiObject): void {
  const resource = cluster.resources.find(group, "v1", plural);
  if (resource === undefined) throw noSuchResource();
  const { metadata } = object;
  const name =
    typeof metadata === "object" && metadata !== null && "name" in metadata ? plainText(metadata["name"]) : "";
  if (cluster.store.get({ resource: resource.key, namespace, name }) !== undefined) return;
  createObject(cluster, resource, namespace, object, options);
}
