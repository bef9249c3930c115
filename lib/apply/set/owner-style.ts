import type { Metadata } from "../../core/manifest.ts";
import { isCreateOnly, isForced, isMerged, isUnmanaged, keptBy, unprunedBy } from "./opt-outs.ts";

type Marked = Pick<Metadata, "labels" | "annotations"> | undefined;

/** The differences between the kinds that own objects: which field manager and labels they apply with, and which marks of users count. */
export interface OwnerStyle {
  /** For texts: `Kustomization`. */
  readonly kind: string;
  /** The field manager of everything that is applied: Flux's, so that a cluster moves to Sluice and back without a conflict. */
  readonly manager: string;
  readonly optOuts: OptOuts;
  /** How to have an object deleted and created again, for the message that one of its fields can never change. */
  readonly toRecreate: string;
}

/** The requests in labels and annotations of an object. */
interface OptOuts {
  /** Left alone by apply, prune and delete. */
  readonly isUnmanaged: (metadata: Marked) => boolean;
  /** Applied only while it does not exist. */
  readonly isCreateOnly: (desired: Marked) => boolean;
  /** Other managers' fields and annotations are kept. */
  readonly isMerged: (metadata: Marked) => boolean;
  /** Recreated where an immutable field changes. */
  readonly isForced: (metadata: Marked) => boolean;
  /** The label or annotation of the live object that protects it from being pruned, if any. */
  readonly keptBy: (live: Marked) => string | undefined;
}

export const kustomizationStyle: OwnerStyle = {
  kind: "Kustomization",
  manager: "kustomize-controller",
  optOuts: { isUnmanaged, isCreateOnly, isMerged, isForced, keptBy },
  toRecreate:
    "to have it deleted and created again, set spec.force of the Kustomization, or annotate the object with " +
    "kustomize.toolkit.fluxcd.io/force: enabled",
};

const never = (): boolean => false;
const resourcePolicy = "helm.sh/resource-policy";

/**
 * As in Helm: one annotation keeps an object, and a Kustomization's annotations mean nothing, except the one that protects an object from
 * every prune.
 */
export const helmReleaseStyle: OwnerStyle = {
  kind: "HelmRelease",
  manager: "helm-controller",
  optOuts: {
    isUnmanaged: never,
    isCreateOnly: never,
    isMerged: never,
    isForced: never,
    keptBy: (live) => {
      const isKept = live?.annotations?.[resourcePolicy]?.trim().toLowerCase() === "keep";
      return isKept ? `${resourcePolicy}: keep` : unprunedBy(live);
    },
  },
  toRecreate: "to have it created again, delete it with kubectl: upgrade.force has no effect",
};
