import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import { plainText } from "../server/plain-text.ts";

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
  return `${plainText(spec["group"])}/${plainText(name)} ${kind} is deprecated`;
}

function pathOf(path: Json | undefined): string {
  return typeof path === "string" ? path.replace(/^\./, "") : "";
}

function objects(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter((item) => isJsonObject(item)) : [];
}
