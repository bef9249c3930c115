import type { Gvk } from "../core/api-object.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { namedType, typesFile } from "./type-names.ts";
import type { TypeSchema } from "./type-schema.ts";

export interface ServedSubresource {
  /** After the slash: `status`, `scale`. */
  readonly name: string;
  /** Where its kind is of another group or version than the resource's: `autoscaling/v1` for Scale. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** What discovery tells of a resource in one of its versions. */
export interface ServedResource extends Gvk {
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly ServedSubresource[];
}

/** The version of the real server that the types were read from: `v1.35.4`. */
export const serverVersion = typesFile.serverVersion;

/** The built-in groups with their versions, preferred first, in the order of discovery; the core is not among them. */
export const builtinGroups = typesFile.groups;

/** What is known of a built-in kind, or `undefined` for any other. */
export function builtinSchema(gvk: Gvk): TypeSchema | undefined {
  const name = typesFile.kinds[`${gvk.group}/${gvk.version}/${gvk.kind}`];
  return name === undefined ? undefined : namedType(name);
}

/** Every built-in resource with its subresources, in the order of discovery. */
export const builtinResources: readonly ServedResource[] = Object.entries(typesFile.resources).flatMap(
  ([groupVersion, list]) => resourcesOf(groupVersion, list),
);

function resourcesOf(groupVersion: string, list: Json): readonly ServedResource[] {
  const listed = Array.isArray(list) ? list.filter((item) => isJsonObject(item)) : [];
  const slash = groupVersion.indexOf("/");
  const group = groupVersion.slice(0, Math.max(slash, 0));
  const version = groupVersion.slice(slash + 1);
  return listed
    .filter((resource) => !textOf(resource, "name").includes("/"))
    .map((resource) => {
      const plural = textOf(resource, "name");
      const subresources = listed.filter((other) => textOf(other, "name").startsWith(`${plural}/`));
      return {
        group,
        version,
        kind: textOf(resource, "kind"),
        plural,
        singular: textOf(resource, "singularName"),
        namespaced: resource["namespaced"] === true,
        verbs: textsOf(resource, "verbs"),
        shortNames: textsOf(resource, "shortNames"),
        categories: textsOf(resource, "categories"),
        subresources: subresources.map((other) => subresourceOf(other, plural, group, version)),
      };
    });
}

function subresourceOf(resource: JsonObject, plural: string, group: string, version: string): ServedSubresource {
  return {
    name: textOf(resource, "name").slice(plural.length + 1),
    group: resource["version"] === undefined ? group : textOf(resource, "group"),
    version: textOf(resource, "version") || version,
    kind: textOf(resource, "kind"),
    verbs: textsOf(resource, "verbs"),
  };
}

function textOf(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === "string" ? value : "";
}

function textsOf(object: JsonObject, field: string): readonly string[] {
  const value = object[field];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
