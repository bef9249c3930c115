import type { ObjectRef } from "../../core/object-ref.ts";
import { flaggerGroup } from "../names.ts";
import { type KindDeclaration, kindOf } from "./declaration.ts";
import { readKinds } from "./declared-kinds.ts";

/** The group and the kind of an object. */
export type GroupKind = Pick<ObjectRef, "group" | "kind">;

/** The kinds that an installation reconciles, for decisions about objects of other kinds. */
export type ReconciledKinds = readonly Pick<KindDeclaration, "group" | "kind" | "versions">[];

/** Whether the kinds of this group are Flux's (`helm.toolkit.fluxcd.io`, `source.extensions.fluxcd.io`) or Flagger's. */
export function isFluxGroup(group: string): boolean {
  return group.endsWith(".fluxcd.io") || group === flaggerGroup;
}

/**
 * Whether Sluice does not reconcile this kind of Flux or Flagger, so that its objects are not handled unless the kind's own controller
 * runs. Kinds that are only read do not count: those controllers do not reconcile them either.
 */
export function isUnreconciled(kind: GroupKind, reconciled: ReconciledKinds): boolean {
  if (!isFluxGroup(kind.group)) return false;
  return kindOf(kind, [...reconciled, ...readKinds]) === undefined;
}

const controllerByGroup: Readonly<Record<string, string>> = {
  "helm.toolkit.fluxcd.io": "helm-controller",
  "image.toolkit.fluxcd.io": "image-reflector-controller",
  "kustomize.toolkit.fluxcd.io": "kustomize-controller",
  "notification.toolkit.fluxcd.io": "notification-controller",
  "source.extensions.fluxcd.io": "source-watcher",
  "source.toolkit.fluxcd.io": "source-controller",
  [flaggerGroup]: "flagger",
};

/** The Deployment that reconciles this kind in an installation of Flux or Flagger; undefined if it is not known. */
export function controllerOf({ group, kind }: GroupKind): string | undefined {
  if (kind === "ImageUpdateAutomation") return "image-automation-controller";
  return Object.hasOwn(controllerByGroup, group) ? controllerByGroup[group] : undefined;
}
