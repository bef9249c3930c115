import type { ReleaseRecord } from "../../../core/ports/helm-engine.ts";
import type { AttemptMark, StoredRevision } from "../../../helm/release-store.ts";
import type { ReleaseAttempt } from "./attempt.ts";

/** Since when an action waits for something, carried to the next run: a hint. Without it the wait begins again. */
export interface ActionWait {
  /** What the action waits for, for example `objects`, `hook NAME` or `deletion`. Another one begins a new wait. */
  readonly for: string;
  /** Wall time in milliseconds. */
  readonly since: number;
  readonly looks: number;
}

/** The result of an action in this run. */
export type ActionOutcome = ActionEnd | WaitingAction;

/** It goes on with the next run. */
export interface WaitingAction {
  readonly kind: "waiting";
  readonly wait: ActionWait;
  readonly dueInMs: number;
  readonly inventory?: ShownInventory;
}

export type ActionEnd = { readonly inventory?: ShownInventory } & (
  | { readonly kind: "succeeded"; readonly written: readonly WrittenRevision[] }
  | {
      readonly kind: "failed";
      /** Helm's error. */
      readonly message: string;
      /** Lines of Helm's log, for the event. */
      readonly log: readonly string[];
      /** Empty: it failed before anything was stored, so it does not count towards remediation. */
      readonly written: readonly WrittenRevision[];
    }
);

/** The new content of `status.inventory`; absent: unchanged. */
type ShownInventory = readonly { readonly id: string; readonly v: string }[];

/** A revision as the action has left it. `gone`: its Secret was removed. The snapshots of the status follow. */
export interface WrittenRevision {
  readonly record: ReleaseRecord;
  readonly isGone: boolean;
  /** Digests of the artifact and of the values that the action used; undefined: those of the present attempt. */
  readonly attempted?: AttemptMark["attempted"];
}

/**
 * The actions of the release loop. Each call continues what an earlier run has begun, from the Secrets; none sleeps longer than a
 * second.
 */
export interface ReleaseActions {
  install(attempt: ReleaseAttempt, wait: ActionWait | undefined): Promise<ActionOutcome>;
  /** `last`: the latest stored revision. */
  upgrade(attempt: ReleaseAttempt, last: StoredRevision, wait: ActionWait | undefined): Promise<ActionOutcome>;
  /** To the revision of this version. */
  rollback(
    attempt: ReleaseAttempt,
    last: StoredRevision,
    toVersion: number,
    wait: ActionWait | undefined,
  ): Promise<ActionOutcome>;
  test(attempt: ReleaseAttempt, last: StoredRevision, wait: ActionWait | undefined): Promise<ActionOutcome>;
  uninstall(order: UninstallOrder, wait: ActionWait | undefined): Promise<ActionOutcome>;
  /** Compares the cluster with the stored manifest; writes nothing. */
  findDrift(attempt: ReleaseAttempt, last: StoredRevision): Promise<Drift>;
  correctDrift(attempt: ReleaseAttempt, last: StoredRevision, drift: Drift): Promise<DriftCorrection>;
}

/** The release to uninstall. For a deletion, a remediation or another target there may be no attempt, since the chart is not needed. */
export interface UninstallOrder {
  readonly ctx: ReleaseAttempt["ctx"];
  readonly store: ReleaseAttempt["store"];
  readonly releaseName: string;
  readonly releaseNamespace: string;
  readonly reason: "deletion" | "remediation" | "target-changed";
  readonly healthRules: ReleaseAttempt["healthRules"] | undefined;
}

/** `lines`: as Flux words them (reference helmrelease 14, 18), for example `Deployment/ns/app changed (0 additions, 1 changes, 0 removals)`. */
export interface Drift {
  readonly isDrifted: boolean;
  readonly lines: readonly string[];
}

export type DriftCorrection =
  | { readonly kind: "corrected"; readonly lines: readonly string[] }
  | { readonly kind: "failed"; readonly errors: readonly string[]; readonly lines: readonly string[] };
