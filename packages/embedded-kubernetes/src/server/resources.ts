import { customResources } from "../crd/custom-resources.ts";
import { comparePriority } from "../resource/custom-version.ts";
import type { Resource } from "../resource/resource.ts";
import { builtinGroups, builtinResources, builtinSchema, type ServedResource } from "../schema/builtin-schema.ts";
import type { Store } from "../store/store.ts";
import { parseStored, type StoredObject } from "../store/stored-object.ts";

export const definitionsKey = "apiextensions.k8s.io/customresourcedefinitions";

export interface GroupVersions {
  readonly name: string;
  /** The preferred one first. */
  readonly versions: readonly string[];
  readonly isBuiltin: boolean;
}

/** Which resources the server has now. */
export interface Resources {
  find(group: string, version: string, plural: string): Resource | undefined;
  /** By kind, for owner references and the like. */
  findKind(group: string, version: string, kind: string): Resource | undefined;
  /** The core not among them; built-in ones first, then by name. */
  groups(): readonly GroupVersions[];
  group(name: string): GroupVersions | undefined;
  /** Of one group and version, in the order of discovery. */
  of(group: string, version: string): readonly Resource[];
  /** Each resource once, in the version that it is stored in. */
  stored(): readonly Resource[];
  /** Counts up when a definition changes, so that documents made of it can be remembered. */
  generation(): number;
}

/** What a definition in this revision defines. */
interface Defined {
  readonly revision: number;
  readonly resources: readonly Resource[];
}

/** Kinds that are kept in another group or version than they are asked in. */
const storedElsewhere: Readonly<
  Record<string, { readonly key: string; readonly group: string; readonly version: string }>
> = {
  "autoscaling/v1/horizontalpodautoscalers": {
    key: "autoscaling/horizontalpodautoscalers",
    group: "autoscaling",
    version: "v2",
  },
  "events.k8s.io/v1/events": { key: "/events", group: "", version: "v1" },
};

export function resourcesIn(store: Store): Resources {
  const builtins = new Map(builtinResources.map(builtin).map((resource) => [nameOf(resource), resource]));
  let generation = 0;
  let customs = new Map<string, Resource>();
  let known = new Map<string, Defined>();

  // Only what has changed is read: definitions are long, and an installation writes many of them.
  const readDefinition = ({ resource, namespace, name, revision }: StoredObject): readonly [string, Defined] => {
    const before = known.get(name);
    if (before?.revision === revision) return [name, before];
    const stored = store.get({ resource, namespace, name });
    return [name, { revision, resources: stored === undefined ? [] : customResources(definitionOf(stored)) }];
  };
  const readDefinitions = (): void => {
    generation += 1;
    known = new Map(store.list({ resource: definitionsKey, metadataOnly: true }).map(readDefinition));
    const found = [...known.values()].flatMap(({ resources }) => resources);
    // A served version without its storage version could not read its objects.
    customs = new Map(found.map((resource) => [nameOf(resource), resource]));
  };
  readDefinitions();
  store.subscribe((event) => {
    if (event.resource === definitionsKey) readDefinitions();
  });

  const all = (): readonly Resource[] => [...builtins.values(), ...customs.values()];
  const customGroups = (): readonly GroupVersions[] => {
    const versions = new Map<string, string[]>();
    for (const { group, version } of customs.values()) {
      const known = versions.get(group) ?? [];
      if (!known.includes(version)) known.push(version);
      versions.set(group, known);
    }
    return [...versions]
      .map(([name, list]) => ({ name, versions: list.toSorted(comparePriority), isBuiltin: false }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  };
  const groups = (): readonly GroupVersions[] => [
    ...builtinGroups.map(({ name, preferred, versions }) => ({
      name,
      versions: [preferred, ...versions.filter((version) => version !== preferred)],
      isBuiltin: true,
    })),
    ...customGroups(),
  ];

  return {
    find: (group, version, plural) => {
      const name = `${group}/${version}/${plural}`;
      return builtins.get(name) ?? customs.get(name);
    },
    findKind: (group, version, kind) =>
      all().find((resource) => resource.group === group && resource.version === version && resource.kind === kind),
    groups,
    group: (name) => groups().find((group) => group.name === name),
    of: (group, version) => {
      const resources = all().filter((resource) => resource.group === group && resource.version === version);
      return resources.toSorted((a, b) => (a.plural < b.plural ? -1 : 1));
    },
    stored: () => all().filter(({ group, version, storage }) => group === storage.group && version === storage.version),
    generation: () => generation,
  };
}

function definitionOf(stored: StoredObject) {
  return parseStored(stored, "apiextensions.k8s.io/v1", "CustomResourceDefinition");
}

function nameOf({ group, version, plural }: Pick<Resource, "group" | "version" | "plural">): string {
  return `${group}/${version}/${plural}`;
}

function builtin(resource: ServedResource): Resource {
  const { group, version, kind, plural } = resource;
  const elsewhere = storedElsewhere[nameOf(resource)];
  return {
    ...resource,
    listKind: `${kind}List`,
    key: elsewhere?.key ?? `${group}/${plural}`,
    storage: elsewhere === undefined ? { group, version, kind } : { ...elsewhere, kind },
    custom: undefined,
    schema() {
      const schema = builtinSchema({ group, version, kind });
      if (schema === undefined) throw new TypeError(`types.json lacks ${group}/${version} ${kind}`);
      return schema;
    },
  };
}
