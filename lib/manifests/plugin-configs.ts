import { CORE_SCHEMA, constructFromEvents, mergeTag, parseEvents, YAMLException } from "js-yaml";
import { Failure } from "../core/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { refuseAliasBomb } from "./alias-bomb.ts";
import { isList } from "./fields-named.ts";
import { Unacceptable } from "./read-failure.ts";

/** Fields of kustomize's own generators, transformers and validators that name files. */
const pathFields = /^(path|paths|files|envs?|valuesfile|additionalvaluesfiles)$/i;

/** The configurations of plugins in a text. What cannot be read cannot be judged: a {@link Failure} `BuildFailed`. */
export function readPluginConfigs(origin: string, content: Uint8Array): JsonObject[] {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    const events = parseEvents(text, { maxDepth: 100 });
    refuseAliasBomb(events, { text, line: 1 });
    const schema = CORE_SCHEMA.withTags(mergeTag);
    const values: unknown = JSON.parse(JSON.stringify(constructFromEvents(events, { source: text, schema })));
    return Array.isArray(values) ? values.filter(isJsonObject) : [];
  } catch (error) {
    if (!(error instanceof YAMLException || error instanceof Unacceptable || error instanceof TypeError)) throw error;
    const message = `kustomize build failed: ${origin} cannot be read: ${error.message}`;
    throw new Failure("BuildFailed", message, { cause: error });
  }
}

/** Why a plugin must not run here, or undefined for one of kustomize's own. */
export function pluginRefusal({ kind, metadata }: JsonObject): string | undefined {
  if (kind === "HelmChartInflationGenerator") return "helm charts are not inflated during a build";
  const annotations = isJsonObject(metadata) ? (metadata["annotations"] ?? {}) : {};
  const isFunction = Object.keys(annotations).some((key) => /^config\.(kubernetes|k8s)\.io\/function$/i.test(key));
  return isFunction ? "plugins that run a program or a container are not allowed" : undefined;
}

/** Every text of a configuration that kustomize could load as a file, `key=path` entries both whole and cut. */
export function pluginPaths(config: JsonObject): string[] {
  return textsUnder(config, false).flatMap((text) => [text, text.slice(text.indexOf("=") + 1)]);
}

function textsUnder(value: Json, isPath: boolean): string[] {
  if (typeof value === "string") return isPath && !value.includes("\n") ? [value] : [];
  if (isList(value)) return value.flatMap((item) => textsUnder(item, isPath));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsUnder(inner, isPath || pathFields.test(key)));
}
