import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";

export interface ScalePaths {
  /** Dotted, without the leading dot: `spec.replicas`. */
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector: string | undefined;
}

/** What one version of a CustomResourceDefinition says besides its names. */
export interface CustomVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly openAPIV3Schema: JsonObject;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  readonly printerColumns: readonly JsonObject[];
  /** JSON paths without the leading dot. */
  readonly selectableFields: readonly string[];
  readonly deprecationWarning: string | undefined;
}

/** Reads `spec.versions[]` of a definition that has passed validation. */
export function customVersions(spec: JsonObject): readonly CustomVersion[] {
  return objects(spec["versions"]).map((version) => {
    const { subresources, schema } = version;
    const parts = isJsonObject(subresources) ? subresources : {};
    const openAPIV3Schema = isJsonObject(schema) ? schema["openAPIV3Schema"] : undefined;
    return {
      name: plainText(version["name"]),
      served: version["served"] === true,
      storage: version["storage"] === true,
      openAPIV3Schema: isJsonObject(openAPIV3Schema) ? openAPIV3Schema : { type: "object" },
      hasStatus: isJsonObject(parts["status"]),
      scale: isJsonObject(parts["scale"]) ? scalePaths(parts["scale"]) : undefined,
      printerColumns: objects(version["additionalPrinterColumns"]),
      selectableFields: objects(version["selectableFields"]).map(({ jsonPath }) => pathOf(jsonPath)),
      deprecationWarning: version["deprecated"] === true ? warningOf(version, spec) : undefined,
    };
  });
}

function scalePaths({ specReplicasPath, statusReplicasPath, labelSelectorPath }: JsonObject): ScalePaths {
  return {
    specReplicas: pathOf(specReplicasPath),
    statusReplicas: pathOf(statusReplicasPath),
    labelSelector: labelSelectorPath === undefined ? undefined : pathOf(labelSelectorPath),
  };
}

function warningOf(version: JsonObject, spec: JsonObject): string {
  const { deprecationWarning, name } = version;
  if (typeof deprecationWarning === "string") return deprecationWarning;
  const kind = isJsonObject(spec["names"]) ? plainText(spec["names"]["kind"]) : "";
  const group = plainText(spec["group"]);
  const own = plainText(name);
  const [better] = objects(spec["versions"])
    .filter((one) => one["served"] === true && one["deprecated"] !== true)
    .map((one) => plainText(one["name"]))
    .filter((one) => comparePriority(one, own) < 0)
    .toSorted(comparePriority);
  const advice = better === undefined ? "" : `; use ${group}/${better} ${kind}`;
  return `${group}/${own} ${kind} is deprecated${advice}`;
}

function pathOf(path: Json | undefined): string {
  return typeof path === "string" ? path.replace(/^\./, "") : "";
}

function objects(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter((item) => isJsonObject(item)) : [];
}

const stability = ["alpha", "beta", "ga"];

/** Sorts versions as Kubernetes does, the best first: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`, then others by name. */
export function comparePriority(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  for (const [index, value] of left.entries()) {
    const difference = (right[index] ?? 0) - value;
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : 1;
}

function rankOf(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [-1, 0, 0];
  return [stability.indexOf(match[2] ?? "ga"), Number(match[1]), Number(match[3] ?? 0)];
}
