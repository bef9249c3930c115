import { type Json, type JsonObject, toJson } from "../lib/core/json.ts";
import { type Manifest, refOf } from "../lib/core/manifest.ts";
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

/** As flux prints it. */
export async function yamlOf(manifest: Manifest): Promise<string> {
  const { safeYaml } = await import("./safe-yaml.ts");
  return `---\n${safeYaml(manifest, { sortKeys: true })}`;
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
export function metadataOf(name: string, namespace: string, { label = [] }: Labelled) {
  const labels = Object.fromEntries(
    label.map((text) => {
      const [, key, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
      if (key === undefined || value === undefined) {
        throw new Error(`invalid label format '${text}', must be key=value`);
      }
      return [key, value];
    }),
  );
  return { name, namespace, ...(label.length === 0 ? {} : { labels }) };
}

/** As flux: of an object that exists, the labels and the whole spec are overwritten; of a Secret what is given. */
export async function upsert(manifest: Manifest, { cluster, signal }: Session): Promise<"created" | "updated"> {
  const ref = refOf(manifest);
  if ((await cluster.get(ref, signal)) === undefined) {
    await cluster.create(manifest, { manager }, signal);
    return "created";
  }
  const { metadata, spec, stringData } = manifest;
  // A merge patch would remove what a spec sets to null, as values of Helm may do.
  const fields = { "/metadata/labels": metadata.labels ?? {}, "/spec": spec, "/stringData": stringData };
  const body = Object.entries(fields).flatMap(([path, value]) =>
    value === undefined ? [] : [{ op: "add", path, value: toJson(value) }],
  );
  await cluster.patch(ref, { type: "json", body }, { manager }, signal);
  return "updated";
}
