import { formatDuration, parseDuration } from "../lib/core/duration.ts";
import { isJsonObject, type Json, type JsonObject, toJson } from "../lib/core/json.ts";
import { type Manifest, refOf } from "../lib/core/manifest.ts";
import { manager } from "./reconcile-object.ts";
import { defaultNamespace, type GlobalOptions, type Session, type Surroundings } from "./session.ts";

// What all commands that create objects share.

export interface Labelled {
  /** Each `key=value`. */
  readonly label?: readonly string[];
}

/** One letter is refused, too, as flux does it. */
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
  const { dump } = await import("js-yaml");
  return `---\n${dump(manifest, { sortKeys: true, lineWidth: -1 })}`;
}

/** A duration as Go writes it. Throws an error that names the option. */
export function durationOf(text: string, option: string): string {
  try {
    return formatDuration(parseDuration(text));
  } catch (error) {
    throw new Error(`invalid argument "${text}" for "${option}" flag: write it like 30s, 5m or 1h`, { cause: error });
  }
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
  const before = await cluster.get(ref, signal);
  if (before === undefined) {
    await cluster.create(manifest, { manager }, signal);
    return "created";
  }
  const { metadata, spec, stringData } = manifest;
  const body: JsonObject = {
    metadata: { labels: replacing(before.metadata.labels, metadata.labels ?? {}) },
    ...(spec === undefined ? {} : { spec: replacing(before["spec"], spec) }),
    ...(isJsonObject(stringData) ? { stringData } : {}),
  };
  await cluster.patch(ref, { type: "merge", body }, { manager }, signal);
  return "updated";
}

/** A merge patch that leaves of `before` nothing but `after`. */
function replacing(before: unknown, after: unknown): Json {
  if (!isJsonObject(after)) return toJson(after);
  const old = isJsonObject(before) ? before : {};
  const removed = Object.keys(old).filter((name) => !Object.hasOwn(after, name));
  return {
    ...Object.fromEntries(removed.map((name) => [name, null])),
    ...Object.fromEntries(Object.entries(after).map(([name, value]) => [name, replacing(old[name], value)])),
  };
}
