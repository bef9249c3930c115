import { isJsonObject, type JsonObject, toJsonObject } from "../../core/json.ts";
import type { LiveObject, Manifest, OwnerReference } from "../../core/manifest.ts";
import { refOf } from "../../core/manifest.ts";
import { mergePatch } from "../../core/merge-patch.ts";
import { canaryManager, type StepDeps } from "../canary-deps.ts";
import { type Canary, canaryText } from "../canary.ts";
import { StepFault } from "../step-fault.ts";

export type Words = Readonly<Record<string, string>>;

/** They tell Flux to leave the object alone (reference canary 8). */
export const fluxAnnotations: Words = {
  "helm.toolkit.fluxcd.io/driftDetection": "disabled",
  "kustomize.toolkit.fluxcd.io/reconcile": "disabled",
};

/** The object that controls this one. */
export function controllerOf({ metadata }: Manifest): OwnerReference | undefined {
  return metadata.ownerReferences?.find((owner) => "controller" in owner && owner.controller === true);
}

/** By name and not by uid, as Flagger: the objects of a Canary that was made again serve until the cluster has collected them. */
export function isOwned(object: Manifest, { name }: Canary): boolean {
  const controller = controllerOf(object);
  return controller?.kind === "Canary" && controller.name === name;
}

/** Flagger would overwrite it: then two write the same routes in turn, and requests go to either's pods. */
export function refuseOwnedByOthers(object: Manifest, canary: Canary): void {
  const controller = controllerOf(object);
  if (controller === undefined || isOwned(object, canary)) return;
  throw new StepFault(
    `${object.kind} ${object.metadata.name}.${canary.namespace} belongs to ${controller.kind} ${controller.name}, ` +
      `so Canary ${canaryText(canary)} does not write it: give spec.service.name another value, or delete the ${object.kind}`,
  );
}

/**
 * Whether it bears both annotations that a Canary gives to what it writes: then it was taken over already, by Sluice or by Flagger, or has lost
 * its owner reference on the way to another cluster.
 */
export function isTakenOver({ metadata: { annotations = {} } }: Manifest): boolean {
  return Object.entries(fluxAnnotations).every(([key, value]) => annotations[key] === value);
}

/**
 * Throws a {@link StepFault} for an object of somebody else that has a name which is made up for the Canary, such as `podinfo-primary`. Flagger
 * overwrites it.
 *
 * @param mend what to do beside deleting or renaming it
 */
export function refuseForeign(object: Manifest, canary: Canary, mend: string): void {
  refuseOwnedByOthers(object, canary);
  if (isOwned(object, canary) || isTakenOver(object)) return;
  throw new StepFault(
    `${object.kind} ${object.metadata.name}.${canary.namespace} exists, and Canary ${canaryText(canary)} has not made it, ` +
      `so it is not overwritten: delete or rename it, or ${mend}`,
  );
}

/** What an object is to be. A part that is left out stays as it is. */
export interface Wanted {
  readonly labels?: Words;
  readonly annotations?: Words;
  readonly spec?: JsonObject;
}

/** The object with other labels, annotations or spec. Nothing is written if it is so already. */
export async function changed(live: LiveObject, wanted: Wanted, { cluster, signal }: StepDeps): Promise<LiveObject> {
  const { labels = {}, annotations = {} } = live.metadata;
  const before = { metadata: { labels, annotations }, spec: live["spec"] ?? {} };
  const after = {
    metadata: { labels: wanted.labels ?? labels, annotations: wanted.annotations ?? annotations },
    spec: wanted.spec ?? before.spec,
  };
  const patch = mergePatch(toJsonObject(before), toJsonObject(after));
  if (patch === undefined) return live;
  const { metadata, ...rest } = patch;
  // With its uid, an object that was deleted and made anew by somebody else since it was read is not written.
  const { uid } = live.metadata;
  const body = { ...rest, metadata: { ...(isJsonObject(metadata) ? metadata : {}), uid } };
  return cluster.patch(refOf(live), { type: "merge", body }, { manager: canaryManager }, signal);
}

/** Of what others have in `before`, what the keys name. */
export function kept(before: Words | undefined, keys: readonly string[] | undefined): Words {
  return Object.fromEntries(Object.entries(before ?? {}).filter(([key]) => keys?.includes(key) === true));
}
