import type { JsonObject } from "../json.ts";
import type { LiveObject, Manifest, Metadata } from "../manifest.ts";
import type { VersionedRef } from "../object-ref.ts";

/** A kind as the cluster serves it. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The name in URLs and in messages, for example `deployments`. */
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** What a cluster serves at one moment. */
export interface ServedKinds {
  /** Each kind once, in the version that the cluster prefers. */
  readonly resources: readonly Resource[];
  /** Groups whose own API server does not answer: what they serve is not known, or known by what they said before. */
  readonly silentGroups: readonly string[];
}

/** A kind to look up; without a version the one that the cluster prefers is meant. */
export interface KindQuery {
  readonly group: string;
  readonly kind: string;
  readonly version?: string;
}

export interface ListQuery {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Absent: all namespaces (or a cluster-scoped kind). */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The metadata of an object, without its content: what `as=PartialObjectMetadata` answers. */
export interface PartialObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata & { readonly uid: string };
}

/** What every write may be given. */
interface Guarded {
  /**
   * Called right before each sending of the request, a repeated one too, when all that has to be waited for is there (kinds,
   * address, credential); what it throws is thrown, and nothing is sent.
   */
  readonly beforeSend?: () => void;
}

export interface ApplyOptions extends Guarded {
  /** The field manager, for example `kustomize-controller`. */
  readonly manager: string;
  readonly force: boolean;
  readonly dryRun?: boolean;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
  readonly subresource?: string;
}

export interface Applied {
  readonly object: LiveObject;
  /** True where the object was not there before (HTTP 201). */
  readonly created: boolean;
  /** Warning headers, for example of a deprecated API version. */
  readonly warnings: readonly string[];
}

export type Patch =
  | { readonly type: "merge"; readonly body: JsonObject }
  | { readonly type: "json"; readonly body: readonly JsonObject[] };

export interface WriteOptions extends Guarded {
  readonly manager: string;
  readonly dryRun?: boolean;
  readonly subresource?: string;
}

export interface DeleteOptions extends Guarded {
  /** Preconditions: the delete is refused with a conflict where the live object has others. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation: "Background" | "Foreground" | "Orphan";
}

export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: LiveObject }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/**
 * The cluster as the core sees it. Every method may be repeated. Each throws an {@link ApiError} for what the API
 * server answered, or the reason that `signal` was aborted with.
 */
export interface Cluster {
  /** The uid of namespace `kube-system`: a cluster's identity for as long as it lives, so it is asked for once. */
  uid(signal: AbortSignal): Promise<string>;
  /** How the cluster serves a kind, or undefined where it does not; a miss is looked up afresh, a hit may be cached. */
  resource(query: KindQuery, signal: AbortSignal): Promise<Resource | undefined>;
  /** Every kind that the cluster serves now. */
  served(signal: AbortSignal): Promise<ServedKinds>;
  /** Undefined where there is no such object; an unserved kind is an {@link ApiError} `NoMatch`. */
  get(ref: VersionedRef, signal: AbortSignal): Promise<LiveObject | undefined>;
  /** Every matching object, all pages. */
  list(query: ListQuery, signal: AbortSignal): Promise<readonly LiveObject[]>;
  /** Every matching object's metadata, all pages: one request for as many as fit a page. */
  listMetadata(query: ListQuery, signal: AbortSignal): Promise<readonly PartialObject[]>;
  apply(manifest: Manifest, options: ApplyOptions, signal: AbortSignal): Promise<Applied>;
  create(manifest: Manifest, options: WriteOptions, signal: AbortSignal): Promise<LiveObject>;
  patch(ref: VersionedRef, patch: Patch, options: WriteOptions, signal: AbortSignal): Promise<LiveObject>;
  /** `gone` where it was not there any more, `deleting` where finalizers or dependents hold it, else `deleted`. */
  delete(ref: VersionedRef, options: DeleteOptions, signal: AbortSignal): Promise<"deleted" | "deleting" | "gone">;
  /**
   * What happens to the matching objects from now on: first ADDED for all that are there and a BOOKMARK with
   * `initialEventsEnd`, then changes. Ends by throwing: an {@link ApiError} with code 410 means start again.
   */
  watch(query: ListQuery, signal: AbortSignal): AsyncIterable<WatchEvent>;
}

/** `metav1.StatusReason`, or `NoMatch` where the cluster does not serve the kind, or `Unreachable` where no answer came. */
export type ApiReason =
  | "AlreadyExists"
  | "BadRequest"
  | "Conflict"
  | "Expired"
  | "Forbidden"
  | "Invalid"
  | "NoMatch"
  | "NotFound"
  | "Timeout"
  | "TooManyRequests"
  | "Unauthorized"
  | "Unreachable"
  | (string & {});

export interface ApiCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** What the API server answered instead of success. The message is the server's own, as Flux quotes it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status; 0 where no answer came. */
  readonly code: number;
  /** Empty where the answer names none (a typed-patch failure, for example). */
  readonly reason: ApiReason;
  readonly causes: readonly ApiCause[];
  readonly retryAfterMs: number | undefined;

  constructor(
    answer: { code: number; reason: ApiReason; message: string; causes?: readonly ApiCause[]; retryAfterMs?: number },
    options?: ErrorOptions,
  ) {
    super(answer.message, options);
    this.code = answer.code;
    this.reason = answer.reason;
    this.causes = answer.causes ?? [];
    this.retryAfterMs = answer.retryAfterMs;
  }
}
