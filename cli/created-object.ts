import { type Json, type JsonObject, toJson, toJsonObject } from "../lib/core/json.ts";
import { labelKeyProblems, labelValueProblem } from "../lib/core/label-query.ts";
import { type LiveObject, type Manifest, refOf } from "../lib/core/manifest.ts";
import type { Patch } from "../lib/core/ports/cluster.ts";
import { escapedJson, yamlWriter } from "./object-documents.ts";
import { manager } from "./reconcile-object.ts";
import { defaultNamespace, type GlobalOptions, type Session, type Surroundings } from "./session.ts";

// What all commands that create objects share.

export interface Labelled {
  /** Each `key=value`. */
  readonly label?: readonly string[];
}

/** One letter is refused too, as in flux. */
const namePattern = /^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/;

/** Throws for a name that no object may have. */
export function checkName(name: string | undefined): asserts name is string {
  if (name === undefined) throw new Error("name is required");
  if (namePattern.test(name)) return;
  const rule = "the name can only contain alphanumeric characters or '-'";
  throw new Error(`name '${name}' is invalid, it should adhere to standard defined in RFC 1123, ${rule}`);
}

/** The namespace of an object that is only printed: no cluster is asked. */
export function exportNamespace({ namespace }: GlobalOptions, { env, terminal }: Surroundings): string {
  return namespace ?? defaultNamespace(env, terminal);
}

/** Byte for byte as flux prints it, without characters that turn the text of a terminal around: those are escaped. */
export async function yamlOf(manifest: Manifest): Promise<string> {
  const { goYamlText } = await import("../lib/manifests/go-yaml/emit.ts");
  const fields = toJsonObject(manifest);
  const text = goYamlText(fields);
  if (text !== undefined && escapedJson(text) === text) return `---\n${text}`;
  const safeYaml = await yamlWriter();
  return `---\n${safeYaml(fields, { sortKeys: true })}`;
}

/** The fields that are given. */
export function withoutUndefined(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** A Secret with the labels of the options. */
export function secretOf(
  name: string,
  namespace: string,
  data: Readonly<Record<string, string>>,
  options: Labelled,
): Manifest {
  return { apiVersion: "v1", kind: "Secret", metadata: metadataOf(name, namespace, options), stringData: { ...data } };
}

/** Name, namespace and the labels of the options. */
export function metadataOf(name: string, namespace: string, options: Labelled) {
  return { name, namespace, ...labelsOf(options) };
}

/** The labels of the options, if there are any. Throws for one that no object may have. */
export function labelsOf({ label = [] }: Labelled): { readonly labels?: Readonly<Record<string, string>> } {
  return label.length === 0 ? {} : { labels: Object.fromEntries(label.map(labelOf)) };
}

function labelOf(text: string): readonly [key: string, value: string] {
  const [key = "", value, ...more] = text.split("=");
  if (value === undefined || more.length > 0) throw new Error(`invalid label format '${text}', must be key=value`);
  const keyProblems = labelKeyProblems(key);
  if (keyProblems.length > 0) throw new Error(`invalid label '${key}': ${keyProblems.join("; ")}`);
  const problem = labelValueProblem(value);
  if (problem !== undefined) throw new Error(`invalid label value '${value}': ${problem}`);
  return [key, value];
}

/**
 * As flux: of an object that exists, the labels and the whole spec are overwritten. A Secret keeps its labels, annotations and values
 * beside those that are given. Throws for a Secret that exists with another type.
 */
export async function upsert(manifest: Manifest, { cluster, signal }: Session): Promise<"created" | "updated"> {
  const ref = refOf(manifest);
  const live = await cluster.get(ref, signal);
  if (live === undefined) {
    await cluster.create(manifest, { manager }, signal);
    return "created";
  }
  if (manifest.kind === "Secret") checkType(manifest, live);
  await cluster.patch(
    ref,
    manifest.kind === "Secret" ? mergedSecret(manifest) : overwritten(manifest),
    { manager },
    signal,
  );
  return "updated";
}

/** The API server changes no type, and keeps the old one where a patch does not name it. */
function checkType({ metadata: { name, namespace = "" }, type }: Manifest, live: LiveObject): void {
  const { type: former = "Opaque" } = live;
  if (typeof type !== "string" || typeof former !== "string" || type === former) return;
  const mend = "delete it, or choose another name";
  throw new Error(`Secret ${namespace}/${name} is of type ${former}, which cannot be changed to ${type}: ${mend}`);
}

function mergedSecret({ metadata: { labels = {}, annotations = {} }, stringData }: Manifest): Patch {
  const body = { metadata: { labels, annotations }, stringData: toJson(stringData ?? {}) };
  return { type: "merge", body };
}

/** A merge patch would remove what a spec sets to null, as values of Helm may do. */
function overwritten({ metadata, spec }: Manifest): Patch {
  const fields = { "/metadata/labels": metadata.labels ?? {}, "/spec": spec };
  const body = Object.entries(fields).flatMap(([path, value]) =>
    value === undefined ? [] : [{ op: "add", path, value: toJson(value) }],
  );
  return { type: "json", body };
}
