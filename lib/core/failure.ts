import { cutMessage } from "./cut-text.ts";

/**
 * When a failed reconcile is tried again. `backoff`: soon, doubling. `interval`: after the object's retry interval.
 * `dependency`: when the thing it waits for changes, at the latest after 30 s. `never`: not before the object changes.
 */
export type Retry = "backoff" | "interval" | "dependency" | "never";

/** Reasons are API, alerts match on them: add one freely, never rename one. The words are Flux's where Flux has one. */
const retryByReason = {
  AccessDenied: "never",
  ArchiveOperationFailed: "backoff",
  ArtifactFailed: "interval",
  AuthenticationFailed: "backoff",
  BuildFailed: "interval",
  DependencyNotReady: "dependency",
  DirectoryCreationFailed: "interval",
  HealthCheckFailed: "interval",
  InvalidProviderConfiguration: "never",
  InvalidSpec: "never",
  OCIArtifactLayerOperationFailed: "backoff",
  OCIArtifactPullFailed: "backoff",
  Poisoned: "never",
  PruneFailed: "interval",
  ReadOperationFailed: "backoff",
  ReconciliationFailed: "interval",
  StorageOperationFailed: "backoff",
  UnsupportedField: "never",
  URLInvalid: "never",
} as const satisfies Record<string, Retry>;

export type Reason = keyof typeof retryByReason;

/**
 * An end of a reconcile that was foreseen: its reason and message go into the Ready condition and an event as they are, the
 * message up to 32,768 bytes.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly reason: Reason;
  /** When to try again; the reason's usual answer unless the thrower knew better. */
  readonly retry: Retry;

  constructor(reason: Reason, message: string, options: ErrorOptions & { retry?: Retry } = {}) {
    super(cutMessage(message), options);
    this.reason = reason;
    this.retry = options.retry ?? retryByReason[reason];
  }
}

/** The text of whatever was thrown, up to 32,768 bytes. */
export function messageOf(error: unknown): string {
  return cutMessage(error instanceof Error ? error.message : String(error));
}
