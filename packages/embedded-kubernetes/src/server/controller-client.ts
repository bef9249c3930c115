import type { ControllerClient, ResourceName } from "../controllers/controller-client.ts";
import { plainText } from "../core/plain-text.ts";
import type { Resource } from "../resource/resource.ts";
import { type Cluster, metadataOf, parseKept, readObject } from "./cluster.ts";
import { convertObject } from "./convert-object.ts";
import { createObject } from "./create-object.ts";
import { deleteObject } from "./delete-object.ts";
import { noSuchResource } from "./errors.ts";
import { replaceObject } from "./update-object.ts";
import type { WriteOptions } from "./write-options.ts";

const options: WriteOptions = {
  dryRun: false,
  manager: "kube-controller-manager",
  fieldValidation: "Ignore",
  force: false,
};

/** The cluster as its controllers see it: in process, through the same write path as HTTP. */
export function controllerClient(cluster: Cluster): ControllerClient {
  const { store, resources } = cluster;
  let known: { readonly generation: number; readonly resources: ReadonlyMap<string, Resource> } | undefined;
  const byKey = (): ReadonlyMap<string, Resource> => {
    const generation = resources.generation();
    if (known?.generation !== generation) {
      known = { generation, resources: new Map(resources.stored().map((one) => [one.key, one])) };
    }
    return known.resources;
  };
  const find = ({ group, resource }: ResourceName): Resource => {
    const found = byKey().get(`${group}/${resource}`);
    if (found === undefined) throw noSuchResource();
    return found;
  };
  return {
    kinds: () =>
      resources
        .stored()
        .filter(({ verbs }) => verbs.includes("list") && verbs.includes("delete"))
        .map(({ group, plural, version, kind, namespaced }) => ({
          group,
          resource: plural,
          version,
          kind,
          namespaced,
        })),
    get: (name, namespace, object) => readObject(cluster, find(name), namespace, object),
    list(name, namespace) {
      const resource = find(name);
      return store.list({ resource: resource.key, namespace }).map((stored) => parseKept(resource, stored));
    },
    create: (name, namespace, object) => createObject(cluster, find(name), namespace, object, options).object,
    update(name, object, { subresource } = {}) {
      const { name: objectName = "", namespace = "" } = metadataOf(object);
      const target = {
        resource: find(name),
        namespace: plainText(namespace),
        name: plainText(objectName),
        subresource,
      };
      return replaceObject(cluster, target, object, options).object;
    },
    delete(name, namespace, object, { uid, propagationPolicy, gracePeriodSeconds } = {}) {
      deleteObject(cluster, find(name), namespace, object, {
        dryRun: false,
        gracePeriodSeconds,
        propagationPolicy,
        uid,
        resourceVersion: undefined,
      });
    },
    finalizeNamespace(object) {
      const { name = "" } = metadataOf(object);
      const resource = find({ group: "", resource: "namespaces" });
      replaceObject(
        cluster,
        { resource, namespace: "", name: plainText(name), subresource: "finalize" },
        object,
        options,
      );
    },
    subscribe: (listener) =>
      store.subscribe(({ type, resource: key, current }) => {
        const resource = byKey().get(key);
        if (resource === undefined) return;
        const { group, plural } = resource;
        const object = convertObject(parseKept(resource, current), resource.storage, resource);
        listener({ type, group, resource: plural, object });
      }),
  };
}
