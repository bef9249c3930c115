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

/** The limit for one file: each is parsed and merged by itself. */
export const maxDocuments = 1_000;

/** The mode that Flux writes. */
const mode = 0o644;

/**
 * The YAML file that comes of merging one into another: mappings are merged, everything else is replaced, and the result is written
 * with sorted keys and without comments. Throws an `Error` that quotes neither file.
 */
export async function mergeFiles(base: TreeFile, overlay: TreeFile, budget: Budget): Promise<TreeFile> {
  const merging = new Merging();
  // The source's faults first, as in Flux.
  const source = await readFile(overlay, merging, budget);
  const destination = await readFile(base, merging, budget);
  merging.into(destination, source);
  await budget.spend(1);
  const text = goYamlText(destination);
  if (text === undefined)
    throw new Error("failed to merged YAML: it has a key or a text that is too long to be written");
  const bytes = Buffer.from(text === "" ? "{}\n" : text);
  return { type: "file", mode, read: async () => bytes };
}

type Mapping = Record<string, Json>;

/** All documents of a file, each merged into those before it. */
async function readFile(file: TreeFile, merging: Merging, budget: Budget): Promise<Mapping> {
  const bytes = await file.read();
  if (bytes.length > budget.limits.maxMergedBytes) {
    const allowed = `${budget.limits.maxMergedBytes} are allowed`;
    throw new RangeError(`a file of ${bytes.length} bytes is too large to be merged: ${allowed}`);
  }
  const documents = documentsIn(Buffer.from(bytes).toString());
  if (documents.length > maxDocuments) {
    const allowed = `${maxDocuments} are allowed`;
    throw new RangeError(`a file of ${documents.length} documents is too long to be merged: ${allowed}`);
  }
  const sum: Mapping = {};
  for (const document of documents) {
    merging.into(sum, readMapping(document));
    await budget.spend(document.length);
  }
  return sum;
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

/** Merges mappings in place; one that a document has, which an alias may share, is copied before it is changed. */
class Merging {
  readonly #copies = new WeakMap<object, Mapping>();

  into(target: Mapping, overlay: JsonObject): void {
    for (const [key, value] of Object.entries(overlay)) {
      if (key === "__proto__") throw new Error("cannot unmarshal YAML document: a field is named __proto__");
      const present = target[key];
      if (isJsonObject(value) && present !== undefined && isJsonObject(present)) {
        const copy = this.#copyOf(present);
        target[key] = copy;
        this.into(copy, value);
      } else target[key] = value;
    }
  }

  #copyOf(mapping: JsonObject): Mapping {
    const own = this.#copies.get(mapping);
    if (own !== undefined) return own;
    const copy = { ...mapping };
    this.#copies.set(copy, copy);
    return copy;
  }
}
