import { constructFromEvents, parseEvents, YAMLException } from "js-yaml";
import { Failure } from "../core/failure.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { refuseAliasBomb } from "./alias-bomb.ts";
import { type ArtifactTree, joinPath } from "./artifact-tree.ts";
import { goSchema } from "./go-yaml-schema.ts";
import { Unacceptable } from "./read-failure.ts";
import { yamlFault } from "./yaml-fault.ts";

/** The names kustomize knows, in the order in which Flux looks for them. */
const kustomizationFileNames = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** Past any kustomization that a person or a generator writes. */
const maxBytes = 512 * 1024;

/** The kustomization file of a folder, or undefined. */
export function kustomizationFileIn(tree: ArtifactTree, folder: string): string | undefined {
  return kustomizationFileNames.map((name) => joinPath(folder, name)).find((path) => tree.files.has(path));
}

/** Reads a kustomization file. It is written back as what was read, so that the engine sees nothing else than the fence saw. */
export function readKustomization(path: string, content: Uint8Array): JsonObject {
  if (content.length > maxBytes) throw refused(path, `it is larger than ${maxBytes} bytes`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    const events = parseEvents(text, { maxDepth: 100 });
    refuseAliasBomb(events, { text, line: 1 });
    // Of a field that is there twice kustomize takes the last, and of several documents the first.
    const options = { source: text, schema: goSchema, json: true, maxTotalMergeKeys: 1_000 };
    const [first] = constructFromEvents(events, options);
    // Through JSON: aliases become copies, dates and bytes never get past it.
    const value: unknown = JSON.parse(JSON.stringify(first ?? {}, exactly));
    if (!isJsonObject(value)) throw refused(path, "it is no mapping");
    return value;
  } catch (error) {
    if (error instanceof YAMLException) {
      throw refused(path, `yaml: line ${(error.mark?.line ?? 0) + 1}: ${yamlFault(error)}`, error);
    }
    if (error instanceof Unacceptable) throw refused(path, `yaml: line ${error.line}: ${error.message}`, error);
    if (error instanceof TypeError) throw refused(path, "yaml: invalid UTF-8", error);
    throw error;
  }
}

function exactly(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") throw new Unacceptable("a number past 2^53 would lose digits", 1);
  return value;
}

function refused(path: string, why: string, cause?: unknown): Failure {
  return new Failure("BuildFailed", `kustomize build failed: invalid Kustomization: ${path}: ${why}`, { cause });
}
