import type { ApiObject } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { objectOf } from "../core/json-fields.ts";
import type { Controller, Tools } from "./controller.ts";
import type { ResourceName } from "./controller-client.ts";
import {
  finalizersOf,
  isDeleting,
  isSameResource,
  nameOf,
  namespaceOf,
  sameJson,
  timestamp,
  uidOf,
  withConditions,
} from "./object-facts.ts";

const namespaces = { group: "", resource: "namespaces" };
const serviceAccounts = { group: "", resource: "serviceaccounts" };
const configMaps = { group: "", resource: "configmaps" };
const rootCertificateName = "kube-root-ca.crt";
const rootCertificateDescription =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** Gives each namespace its default objects, and empties one that is being deleted before it goes. */
export function namespaceController(rootCertificate: string): Controller {
  return {
    name: "namespaces",
    keysOf: (event) => {
      if (isSameResource(event, namespaces)) return event.type === "DELETED" ? [] : [nameOf(event.object)];
      return event.type === "DELETED" && namespaceOf(event.object) !== "" ? [namespaceOf(event.object)] : [];
    },
    reconcile(name, tools) {
      const namespace = tools.client.get(namespaces, "", name);
      if (namespace === undefined) return;
      if (isDeleting(namespace)) empty(namespace, tools);
      else furnish(name, rootCertificate, tools);
    },
  };
}

function furnish(namespace: string, rootCertificate: string, { client }: Tools): void {
  if (client.get(serviceAccounts, namespace, "default") === undefined) {
    client.create(serviceAccounts, namespace, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace },
    });
  }
  if (client.get(configMaps, namespace, rootCertificateName) === undefined) {
    client.create(configMaps, namespace, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: rootCertificateName,
        namespace,
        annotations: { "kubernetes.io/description": rootCertificateDescription },
      },
      data: { "ca.crt": rootCertificate },
    });
  }
}

interface Remaining {
  readonly resource: ResourceName;
  readonly objects: readonly ApiObject[];
}

function empty(namespace: ApiObject, tools: Tools): void {
  const { client } = tools;
  const name = nameOf(namespace);
  const resources = client.kinds().filter(({ namespaced }) => namespaced);
  for (const resource of resources) {
    for (const object of client.list(resource, name)) {
      if (!isDeleting(object)) {
        client.delete(resource, name, nameOf(object), {
          uid: uidOf(object),
          propagationPolicy: "Background",
          gracePeriodSeconds: 0,
        });
      }
    }
  }
  const remaining = resources
    .map((resource) => ({ resource, objects: client.list(resource, name) }))
    .filter(({ objects }) => objects.length > 0);
  if (remaining.length === 0) client.finalizeNamespace({ ...namespace, spec: { finalizers: [] } });
  else report(namespace, remaining, tools);
}

/** The five conditions that tell what an unfinished deletion waits for. */
function report(namespace: ApiObject, remaining: readonly Remaining[], { client, now }: Tools): void {
  const status = objectOf(namespace, "status") ?? {};
  const conditions = withConditions(status, conditionsOf(remaining), timestamp(now()));
  if (sameJson(conditions, status["conditions"])) return;
  client.update(namespaces, { ...namespace, status: { ...status, conditions } }, { subresource: "status" });
}

function conditionsOf(remaining: readonly Remaining[]): readonly JsonObject[] {
  const counts = remaining.map(
    ({ resource: { group, resource }, objects }) => `${resource}.${group} has ${objects.length} resource instances`,
  );
  const finalizers = countsOf(remaining.flatMap(({ objects }) => objects.flatMap((object) => finalizersOf(object))));
  return [
    condition(
      "NamespaceDeletionDiscoveryFailure",
      false,
      "ResourcesDiscovered",
      "All resources successfully discovered",
    ),
    condition(
      "NamespaceDeletionGroupVersionParsingFailure",
      false,
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    condition(
      "NamespaceDeletionContentFailure",
      false,
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    condition(
      "NamespaceContentRemaining",
      true,
      "SomeResourcesRemain",
      `Some resources are remaining: ${counts.toSorted().join(", ")}`,
    ),
    finalizers.length === 0
      ? condition(
          "NamespaceFinalizersRemaining",
          false,
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        )
      : condition(
          "NamespaceFinalizersRemaining",
          true,
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${finalizers.join(", ")}`,
        ),
  ];
}

function countsOf(finalizers: readonly string[]): readonly string[] {
  return [...new Set(finalizers)]
    .toSorted()
    .map(
      (finalizer) => `${finalizer} in ${finalizers.filter((other) => other === finalizer).length} resource instances`,
    );
}

function condition(type: string, isTrue: boolean, reason: string, message: string): JsonObject {
  return { type, status: isTrue ? "True" : "False", reason, message };
}
