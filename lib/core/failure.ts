import { cutMessage } from "./cut-text.ts";
import type { Cause } from "./event-relation.ts";

/**
 * When a failed reconcile is tried again. `backoff`: after {@link backOffMs}. `interval`: after the object's retry interval.
 * `dependency`: when the dependency changes, at the latest after 30 s. `soon`: it waits for a dependency as well, but is tried
 * again after {@link backOffMs}. `never`: only when the object changes.
 */
export type Retry = "backoff" | "interval" | "dependency" | "never" | "soon";

/** Reasons are API, since alerts match on them: add one freely, never rename one. They are Flux's words where Flux has one. */
export const retryByReason = {
  AccessDenied: "never",
  ArchiveOperationFailed: "backoff",
  ArtifactFailed: "interval",
  AuthenticationFailed: "backoff",
  BucketOperationFailed: "backoff",
  BuildFailed: "interval",
  ChartMutateError: "backoff",
  ChartPackageError: "backoff",
  ChartPullError: "backoff",
  ChartVerificationError: "backoff",
  CopyFailure: "backoff",
  DependencyBuildError: "backoff",
  DependencyNotReady: "dependency",
  DirectoryCreationFailed: "interval",
  EmptyGitRepository: "backoff",
  Failed: "backoff",
  Failure: "backoff",
  FeatureGateDisabled: "never",
  GitOperationFailed: "backoff",
  HealthCheckFailed: "interval",
  IllegalPath: "backoff",
  ImageURLInvalid: "never",
  IndexationFailed: "backoff",
  IntervalNotConfigured: "never",
  InvalidCELExpression: "never",
  InvalidChartReference: "never",
  InvalidCommitSignature: "backoff",
  InvalidGitObject: "backoff",
  InvalidPolicySelector: "never",
  InvalidPolicy: "never",
  InvalidProviderConfiguration: "never",
  InvalidSTSConfiguration: "never",
  InvalidSourceConfiguration: "never",
  InvalidSpec: "never",
  InvalidTagSignature: "backoff",
  InvalidUpdateStrategy: "never",
  InvalidVerificationMode: "never",
  MetadataPatchError: "never",
  NoArtifact: "dependency",
  NoSourceArtifact: "soon",
  NotFound: "dependency",
  OCIArtifactLayerOperationFailed: "backoff",
  OCIArtifactPullFailed: "backoff",
  Poisoned: "never",
  PruneFailed: "interval",
  ReadOperationFailed: "backoff",
  ReconciliationFailed: "interval",
  ReleaseTooLarge: "backoff",
  RemovedTemplateField: "never",
  SourceFetchFailed: "dependency",
  SourceNotReady: "dependency",
  SourceIgnoreError: "backoff",
  SourceManagerFailed: "backoff",
  SourceUnavailable: "backoff",
  StateError: "backoff",
  StorageOperationFailed: "backoff",
  TokenNotFound: "backoff",
  Unknown: "backoff",
  UnsupportedField: "never",
  UnsupportedSourceKind: "never",
  UpdateFailed: "backoff",
  URLInvalid: "never",
  ValidationFailed: "never",
  ValuesError: "backoff",
  ValuesFilesError: "never",
  VerificationError: "backoff",
} as const satisfies Record<string, Retry>;

export type Reason = keyof typeof retryByReason;

/** Reasons of events, API like those of failures. `ArtifactUpToDate` to `Succeeded` are Flux's, `Synced` is Flagger's, the others ours. */
export type EventReason =
  | Reason
  | "ArtifactUpToDate"
  | "DriftCorrected"
  | "DriftCorrectionFailed"
  | "DriftDetected"
  | "HelmChartConfigured"
  | "HelmChartCreated"
  | "HelmChartDeleted"
  | "InstallFailed"
  | "InstallSucceeded"
  | "PendingRelease"
  | "RESTClientError"
  | "RollbackFailed"
  | "RollbackSucceeded"
  | "TestFailed"
  | "TestSucceeded"
  | "UninstallFailed"
  | "UninstallSucceeded"
  | "UpgradeFailed"
  | "UpgradeSucceeded"
  | "ChartPackageSucceeded"
  | "ChartPullSucceeded"
  | "GitOperationSucceeded"
  | "HealthCheckCanceled"
  | "NewArtifact"
  | "Progressing"
  | "Ready"
  | "ReconciliationDisabled"
  | "ReconciliationSucceeded"
  | "ResolvedDependencies"
  | "Succeeded"
  | "AmbiguousReference"
  | "AnySignerAccepted"
  | "InvalidConfig"
  | "MetadataAppendFailed"
  | "Migration"
  | "NotificationDispatchFailed"
  | "NotificationsOff"
  | "IntervalTooShort"
  | "InventoryOutdated"
  | "HandingOver"
  | "NotReconciled"
  | "ObjectContested"
  | "PruningAll"
  | "Synced"
  | "TargetChanged"
  | "UnknownFields";

interface FailureOptions {
  readonly retry?: Retry;
  readonly inCondition?: Failure["inCondition"];
  readonly waitsFor?: Cause | undefined;
  readonly isMissing?: boolean;
}

/**
 * An expected failure of a reconcile. Its reason and message go unchanged into the Ready condition and an event; the message
 * is cut to 32,768 bytes.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly reason: Reason;
  /** When to try again: the default of the reason, unless the constructor was given another. */
  readonly retry: Retry;
  /** The text of the condition, if it differs from the event's: Flux has such failures. */
  readonly inCondition: { readonly reason: Reason; readonly message: string };

  /** The object that has to be ready first; undefined if that is not the cause. */
  readonly waitsFor: Cause | undefined;

  /** What the object names does not exist: its run has failed, since no other run reports it. */
  readonly isMissing: boolean;

  constructor(reason: Reason, message: string, options: ErrorOptions & FailureOptions = {}) {
    super(cutMessage(message), options);
    this.reason = reason;
    const { inCondition, isMissing = false, waitsFor } = options;
    this.waitsFor = waitsFor;
    this.isMissing = isMissing;
    this.inCondition = { reason: inCondition?.reason ?? reason, message: cutMessage(inCondition?.message ?? message) };
    this.retry = options.retry ?? retryByReason[reason];
  }
}

/**
 * How a run ends that waits for an object that it names: another run reports why that one is not ready, and no other run reports that it
 * does not exist.
 */
export function outcomeOfWait({ isMissing = false }: { readonly isMissing?: boolean }): "failed" | "waiting" {
  return isMissing ? "failed" : "waiting";
}

/** The message of a thrown value, cut to 32,768 bytes. */
export function messageOf(error: unknown): string {
  return cutMessage(error instanceof Error ? error.message : String(error));
}

/** How long to wait after failures: Flux's `--min-retry-delay` and `--max-retry-delay`. */
export interface RetryDelay {
  readonly minMs: number;
  readonly maxMs: number;
}

/** As in Flux: from 750 ms to 15 minutes. */
export const defaultRetryDelay: RetryDelay = { minMs: 750, maxMs: 900_000 };

/** The wait after this many failures in a row: the least delay, doubled each time, up to the longest. */
export function backOffMs(failures: number, { minMs, maxMs }: RetryDelay = defaultRetryDelay): number {
  return Math.min(minMs * 2 ** failures, maxMs);
}
