import type { SharedLabel } from "../canary-deps.ts";

/** Whether the pods of a workload serve. */
export type Readiness =
  | { readonly isReady: true }
  | {
      readonly isReady: false;
      /** Flagger's words, with the name before them (reference canary 5). */
      readonly message: string;
      /** False: waiting longer does not help. */
      readonly isRetriable: boolean;
      /** True: pods that were ready no longer are, and neither a rollout nor an autoscaler explains that. */
      readonly isLost?: boolean;
    };

/** The labels that select the pods of a target, and the ports they listen on. */
export interface TargetMetadata {
  /** The label of its selector, for example `app`. */
  readonly label: string;
  /** Its value in the target's selector; the primary's has `-primary` behind it. */
  readonly labelValue: string;
  /** Ports of the containers by name, where the Canary discovers them; else empty. */
  readonly ports: ReadonlyMap<string, number>;
}

/** The identity of a run: kept in the status when it begins and when it is promoted. */
export interface TargetRevision {
  /** Flagger's hash of the target's template. */
  readonly spec: string;
  /** By `configmap/<name>` or `secret/<name>`, 16 hex digits each. */
  readonly configs: Readonly<Record<string, string>>;
}

/** What a step has done about a primary that differs from the last promotion, as a Warning event reports it. */
export interface Restored {
  /**
   * "restored": it is again what was last promoted. "changed": it was changed, and its former state is unknown. "lost": it is gone, and
   * nothing tells what it was.
   */
  readonly kind: "restored" | "changed" | "lost";
  readonly text: string;
}

/**
 * The target of a Canary and its primary, as one kind of workload has them. Made for one step: what it has read is not read again,
 * unless it writes. Every method may be repeated; each throws a `StepFault` in Flagger's words.
 */
export interface Workload {
  metadata(): Promise<TargetMetadata>;
  /** What this step has read that lets the next one read target and primary with one request. Absent where they are never read so. */
  sharedLabel?(): Promise<SharedLabel | undefined>;
  /** The same, read from the primary of a deleted target; undefined while the target exists, or without a primary. */
  metadataWithoutTarget?(): Promise<TargetMetadata | undefined>;
  /** Makes the primary and the copies of configs that are missing. */
  ensurePrimary(): Promise<void>;
  /**
   * Makes a missing primary again from the revision that was last promoted. At rest it also reverts changes that other writers have made to
   * it. Undefined if there is nothing to do. Absent if the primary has no pods of its own.
   */
  restorePrimary?(isAtRest: boolean): Promise<Restored | undefined>;
  primaryReadiness(): Promise<Readiness>;
  canaryReadiness(): Promise<Readiness>;
  revision(): Promise<TargetRevision>;
  /** Whether the target has no replicas, so that nothing of it serves. Absent where a target cannot be scaled. */
  isAtZero?(): Promise<boolean>;
  /** Whether the primary has what {@link promote} would give it now. Absent where that is not known. */
  isPromoted?(): Promise<boolean>;
  /** Copies template, configs and the like from the target to the primary. */
  promote(): Promise<void>;
  scaleToZero(): Promise<void>;
  scaleFromZero(): Promise<void>;
  /** Gives the target the primary's replicas back, before the Canary goes. */
  finalize(): Promise<void>;
}

/** The autoscaler that a Canary refers to, and its copy for the primary. */
export interface Scaler {
  /** @param isFirst only what is missing is made; else the primary's limits are those of the target */
  ensurePrimary(isFirst: boolean): Promise<void>;
  pauseTarget(): Promise<void>;
  resumeTarget(): Promise<void>;
}
