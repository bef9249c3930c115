import type { JsonObject } from "../json.ts";
import type { LiveObject, Manifest, Metadata } from "../manifest.ts";
import type { VersionedRef } from "../object-ref.ts";
import type { AccountTokens } from "./account-tokens.ts";
import { PortError } from "./port-error.ts";

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

/** The kinds that a cluster serves at one moment. */
export interface ServedKinds {
  /** Each kind once, in the version that the cluster prefers. */
  readonly resources: readonly Resource[];
  /** The same kinds in every other version that is served. Absent where it is not known. */
  readonly otherVersions?: readonly Resource[];
  /** Groups whose own API server does not answer: the kinds that they serve are unknown, or known from an earlier answer. */
  readonly silentGroups: readonly string[];
}

/** A kind to look up, in the version that the cluster prefers unless one is given. */
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

export interface WatchQuery extends ListQuery {
  /** The events have no more of an object than its metadata. */
  readonly isMetadataOnly?: boolean;
}

/** The metadata of an object without its content, as `as=PartialObjectMetadata` answers it. */
export interface PartialObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata & { readonly uid: string };
}

/** An option of every write. */
export interface Guarded {
  /**
   * Called right before the request is sent, also when it is sent again, once everything that has to be waited for is known
   * (kinds, address, credential). If it throws, the write throws that and sends nothing.
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
  /** True if the object did not exist before (HTTP 201). */
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
  /** Preconditions: if the live object's differ, the delete is refused with a conflict. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation: "Background" | "Foreground" | "Orphan";
}

export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: LiveObject }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/** Where a connection to an API server leads. */
export interface Endpoint {
  /**
   * The trust in the server's identity, as a digest: the certificate authority that we were given; without one the host name that public
   * authorities vouch for; over plain HTTP the address. Undefined: its certificate is not verified.
   */
  readonly authority: string | undefined;
  /** Scheme, host, port and path. */
  readonly address: string;
}

/**
 * The cluster as the core sees it. Every method may be repeated. Each throws an {@link ApiError} if the API server answers an
 * error or does not answer, or the reason that `signal` was aborted with.
 */
export interface Cluster {
  /** The uid of namespace `kube-system`: the cluster's identity for as long as it lives, so it is read once. */
  uid(signal: AbortSignal): Promise<string>;
  /** Where the connection leads, by what it verifies. Absent where it is not needed. Asks the API server for nothing. */
  readonly endpoint?: (signal: AbortSignal) => Promise<Endpoint | undefined>;
  /** How the cluster serves a kind, or undefined if it does not. A hit may be cached; a miss is looked up again. */
  resource(query: KindQuery, signal: AbortSignal): Promise<Resource | undefined>;
  /** Every kind that the cluster serves now. */
  served(signal: AbortSignal): Promise<ServedKinds>;
  /** The version of the server as it names it, for example `v1.35.4`. Absent where it is not needed. */
  readonly version?: (signal: AbortSignal) => Promise<string>;
  /** Undefined if there is no such object; a kind that is not served is an {@link ApiError} `NoMatch`. */
  get(ref: VersionedRef, signal: AbortSignal): Promise<LiveObject | undefined>;
  /** Every matching object, all pages. */
  list(query: ListQuery, signal: AbortSignal): Promise<readonly LiveObject[]>;
  /** The metadata of every matching object, all pages. */
  listMetadata(query: ListQuery, signal: AbortSignal): Promise<readonly PartialObject[]>;
  apply(manifest: Manifest, options: ApplyOptions, signal: AbortSignal): Promise<Applied>;
  create(manifest: Manifest, options: WriteOptions, signal: AbortSignal): Promise<LiveObject>;
  patch(ref: VersionedRef, patch: Patch, options: WriteOptions, signal: AbortSignal): Promise<LiveObject>;
  /** `gone` if it no longer existed, `deleting` if finalizers or dependents hold it, else `deleted`. */
  delete(ref: VersionedRef, options: DeleteOptions, signal: AbortSignal): Promise<"deleted" | "deleting" | "gone">;
  /**
   * The events of the matching objects: first ADDED for all that exist and a BOOKMARK with `initialEventsEnd`, then changes. Ends
   * by throwing: an {@link ApiError} with code 410 means start again.
   */
  watch(query: WatchQuery, signal: AbortSignal): AsyncIterable<WatchEvent>;
}

/** `metav1.StatusReason`, or `NoMatch` if the cluster does not serve the kind, or `Unreachable` if no answer came. */
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

/**
 * The API server's answer instead of success. The message is the server's own, as Flux quotes it. The reason is empty if the answer names
 * none, as for a typed-patch failure.
 */
export class ApiError extends PortError<ApiReason> {
  override readonly name = "ApiError";
  /** The HTTP status; 0 if no answer came. */
  readonly code: number;
  readonly causes: readonly ApiCause[];
  readonly retryAfterMs: number | undefined;

  constructor(
    answer: { code: number; reason: ApiReason; message: string; causes?: readonly ApiCause[]; retryAfterMs?: number },
    options?: ErrorOptions,
  ) {
    super(answer.reason, answer.message, options);
    this.code = answer.code;
    this.causes = answer.causes ?? [];
    this.retryAfterMs = answer.retryAfterMs;
  }
}

/** A cluster whose credential may impersonate other users. */
export interface ImpersonatingCluster extends Cluster {
  /** The cluster with the rights of another user, on the same connections. Discovery also acts as this user. */
  as(user: string): Cluster;
  /** By our own rights: `create` on `serviceaccounts/token`. */
  readonly accountTokens: AccountTokens;
}
