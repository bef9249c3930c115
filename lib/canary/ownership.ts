import { type JsonObject, toJsonObject } from "../core/json.ts";
import type { LiveObject, Manifest, OwnerReference } from "../core/manifest.ts";
import { type Canary, canaryText } from "./canary.ts";
import { StepFault } from "./step-fault.ts";

/** Labels or annotations. */
export type Texts = Readonly<Record<string, string>>;

/** They tell Flux to leave the object alone (reference canary 8). */
export const fluxAnnotations: Texts = {
  "helm.toolkit.fluxcd.io/driftDetection": "disabled",
  "kustomize.toolkit.fluxcd.io/reconcile": "disabled",
};

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
 * The patch that makes the Canary the owner of this very object. An object that was deleted and created again since the read has another
 * uid: it is refused.
 */
export function adoption({ metadata: { uid } }: LiveObject, canary: Canary): JsonObject {
  return toJsonObject({ metadata: { uid, ownerReferences: [controllerReference(canary)] } });
}

/** The object that controls this one. */
export function controllerOf({ metadata }: Manifest): OwnerReference | undefined {
  return metadata.ownerReferences?.find((owner) => "controller" in owner && owner.controller === true);
}

/** By name and not by uid, as Flagger: the objects of a Canary that was made again serve until the cluster has collected them. */
export function isOwned(object: Manifest, { name }: Canary): boolean {
  const controller = controllerOf(object);
  return controller?.kind === "Canary" && controller.name === name;
}

/** Whether a Canary of this name, or of any, is among the owners. */
export function isOwnedBy({ metadata: { ownerReferences = [] } }: Manifest, name?: string): boolean {
  return ownerReferences.some((owner) => owner.kind === "Canary" && (name === undefined || owner.name === name));
}

/** Whether nothing owns it, as is left where its Canary is deleted without its objects. */
export function isOwnerless({ metadata: { ownerReferences = [] } }: Manifest): boolean {
  return ownerReferences.length === 0;
}

/**
 * Whether it has both annotations that a Canary writes: then Sluice or Flagger took it over already, or it lost its owner reference on the
 * way to another cluster.
 */
export function isTakenOver({ metadata: { annotations = {} } }: Manifest): boolean {
  return Object.entries(fluxAnnotations).every(([key, value]) => annotations[key] === value);
}

/**
 * Why a route or Service is not written; undefined unless another object controls it. Flagger would overwrite it: then two write the same
 * routes in turn, and requests go to either's pods.
 */
export function ownedByOthers(object: Manifest, canary: Canary): StepFault | undefined {
  const controller = controllerOf(object);
  if (controller === undefined || isOwned(object, canary)) return undefined;
  return new StepFault(
    `${textOf(object, canary)} belongs to ${controller.kind} ${controller.name}, ` +
      `so Canary ${canaryText(canary)} does not write it: give spec.service.name another value, or delete the ${object.kind}`,
  );
}

/**
 * Why a route or Service with a name that is made up for the Canary, such as `podinfo-primary`, is not written; undefined if the Canary has made
 * it or taken it over. Flagger overwrites it.
 *
 * @param mend what the user can do apart from deleting or renaming it
 */
export function foreignRoute(object: Manifest, canary: Canary, mend: string): StepFault | undefined {
  const isMade = isOwned(object, canary) || isTakenOver(object);
  return ownedByOthers(object, canary) ?? (isMade ? undefined : foreign(object, canary, mend));
}

/**
 * Throws a {@link StepFault} for an object that this Canary does not own. Flagger overwrites it, and its content is lost.
 *
 * @param mend what the user can do apart from deleting or renaming it
 */
export function refuseForeign(object: Manifest, canary: Canary, mend: string): void {
  if (!isOwnedBy(object, canary.name)) throw foreign(object, canary, mend);
}

function foreign(object: Manifest, canary: Canary, mend: string): StepFault {
  return new StepFault(
    `${textOf(object, canary)} exists, and Canary ${canaryText(canary)} has not made it, ` +
      `so it is not overwritten: delete or rename it, or ${mend}`,
  );
}

/**
 * Throws a {@link StepFault} for an object of a Canary of the same name that was deleted: the cluster is about to remove it. Flagger takes it for
 * its own, and scales the target to zero; then nothing serves once the object is gone.
 */
export function refuseFormer(object: Manifest, canary: Canary): void {
  const { live, name, uid } = canary;
  const { ownerReferences: owners = [] } = object.metadata;
  const isFormer = (owner: OwnerReference): boolean =>
    owner.kind === live.kind && owner.name === name && owner.uid !== uid;
  if (owners.length === 0 || !owners.every(isFormer)) return;
  throw new StepFault(
    `${textOf(object, canary)} belongs to a Canary ${name} that was deleted: it is created again once the cluster has removed it`,
  );
}

function textOf({ kind, metadata }: Manifest, { namespace }: Canary): string {
  return `${kind} ${metadata.name}.${namespace}`;
}
