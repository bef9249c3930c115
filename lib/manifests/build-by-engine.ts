import { posix } from "node:path";
import { Failure } from "../core/failure.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isJsonObject } from "../core/json.ts";
import { type Engine, EngineError, type EngineLimits } from "../core/ports/engine.ts";
import type { ArtifactTree } from "./artifact-tree.ts";
import type { BuildSpec } from "./build-spec.ts";
import { engineRefusal } from "./engine-refusal.ts";
import { fence } from "./fence.ts";
import { isList } from "./fields-named.ts";
import { kustomizationFileIn, readKustomization } from "./kustomization-file.ts";
import { parseOutputSafely } from "./off-thread.ts";
import { overlay } from "./overlay.ts";
import type { PlainFolder } from "./plain-folder.ts";
import { withinArtifact, workFolder } from "./work-folder.ts";

const engineLimits: EngineLimits = {
  timeoutMs: 20_000,
  maxMemoryBytes: 1024 * 1024 * 1024,
  maxOutputBytes: 64 * 1024 * 1024,
};
/** How many unknown fields Flux would overlook in one file before we call it something else than a kustomization. */
const maxUnknownFields = 20;

interface Deps {
  readonly engine: Engine;
  readonly workFolder: string;
}

/** Builds a folder with the engine. `plain`: what to list where the folder has no kustomization file of its own. */
export async function buildByEngine(
  tree: ArtifactTree,
  folder: string,
  spec: BuildSpec,
  plain: PlainFolder | undefined,
  deps: Deps,
  signal: AbortSignal,
): Promise<{ objects: readonly JsonObject[]; text: string }> {
  const top = overlay(startingPoint(tree, folder, plain), spec, tree, folder, plain !== undefined);
  const text = await runLeniently(tree, folder, top, plain !== undefined, deps, signal);
  const parsed = await parseOutputSafely(text, signal);
  switch (parsed.kind) {
    case "parsed":
      return { objects: parsed.objects, text };
    case "unacceptable":
      throw new Failure("BuildFailed", `kustomize build failed: ${parsed.why}`);
  }
}

function startingPoint(tree: ArtifactTree, folder: string, plain: PlainFolder | undefined): JsonObject {
  if (plain !== undefined) {
    // Flux's own trick: an empty kustomization is an error to kustomize, one with a namespace is not.
    return plain.resources.length > 0 ? { resources: plain.resources } : { namespace: "_placeholder" };
  }
  const file = kustomizationFileIn(tree, folder);
  const content = file === undefined ? undefined : tree.files.get(file);
  return file === undefined || content === undefined ? {} : readKustomization(file, content);
}

/** Flux overlooks unknown fields in the kustomization that it starts from, kustomize does not: they are dropped one by one. */
async function runLeniently(
  tree: ArtifactTree,
  folder: string,
  top: JsonObject,
  generated: boolean,
  deps: Deps,
  signal: AbortSignal,
): Promise<string> {
  let current = top;
  for (let attempt = 0; ; attempt++) {
    try {
      return await runOnce(tree, folder, current, deps, signal);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const unknown = /^invalid Kustomization: json: unknown field "([^"]+)"$/.exec(error.message)?.[1];
      if (unknown === undefined || knownSomewhere.has(unknown.toLowerCase()) || attempt >= maxUnknownFields) {
        throw engineRefusal(error, folder, generated);
      }
      current = dropField(current, unknown);
    }
  }
}

async function runOnce(
  tree: ArtifactTree,
  folder: string,
  top: JsonObject,
  deps: Deps,
  signal: AbortSignal,
): Promise<string> {
  await using work = await workFolder(deps.workFolder, tree, fence(tree, folder, top), signal);
  try {
    return await deps.engine.build(posix.join(work.path, folder), engineLimits, signal);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    // The folder is gone after the run, and its name would make every failure a new one.
    throw new EngineError(error.kind, withinArtifact(error.message, work.path), { cause: error });
  }
}

/** Names that mean something in one place of a kustomization and nothing in another: not to be dropped everywhere. */
const knownSomewhere = new Set(
  "annotations apiversion behavior create data digest disablenamesuffixhash env envs fieldpath fieldpaths fields fieldspecs files group immutable kind labels literals name namespace newname newtag options order pairs patch path reject resources select source sourcevalue tagsuffix target targets type value version".split(
    " ",
  ),
);

function dropField(object: JsonObject, name: string): JsonObject {
  const kept = Object.entries(object).filter(([key]) => key.toLowerCase() !== name.toLowerCase());
  return Object.fromEntries(kept.map(([key, value]) => [key, dropDeep(value, name)]));
}

function dropDeep(value: Json, name: string): Json {
  if (isList(value)) return value.map((item) => dropDeep(item, name));
  return isJsonObject(value) ? dropField(value, name) : value;
}
