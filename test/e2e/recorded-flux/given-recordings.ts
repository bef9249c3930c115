import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "js-yaml";
import { z } from "zod";
import { isJsonObject, type Json, type JsonObject, toJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { fixtures } from "./recording.ts";

/*
 * Recordings that the project was given have the metadata of an applied object and the managers of its fields, and for some, in
 * `notes`, their content. Those that `test/interop/flux-recorder` makes have whole objects.
 */

const GivenScenarios = z.strictObject({
  played: z.array(z.string()),
});

let given: Promise<z.infer<typeof GivenScenarios>> | undefined;

/** Every scenario that the project was given. */
export function givenScenarios(): Promise<z.infer<typeof GivenScenarios>> {
  given ??= readFile(join(fixtures, "given.yaml"), "utf8").then((text) => GivenScenarios.parse(load(text)));
  return given;
}

export async function isGiven(scenario: string): Promise<boolean> {
  return (await givenScenarios()).played.includes(scenario);
}

const Gone = z.object({ kind: z.string(), name: z.string(), answer: z.string() });
const There = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
const Seen = z.union([Gone.strict(), There]);
/** A request that was sent to the receiver, and its answer. */
const Delivery = z.strictObject({
  why: z.string().optional(),
  request: z.strictObject({
    method: z.string(),
    path: z.string(),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.string().optional(),
  }),
  answer: z.strictObject({ status: z.number(), type: z.string().optional(), body: z.string() }),
});
export type Delivery = z.infer<typeof Delivery>;
const Given = z.object({
  requests: z.array(Delivery).default([]),
  objects: z.array(Seen),
  events: z.array(z.looseObject({ times: z.number().optional() })).default([]),
  managed: z.array(Seen).default([]),
  notes: z.union([z.string(), z.record(z.string(), z.json())]).optional(),
});

/** By the name of an object, as `namedObject` reads it: what the recording says that it holds. */
export type Notes = Readonly<Record<string, Json>>;

/** Which objects a given step looks at, by names that `namedObject` reads. */
export function lookedAt(step: JsonObject, namespace: string) {
  const { objects, managed, notes, requests } = Given.parse(step);
  const names = managed.map(nameOf);
  const named = (key: string): string => {
    const [kind = "", name = ""] = key.split("/");
    const own = names.find((one) => one.endsWith(` ${kind} ${namespace}/${name}`));
    return own ?? `${builtInVersions[kind] ?? ""} ${kind} ${namespace}/${name}`;
  };
  const noted =
    typeof notes === "object" ? Object.entries(notes).map(([key, note]) => [named(key), note] as const) : [];
  return { objects: objects.map(nameOf), managed: names, notes: Object.fromEntries(noted), requests };
}

const builtInVersions: Readonly<Record<string, string>> = { ConfigMap: "v1", Deployment: "apps/v1", Service: "v1" };

function nameOf(seen: z.infer<typeof Seen>): string {
  if ("answer" in seen && typeof seen.answer === "string") {
    const path = /^GET \/apis?\/(?<version>[^ ]+?)\/(?:namespaces\/(?<namespace>[^/]+)\/)?[^/]+\/[^/]+: 404/.exec(
      seen.answer,
    );
    if (path?.groups === undefined) throw new Error(`not understood: ${seen.answer}`);
    const { version = "", namespace = "" } = path.groups;
    return `${version} ${seen.kind} ${namespace}/${String(seen["name"])}`;
  }
  const { apiVersion, kind, metadata } = There.parse(seen);
  return `${apiVersion} ${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

/** A given step in the form in which {@link givenManaged} and {@link givenNote} show what is there. */
export function readGiven(step: JsonObject, namespace: string) {
  const { objects, events, managed } = Given.parse(step);
  const shown = (seen: z.infer<typeof Seen>): JsonObject =>
    "answer" in seen ? { gone: nameOf(seen) } : toJsonObject(z.record(z.string(), z.json()).parse(seen));
  return {
    objects: objects.map(shown),
    events: events.map(({ times: _times, ...event }) => event),
    managed: managed.map((seen) => ("answer" in seen ? shown(seen) : givenManaged(toJsonObject(shown(seen))))),
    notes: lookedAt(step, namespace).notes,
  };
}

/** What clusters do by themselves, each in its own time. */
const ofTheCluster = /^(?:kube-|kwok)/;
const told = ["name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"];

/** The metadata of an applied object, with who manages fields of it. */
export function givenManaged({ apiVersion = "", kind = "", metadata }: JsonObject): JsonObject {
  const { managedFields, ...fields } = isJsonObject(metadata) ? metadata : {};
  const managers = (Array.isArray(managedFields) ? managedFields : [])
    .filter(isJsonObject)
    .filter(({ manager }) => typeof manager !== "string" || !ofTheCluster.test(manager))
    .map(({ manager = "", operation = "", apiVersion: version = "", subresource }) => ({
      manager,
      operation,
      apiVersion: version,
      ...(subresource === undefined ? {} : { subresource }),
    }));
  const kept = Object.entries(fields).filter(([key]) => told.includes(key));
  return { apiVersion, kind, metadata: { ...Object.fromEntries(kept), managedFields: managers } };
}

/** What a live object holds, in the form of this note: all of a part, or of a Pod template its images and some settings. */
export function givenNote(live: LiveObject | undefined, note: Json): Json {
  if (live === undefined) return "gone (404)";
  if (!isJsonObject(note)) return live.metadata.deletionTimestamp === undefined ? "there" : "terminating";
  const { spec, ...object } = toJsonObject(live);
  const template = isJsonObject(spec) && isJsonObject(spec["template"]) ? spec["template"] : {};
  const pod = isJsonObject(template["spec"]) ? template["spec"] : {};
  const containers = Array.isArray(pod["containers"]) ? pod["containers"].filter(isJsonObject) : [];
  const parts: JsonObject = {
    ...pod,
    images: containers.map(({ image = "" }) => image),
    ...object,
    ...(spec === undefined ? {} : { spec }),
  };
  return Object.fromEntries(Object.keys(note).map((key) => [key, parts[key] ?? null]));
}
