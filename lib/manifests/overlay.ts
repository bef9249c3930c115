import { Failure } from "../core/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { type ArtifactTree, resolveIn } from "./artifact-tree.ts";
import type { BuildSpec, SpecImage } from "./build-spec.ts";
import { asList } from "./fields-named.ts";

/**
 * A kustomization with what the spec asks of it (reference 3.9), in Flux's order. `generated`: Sluice wrote it, so it has
 * nothing yet; else it is the artifact's own file.
 */
export function overlay(
  file: JsonObject,
  spec: BuildSpec,
  tree: ArtifactTree,
  folder: string,
  generated: boolean,
): JsonObject {
  const isBare = !generated && asEntries(file["resources"]).length === 0;
  const patches = [
    ...asEntries(file["patches"]),
    ...(spec.patches ?? []).map(({ patch, target }) => ({ patch, ...(target && { target: { ...target } }) })),
  ];
  const components = [...asEntries(file["components"]), ...wantedComponents(spec, tree, folder)];
  const images = mergeImages(asEntries(file["images"]), spec.images ?? []);
  const buildMetadata = (spec.buildMetadata ?? []).length > 0 ? [...(spec.buildMetadata ?? [])] : undefined;
  return {
    ...asText(file),
    apiVersion: file["apiVersion"] ?? "kustomize.config.k8s.io/v1beta1",
    kind: file["kind"] ?? "Kustomization",
    // kubectl sorts by kind unless told otherwise; Flux keeps the order of the files.
    sortOptions: file["sortOptions"] ?? { order: "fifo" },
    // Flux does so to have an otherwise empty file build; that it shows in generated objects is kept.
    ...(isBare && { buildMetadata: ["originAnnotations"] }),
    ...(spec.targetNamespace !== undefined && { namespace: spec.targetNamespace }),
    ...(spec.namePrefix !== undefined && { namePrefix: spec.namePrefix }),
    ...(spec.nameSuffix !== undefined && { nameSuffix: spec.nameSuffix }),
    ...(patches.length > 0 && { patches }),
    ...(components.length > 0 && { components }),
    ...(images.length > 0 && { images }),
    ...(buildMetadata && { buildMetadata }),
  };
}

const remotePrefixes = ["git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/"];

function wantedComponents(spec: BuildSpec, tree: ArtifactTree, folder: string): string[] {
  return (spec.components ?? []).filter((component) => {
    const lower = component.toLowerCase();
    const isRemote = remotePrefixes.some((prefix) => lower.length > prefix.length && lower.startsWith(prefix));
    if (isRemote || component.startsWith("/") || lower.startsWith("file:///")) {
      throw new Failure("BuildFailed", `component path '${component}' must be local and relative`);
    }
    const path = resolveIn(folder, component);
    const exists = path !== undefined && (tree.folders.has(path) || tree.files.has(path));
    return exists || spec.ignoreMissingComponents !== true;
  });
}

/** The tag and the digest choose the version together: setting one clears the other. */
function mergeImages(entries: readonly Json[], wanted: readonly SpecImage[]): Json[] {
  const images: Json[] = entries.map((entry) => (isJsonObject(entry) ? asText(entry) : entry));
  for (const { name, newName = "", newTag = "", digest = "" } of wanted) {
    const index = images.findIndex((image) => isJsonObject(image) && image["name"] === name);
    const present = images[index];
    if (!isJsonObject(present)) {
      images.push({ name, ...filled({ newName, newTag, digest }) });
      continue;
    }
    const { newTag: _tag, digest: _digest, ...unversioned } = present;
    const versioned = newTag !== "" || digest !== "" ? { ...unversioned, ...filled({ newTag, digest }) } : present;
    images[index] = { ...versioned, ...filled({ newName }) };
  }
  return images;
}

function filled(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
}

const textFields = ["namespace", "namePrefix", "nameSuffix", "name", "newName", "newTag", "digest"];

/** Flux reads its file leniently: a number or a boolean where a text belongs becomes one. */
function asText(object: JsonObject): { [key: string]: Json } {
  const copy: { [key: string]: Json } = { ...object };
  for (const field of textFields) {
    const value = copy[field];
    if (typeof value === "number" || typeof value === "boolean") copy[field] = String(value);
  }
  return copy;
}

function asEntries(value: Json | undefined): readonly Json[] {
  return value === undefined || value === null ? [] : asList(value);
}
