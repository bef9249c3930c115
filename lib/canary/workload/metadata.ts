import { createHash } from "node:crypto";
import { canonicalJson, type JsonObject, toJsonObject } from "../../core/json.ts";
import type { LiveObject, Manifest, OwnerReference } from "../../core/manifest.ts";
import { type Canary, canaryText } from "../canary.ts";
import { StepFault } from "../step-fault.ts";
import { objectAt, textAt } from "./fields.ts";

export type Texts = Readonly<Record<string, string>>;

/** Part of the keys by which Flux knows what it owns. No primary has them: it would be reverted or pruned. */
const fluxMarker = "toolkit.fluxcd.io";

/** In the annotations of the primary's pods: another one rolls them. */
const idKey = "flagger-id";

/** What `kubectl apply` has written last: what an object of somebody else was before. */
export const kubectlAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

interface ControllerReference extends OwnerReference {
  readonly controller: boolean;
  readonly blockOwnerDeletion: boolean;
}

/** Makes the Canary the owner, so that the cluster deletes the object with it. */
export function controllerReference({ live, name, uid }: Pick<Canary, "live" | "name" | "uid">): ControllerReference {
  const { apiVersion, kind } = live;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * Throws a `StepFault` for an object of a Canary of the same name that was deleted: the cluster is about to remove it. Flagger takes it for its
 * own, and scales the target to zero; then nothing serves once the object is gone.
 *
 * @param what how messages name the object
 */
export function refuseFormer({ metadata }: Manifest, { live, name, uid }: Canary, what: string): void {
  const { ownerReferences: owners = [] } = metadata;
  const isFormer = (owner: OwnerReference): boolean =>
    owner.kind === live.kind && owner.name === name && owner.uid !== uid;
  if (owners.length === 0 || !owners.every(isFormer)) return;
  throw new StepFault(
    `${what} belongs to a Canary ${name} that was deleted: it is made anew once the cluster has removed it`,
  );
}

/**
 * Throws a `StepFault` for an object that this Canary has not made: what somebody else needs would be lost. Flagger overwrites it.
 *
 * @param what how messages name the object
 * @param mend what to do instead of letting the Canary write it
 */
export function refuseForeign(object: Manifest, canary: Canary, what: string, mend: string): void {
  if (isOwnedBy(object, canary.name)) return;
  throw new StepFault(
    `${what} is not made by Canary ${canaryText(canary)}, so it is not written: rename it, delete it${mend}`,
  );
}

/** Whether a Canary of this name, or of any, is among the owners. */
export function isOwnedBy({ metadata: { ownerReferences = [] } }: Manifest, name?: string): boolean {
  return ownerReferences.some((owner) => owner.kind === "Canary" && (name === undefined || owner.name === name));
}

/** Whether nothing owns it, as is left where its Canary is deleted without its objects. */
export function isOwnerless({ metadata: { ownerReferences = [] } }: Manifest): boolean {
  return ownerReferences.length === 0;
}

/** The patch that makes the Canary the owner of this very object. One that was made anew since it was read has another uid: it is refused. */
export function adoption({ metadata: { uid } }: LiveObject, canary: Canary): JsonObject {
  return toJsonObject({ metadata: { uid, ownerReferences: [controllerReference(canary)] } });
}

export function withoutFlux(texts: Texts): Texts {
  return filtered(texts, (key) => !key.includes(fluxMarker));
}

/** Those that `-include-label-prefix` lets through; Flux's never are. */
export function included(texts: Texts, prefixes: readonly string[]): Texts {
  const isIncluded = (key: string): boolean =>
    prefixes.some((prefix) => prefix === "*" || (prefix !== "" && key.startsWith(prefix)));
  return filtered(withoutFlux(texts), isIncluded);
}

/** The labels with that of the selector as the primary has it. */
export function primaryLabels(labels: Texts, { label, labelValue }: { label: string; labelValue: string }): Texts {
  return { ...withoutFlux(labels), [label]: `${labelValue}-primary` };
}

export function podAnnotations(annotations: Texts, id: string): Texts {
  return { ...withoutFlux(annotations), [idKey]: id };
}

/** The id of the pods of a template; empty without one. */
export function podsIdOf(template: JsonObject): string {
  return textAt(objectAt(template, "metadata", "annotations"), idKey);
}

/**
 * The id of what the primary runs, as a UUID. Flagger makes a random one for each promotion. Here it says which template and which
 * configs are promoted in which run: a promotion that was interrupted and is repeated does not restart the pods once more.
 */
export function idOf({ uid, status }: Pick<Canary, "uid" | "status">, content: unknown): string {
  const begunAt = status.conditions?.find(({ type }) => type === "Promoted")?.lastTransitionTime ?? "";
  const digest = createHash("sha256")
    .update(canonicalJson([uid, begunAt, content]))
    .digest("hex");
  const variant = ((Number.parseInt(digest.slice(16, 17), 16) % 4) + 8).toString(16);
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `4${digest.slice(13, 16)}`];
  return [...parts, `${variant}${digest.slice(17, 20)}`, digest.slice(20, 32)].join("-");
}

function filtered(texts: Texts, isKept: (key: string) => boolean): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => isKept(key)));
}

/** The name of the last manager but us that owns a field of the object or one below it; undefined if there is none. */
export function writerOf({ metadata }: LiveObject, path: readonly string[], own: string): string | undefined {
  const entries = (metadata.managedFields ?? []).filter(
    ({ manager, fieldsV1, subresource = "" }) =>
      manager !== own && subresource !== "status" && fieldsV1 !== undefined && isAt(fieldsV1, path),
  );
  return entries.toSorted((a, b) => ((a.time ?? "") < (b.time ?? "") ? -1 : 1)).at(-1)?.manager;
}

function isAt(fields: JsonObject, path: readonly string[]): boolean {
  const [last = "", ...before] = path.toReversed();
  return Object.hasOwn(objectAt(fields, ...before.toReversed()), last);
}
