import {
  boolYaml11Tag,
  constructFromEvents,
  floatYaml11Tag,
  intYaml11Tag,
  mapTag,
  mergeTag,
  nullYaml11Tag,
  parseEvents,
  Schema,
  seqTag,
  strTag,
  YAMLException,
} from "js-yaml";
import { isJsonObject, type Json, type JsonObject, toJson } from "../../core/json.ts";
import { refuseAliasBomb } from "../../manifests/alias-bomb.ts";
import { goYamlText } from "../../manifests/go-yaml/emit.ts";
import { maxDepth } from "../../manifests/read-document.ts";
import { Unacceptable, yamlFault } from "../../manifests/read-failure.ts";
import type { TreeFile } from "./file-tree.ts";
import type { Budget } from "./generator-limits.ts";

/** YAML 1.1 as Go reads it into plain values: a time is a string. */
const schema = new Schema([
  strTag,
  seqTag,
  mapTag,
  nullYaml11Tag,
  boolYaml11Tag,
  intYaml11Tag,
  floatYaml11Tag,
  mergeTag,
]);

/** The mode that Flux writes. */
const mode = 0o644;

/**
 * The YAML file that comes of merging one into another: mappings are merged, everything else is replaced, and the result is written
 * with sorted keys and without comments. Throws an `Error` that quotes neither file.
 */
export async function mergeFiles(base: TreeFile, overlay: TreeFile, budget: Budget): Promise<TreeFile> {
  // The source's faults first, as in Flux.
  const source = await readFile(overlay, budget);
  const destination = await readFile(base, budget);
  const text = goYamlText(merged(destination, source));
  if (text === undefined)
    throw new Error("failed to merged YAML: it has a key or a text that is too long to be written");
  const bytes = Buffer.from(text === "" ? "{}\n" : text);
  return { type: "file", mode, read: async () => bytes };
}

async function readFile(file: TreeFile, { limits, spend }: Budget): Promise<JsonObject> {
  const bytes = await file.read();
  if (bytes.length > limits.maxMergedBytes) {
    throw new RangeError(
      `a file of ${bytes.length} bytes is too large to be merged: ${limits.maxMergedBytes} are allowed`,
    );
  }
  await spend(bytes.length);
  return mergedDocuments(Buffer.from(bytes).toString());
}

/** All documents of a text, each merged into those before it. */
function mergedDocuments(text: string): JsonObject {
  return documentsIn(text).reduce<JsonObject>((sum, document) => merged(sum, readMapping(document)), {});
}

/** As Kubernetes splits them: at a line of three dashes, with or without a comment. */
function documentsIn(text: string): readonly string[] {
  return text.split(/^---[ \t\r]*(?:#.*)?$/mu);
}

function readMapping(text: string): JsonObject {
  const value = readYaml(text);
  if (value === null) return {};
  if (isJsonObject(value)) return value;
  const what = Array.isArray(value) ? "array" : typeof value;
  const into = "into Go value of type map[string]interface {}";
  throw new Error(`cannot unmarshal YAML document: error unmarshaling JSON: json: cannot unmarshal ${what} ${into}`);
}

function readYaml(text: string): Json {
  try {
    const events = parseEvents(text, { maxDepth });
    refuseAliasBomb(events, { text, line: 1 });
    const [document = null, second] = constructFromEvents(events, { source: text, schema });
    if (second !== undefined) throw new Unacceptable("it has several documents without a separator", 1);
    return toJson(document);
  } catch (error) {
    const why =
      error instanceof YAMLException
        ? `line ${(error.mark?.line ?? 0) + 1}: ${yamlFault(error)}`
        : error instanceof Unacceptable
          ? `line ${error.line}: ${error.message}`
          : undefined;
    if (why === undefined) throw error;
    throw new Error(`cannot unmarshal YAML document: error converting YAML to JSON: yaml: ${why}`, { cause: error });
  }
}

function merged(base: JsonObject, overlay: JsonObject): JsonObject {
  const out = new Map<string, Json>(Object.entries(base));
  for (const [key, value] of Object.entries(overlay)) {
    const present = out.get(key);
    const areMappings = isJsonObject(value) && isJsonObject(present);
    out.set(key, areMappings ? merged(present, value) : value);
  }
  return Object.fromEntries(out);
}
