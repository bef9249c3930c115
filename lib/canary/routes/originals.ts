import { z } from "zod";
import { originalsAnnotation } from "../../api/names.ts";
import { formatJson, isJsonObject, type JsonObject } from "../../core/json.ts";
import type { LiveObject, Manifest } from "../../core/manifest.ts";
import type { Canary } from "../canary.ts";
import { kubectlAnnotation } from "../workload/metadata.ts";
import { annotationJson } from "../annotation-json.ts";
import { type Wanted } from "./changed-object.ts";
import { type Texts, fluxAnnotations, isOwned, isTakenOver } from "../ownership.ts";

/** Holds the spec of a VirtualService as it was before the Canary, for Flagger. */
export const flaggerOriginalAnnotation = "flagger.kubernetes.io/original-configuration";

/** The state of another owner's object before the Canary took it over. */
const Original = z.object({
  uid: z.string(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
  spec: z.custom<JsonObject>(isJsonObject),
});
type Original = z.infer<typeof Original>;

/** By KIND/NAME. */
const Originals = z.record(z.string(), Original);
export type Originals = Readonly<z.infer<typeof Originals>>;

/** For a route or an apex Service of another owner: reported and saved before the first write to it. */
export type TakeOver = (live: LiveObject) => Promise<void>;

/** The originals that an annotation of the Canary keeps; none if it is unreadable. The objects themselves stay as Flagger leaves them. */
export function originalsOf({ live }: Pick<Canary, "live">): Originals {
  return Originals.safeParse(annotationJson(live.metadata.annotations?.[originalsAnnotation])).data ?? {};
}

/** The annotation, extended by this object. */
export function withOriginal(
  before: Originals,
  live: LiveObject,
): { readonly originals: Originals; readonly text: string } {
  const { labels = {}, annotations = {}, uid } = live.metadata;
  const { [kubectlAnnotation]: _, ...others } = annotations;
  const original = { uid, labels, annotations: others, spec: isJsonObject(live["spec"]) ? live["spec"] : {} };
  const originals = { ...before, [keyOf(live.kind, live.metadata.name)]: original };
  return { originals, text: formatJson(originals) };
}

/** Whether the Canary keeps what an object of this name was. */
export function hasOriginal(kind: string, name: string, canary: Canary): boolean {
  return keyOf(kind, name) in originalsOf(canary);
}

/** The former state of this object; undefined if the object was created again since. */
function originalOf({ kind, metadata }: LiveObject, canary: Canary): Original | undefined {
  const original = originalsOf(canary)[keyOf(kind, metadata.name)];
  return original?.uid === metadata.uid ? original : undefined;
}

/** Whether another owner made it, and no step has written it yet. */
export function isUntouched(live: LiveObject, canary: Canary): boolean {
  return !isOwned(live, canary) && !isTakenOver(live) && originalOf(live, canary) === undefined;
}

/**
 * The state of the object after the Canary is deleted; undefined if the Canary does not know it. The spec comes from the last `kubectl
 * apply`, which may be newer (reference canary 16).
 *
 * @param fields of the spec that the Canary writes; all by default
 */
export function givenBack(live: LiveObject, canary: Canary, fields?: readonly string[]): Wanted | undefined {
  const original = originalOf(live, canary);
  if (original === undefined) return undefined;
  const spec = lastAppliedSpec(live) ?? original.spec;
  return {
    labels: fields === undefined ? original.labels : (live.metadata.labels ?? {}),
    annotations: { ...withoutOurs(live.metadata.annotations ?? {}, canary), ...original.annotations },
    spec: fields === undefined ? spec : withFields(live, spec, fields),
  };
}

function lastAppliedSpec({ metadata }: Manifest): JsonObject | undefined {
  const manifest = annotationJson(metadata.annotations?.[kubectlAnnotation]);
  const spec = isJsonObject(manifest) ? manifest["spec"] : undefined;
  return isJsonObject(spec) ? spec : undefined;
}

function withoutOurs(annotations: Texts, { spec }: Canary): Texts {
  const ours = { ...spec.service.apex?.annotations, ...fluxAnnotations, [flaggerOriginalAnnotation]: "" };
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !Object.hasOwn(ours, key)));
}

/** The spec of the object with these fields as another spec has them; one that this has not is removed. */
export function withFields(live: LiveObject, from: JsonObject, fields: readonly string[]): JsonObject {
  const spec = isJsonObject(live["spec"]) ? live["spec"] : {};
  const kept = Object.entries(spec).filter(([field]) => !fields.includes(field));
  const given = Object.entries(from).filter(([field]) => fields.includes(field));
  return Object.fromEntries([...kept, ...given]);
}

function keyOf(kind: string, name: string): string {
  return `${kind}/${name}`;
}
