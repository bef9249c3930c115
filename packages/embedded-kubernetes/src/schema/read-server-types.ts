import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";

/** Discovery and OpenAPI v3 of a running server as one document: `{serverVersion, groups, resources, schemas}`. */
export async function readServerTypes(url: string): Promise<JsonObject> {
  const read = async (path: string): Promise<JsonObject> => {
    const response = await fetch(new URL(path, url), { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(`GET ${path}: ${response.status}`);
    const body: unknown = await response.json();
    if (!isJsonObject(body)) throw new Error(`GET ${path}: no JSON object`);
    return body;
  };
  const groups = listOf(await read("/apis"), "groups").map(groupOf);
  const groupVersions = groups.flatMap(({ name, versions }) => versions.map((version) => `${name}/${version}`));
  const resources: Record<string, Json> = {};
  const schemas: Record<string, Json> = {};
  for (const groupVersion of ["v1", ...groupVersions]) {
    const path = groupVersion === "v1" ? "api/v1" : `apis/${groupVersion}`;
    const listed = listOf(await read(`/${path}`), "resources");
    resources[groupVersion] = listed.map(withoutHash);
    const { components } = await read(`/openapi/v3/${path}`);
    Object.assign(schemas, isJsonObject(components) ? components["schemas"] : {});
  }
  const { gitVersion = null } = await read("/version");
  return { serverVersion: gitVersion, groups, resources, schemas };
}

function groupOf(group: JsonObject): { name: string; preferred: string; versions: readonly string[] } {
  const { name, preferredVersion } = group;
  const preferred = isJsonObject(preferredVersion) ? preferredVersion["version"] : undefined;
  if (typeof name !== "string" || typeof preferred !== "string") throw new Error("an API group without a name");
  return { name, preferred, versions: listOf(group, "versions").map(versionOf) };
}

function listOf(object: JsonObject, field: string): readonly JsonObject[] {
  const list = object[field];
  return Array.isArray(list) ? list.filter((item) => isJsonObject(item)) : [];
}

function versionOf({ version }: JsonObject): string {
  if (typeof version !== "string") throw new Error("an API group with a version without a name");
  return version;
}

function withoutHash(resource: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(resource).filter(([field]) => field !== "storageVersionHash"));
}
