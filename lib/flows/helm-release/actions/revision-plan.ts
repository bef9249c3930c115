import type { HookEvent, ObservedRelease, ReleaseRecord } from "../../../core/ports/helm-engine.ts";
import type { RevisionHead, StoredRevision } from "../../../helm/release-store.ts";
import type { WaitingAction } from "../attempt/action.ts";
import { shownInventory } from "./apply-objects.ts";

/** An install, upgrade or rollback: what differs between them. */
export interface RevisionPlan {
  readonly action: "install" | "rollback" | "upgrade";
  readonly pending: "pending-install" | "pending-rollback" | "pending-upgrade";
  readonly before: HookEvent;
  readonly after: HookEvent;
  readonly deployed: string;
  /** The description of a revision that has failed. */
  failed(name: string, why: string): string;
  /** Before the words of a hook's error. */
  hookFailed(event: HookEvent, why: string): string;
  /**
   * The record to store, with its first status and description; a text if there is none. `deployed`: what is deployed, or else the
   * latest revision.
   */
  prepare(
    latest: RevisionHead | undefined,
    deployed: StoredRevision | undefined,
  ): Promise<PreparedRevision | { readonly refused: string } | WaitingAction>;
  /** Where objects that exist and are not the release's are refused: how Helm begins its message. */
  readonly refusesForeign?: string | undefined;
  readonly disablesHooks: boolean;
  readonly disablesWait: boolean;
  readonly waitsForJobs: boolean;
  /** The digest of the artifact, for the snapshot. */
  readonly ociDigest: string;
  /** The revision that a rollback goes back to. */
  readonly target?: number | undefined;
}

/** A record that is about to be stored, with the objects of `crds/`. */
export interface PreparedRevision {
  readonly record: ReleaseRecord;
  readonly crds: Parameters<typeof shownInventory>[1];
}

/** The revision that is deployed before the action, which the new one replaces. */
export interface Former {
  readonly heads: readonly RevisionHead[];
  readonly deployed: StoredRevision | undefined;
}

/** The release whose objects the new ones are compared with; none for an install. */
export function formerManifest({ action }: RevisionPlan, { deployed }: Former): ObservedRelease | undefined {
  return action === "install" ? undefined : deployed?.observed;
}
