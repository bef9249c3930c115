import type { JsonObject } from "../core/json.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import type { GroupVersions, Resources } from "../server/resources.ts";

/** `GET /apis/GROUP`; without a `kind` as an item of `GET /apis`. */
export function groupDocument({ name, versions }: GroupVersions): JsonObject {
  const list = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: list, preferredVersion: list[0] ?? null };
}

/** `GET /api/v1`, `GET /apis/GROUP/VERSION`. */
export function resourceListDocument(resources: readonly Resource[], groupVersion: string): JsonObject {
  // A built-in resource has its subresources in alphabetical order, a custom one has its status first.
  const list = resources
    .toSorted((a, b) => (a.plural < b.plural ? -1 : 1))
    .flatMap((resource) => [resourceEntry(resource), ...subresourceEntries(resource)]);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: list };
}

interface Entry extends JsonObject {
  readonly name: string;
}

function resourceEntry(resource: Resource): Entry {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories } = resource;
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
}

function subresourceEntries(resource: Resource): readonly Entry[] {
  return resource.subresources.map(({ name, group, version, kind, verbs }) => ({
    name: `${resource.plural}/${name}`,
    singularName: "",
    namespaced: resource.namespaced,
    ...(group === resource.group && version === resource.version ? {} : { group, version }),
    kind,
    verbs,
  }));
}

/** `GET /api` or `GET /apis` as one aggregated document. */
export function aggregatedDocument(resources: Resources, groups: readonly GroupVersions[]): JsonObject {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === "" ? {} : { name },
      versions: versions.map((version) => ({
        version,
        resources: resources.of(name, version).map(aggregatedEntry),
        freshness: "Current",
      })),
    })),
  };
}

function aggregatedEntry(resource: Resource): JsonObject {
  const { plural, kind, group, version, custom, namespaced, singular, verbs, shortNames, categories } = resource;
  // Built-in resources leave group and version empty where they are the document's own.
  const own = custom === undefined ? { group: "", version: "", kind } : { group, version, kind };
  const subresources = resource.subresources.map((subresource) => ({
    subresource: subresource.name,
    responseKind:
      apiVersionOf(subresource) === apiVersionOf(resource)
        ? { ...own, kind: subresource.kind }
        : { group: subresource.group, version: subresource.version, kind: subresource.kind },
    verbs: subresource.verbs,
  }));
  return {
    resource: plural,
    responseKind: own,
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}
