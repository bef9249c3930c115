import { isJsonObject, type JsonObject } from "../core/json.ts";
import { type ArtifactTree, joinPath, resolveIn } from "./artifact-tree.ts";
import { insideArtifact, type Mention, refusal } from "./fence-path.ts";
import { asList, fieldsNamed, isList, textsNamed } from "./fields-named.ts";
import { kustomizationFileIn, readKustomization } from "./kustomization-file.ts";
import { pluginPaths, pluginRefusal, readPluginConfigs } from "./plugin-configs.ts";

const pathLists = ["resources", "bases", "components", "crds", "configurations"];
const pluginLists = ["generators", "transformers", "validators"];
const helmFields = ["helmCharts", "helmChartInflationGenerator", "helmGlobals"];
const noHelm = "helm charts are not inflated during a build";

/**
 * Looks at every kustomization file that a build of `folder` reaches, before the engine does: nothing may name a file out
 * of the artifact, an address, a helm chart or a program. Throws a `Failure` `BuildFailed` that names file, field and entry.
 *
 * Answers the files to write in place of the artifact's: what was scanned, written anew, so that the engine reads just
 * that and not what another YAML reader might make of the same bytes.
 */
export function fence(tree: ArtifactTree, folder: string, top: JsonObject): ReadonlyMap<string, string> {
  const rewritten = new Map<string, string>();
  const scan = (file: string, at: string, kustomization: JsonObject): void => {
    rewritten.set(file, "");
    const found = scanKustomization(tree, { file, folder: at }, kustomization);
    rewritten.set(file, JSON.stringify(found.kustomization));
    for (const [path, text] of found.pluginFiles) rewritten.set(path, text);
    for (const path of found.folders) visit(path);
  };
  const visit = (at: string): void => {
    const file = kustomizationFileIn(tree, at);
    const content = file === undefined ? undefined : tree.files.get(file);
    if (file === undefined || content === undefined || rewritten.has(file)) return;
    scan(file, at, readKustomization(file, content));
  };
  scan(kustomizationFileIn(tree, folder) ?? joinPath(folder, "kustomization.yaml"), folder, top);
  return rewritten;
}

interface Scanned {
  /** With inline plugin configurations written anew. */
  readonly kustomization: JsonObject;
  readonly pluginFiles: ReadonlyMap<string, string>;
  /** Folders with kustomizations of their own, perhaps. */
  readonly folders: readonly string[];
}

type Where = Pick<Mention, "file" | "folder">;

function scanKustomization(tree: ArtifactTree, where: Where, kustomization: JsonObject): Scanned {
  for (const field of Object.keys(kustomization)) {
    // Go folds a few letters outside ASCII onto ASCII ones when it matches the names of fields.
    if (!/^[\x20-\x7e]*$/.test(field)) throw refusal({ ...where, field }, "is no field of a kustomization");
  }
  for (const field of helmFields) {
    if (fieldsNamed(kustomization, field).length > 0) throw refusal({ ...where, field }, noHelm);
  }
  const paths = mentions(where, kustomization).map((mention) => insideArtifact(tree, mention));
  const pluginFiles = new Map<string, string>();
  const copy = { ...kustomization };
  for (const [field, value] of Object.entries(kustomization)) {
    if (!pluginLists.includes(field.toLowerCase()) || !isList(value)) continue;
    copy[field] = value.map((entry) =>
      typeof entry === "string" ? scanPlugin(tree, { ...where, field, entry }, pluginFiles) : entry,
    );
  }
  return { kustomization: copy, pluginFiles, folders: paths.filter((path) => tree.folders.has(path)) };
}

/** Every place in a kustomization that names a file or a folder, plugins aside. Field names in any case, as Go takes them. */
function mentions(where: Where, kustomization: JsonObject): Mention[] {
  const mention = (field: string, entries: readonly string[]): Mention[] =>
    entries.map((entry) => ({ ...where, field, entry }));
  return [
    ...pathLists.flatMap((field) => mention(field, textsNamed(kustomization, field))),
    ...["openapi", "patches", "patchesJson6902", "replacements"].flatMap((field) =>
      mention(field, inner(kustomization, field, "path")),
    ),
    ...mention(
      "patchesStrategicMerge",
      textsNamed(kustomization, "patchesStrategicMerge").filter((entry) => !isInline(entry)),
    ),
    ...["configMapGenerator", "secretGenerator"].flatMap((field) => [
      ...mention(field, inner(kustomization, field, "files").map(withoutKey)),
      ...mention(field, [...inner(kustomization, field, "envs"), ...inner(kustomization, field, "env")]),
    ]),
  ];
}

/** Looks at one plugin's configuration, inline or in a file, and answers the entry as it is to be written. */
function scanPlugin(tree: ArtifactTree, mention: Mention, pluginFiles: Map<string, string>): string {
  const { entry = "", folder } = mention;
  if (isInline(entry)) return scanConfigs(tree, mention, `${mention.file} (${mention.field})`, Buffer.from(entry));
  const path = insideArtifact(tree, mention);
  // A kustomization in between could patch the configuration that was looked at.
  if (tree.folders.has(path)) throw refusal(mention, "name the files of the plugins, not a folder");
  const content = tree.files.get(resolveIn(folder, entry) ?? "");
  if (content !== undefined) pluginFiles.set(path, scanConfigs(tree, mention, path, content));
  return entry;
}

function scanConfigs(tree: ArtifactTree, mention: Mention, origin: string, content: Uint8Array): string {
  const configs = readPluginConfigs(origin, content);
  for (const config of configs) {
    const why = pluginRefusal(config);
    if (why !== undefined) throw refusal(mention, why);
    for (const path of pluginPaths(config)) insideArtifact(tree, { ...mention, entry: path });
  }
  return configs.map((config) => `${JSON.stringify(config)}\n`).join("---\n");
}

function inner(kustomization: JsonObject, outer: string, field: string): string[] {
  return fieldsNamed(kustomization, outer)
    .flatMap(asList)
    .flatMap((item) => (isJsonObject(item) ? textsNamed(item, field) : []));
}

function isInline(entry: string): boolean {
  return entry.includes("\n") || entry.includes("{");
}

function withoutKey(entry: string): string {
  return entry.slice(entry.indexOf("=") + 1);
}
