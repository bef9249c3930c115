import { readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";
import { isJsonObject, type JsonObject, toJson } from "../../../lib/core/json.ts";
import { builtinResources, builtinSchema } from "../../../packages/embedded-kubernetes/src/schema/builtin-schema.ts";
import type { TypeSchema } from "../../../packages/embedded-kubernetes/src/schema/type-schema.ts";

/** The object that a sequence of requests is about. */
export interface Subject {
  readonly kind: string;
  readonly name: string;
  /** Path of the collection it lies in. */
  readonly collection: string;
  readonly object: JsonObject;
  /** Absent for a custom resource. */
  readonly schema: TypeSchema | undefined;
  /** Whether controllers write to such an object as soon as it is there. */
  readonly isControlled: boolean;
  readonly hasScale: boolean;
  readonly hasStatus: boolean;
}

const basesText = readFileSync(new URL("bases.yaml", import.meta.url), "utf8");
const definitionText = readFileSync(new URL("widget-definition.yaml", import.meta.url), "utf8");

const controlledKinds = new Set(
  "Deployment StatefulSet DaemonSet Job CronJob Pod HorizontalPodAutoscaler PodDisruptionBudget Namespace".split(" "),
);

/** How many different objects there are to begin with. */
export const baseCount = parseAllDocuments(basesText).length;

/** The definition of the custom resources, whose group is made unique by `suffix`. */
export function widgetDefinition(suffix: string): JsonObject {
  return jsonObject(parse(definitionText.replaceAll("SUFFIX", suffix)));
}

export function subjectOf(base: number, name: string, namespace: string, suffix: string): Subject {
  const text = basesText.replaceAll("NAME", name).replaceAll("SUFFIX", `${name}.${suffix}`);
  const document = parseAllDocuments(text)[base];
  const object = jsonObject(document?.toJS());
  const kind = textOf(object, "kind");
  const apiVersion = textOf(object, "apiVersion").replace(`${name}.`, "");
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  const resource = builtinResources.find(
    (each) => each.kind === kind && each.group === group && each.version === version,
  );
  const prefix = group === "" ? `/api/${version}` : `/apis/${apiVersion}`;
  const scope = resource?.namespaced === false ? "" : `/namespaces/${namespace}`;
  const subresources = resource?.subresources.map((each) => each.name) ?? ["status", "scale"];
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  return {
    kind,
    name: textOf(metadata, "name"),
    collection: `${prefix}${scope}/${resource?.plural ?? "widgets"}`,
    object: { ...object, apiVersion },
    schema: resource === undefined ? undefined : builtinSchema({ group, version, kind }),
    isControlled: controlledKinds.has(kind),
    hasScale: subresources.includes("scale"),
    hasStatus: subresources.includes("status"),
  };
}

function jsonObject(value: unknown): JsonObject {
  const json = toJson(value);
  if (!isJsonObject(json)) throw new TypeError("a base is no object");
  return json;
}

function textOf(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === "string" ? value : "";
}
