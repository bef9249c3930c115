import { PortError } from "../../core/ports/port-error.ts";
import type { Phase } from "./phase.ts";

/** An object of a bucket, as a listing has it. */
export interface ListedObject {
  readonly key: string;
  /** Without quotes. */
  readonly etag: string;
  /** Bytes of the content. */
  readonly size: number;
}

/** The content of an object, and the etag that belongs to it: another one than the listing had, if it was replaced since. */
export interface ObjectContent {
  readonly bytes: Uint8Array;
  readonly etag: string;
}

/** A bucket of any provider. Every method throws a {@link BucketFault}, or the reason that the phase's signal was aborted with. */
export interface ObjectStore {
  exists(phase: Phase): Promise<boolean>;
  /** A listing needs the same permission as `exists`, and fails if there is no bucket. */
  readonly isSeenByListing?: true;
  /** The object; undefined if there is none. A longer one is a {@link BucketFault} `too-large`. */
  get(key: string, maxBytes: number, phase: Phase): Promise<ObjectContent | undefined>;
  /** All objects whose key begins with the prefix, page by page. A page may be empty. */
  list(prefix: string, phase: Phase): AsyncIterable<readonly ListedObject[]>;
}

/**
 * `answer`: the provider refuses, or its answer is not that of its API. `limit`: a limit of ours, and how to keep to it. `no-answer`: the
 * connection, its trust or the network policy. `timeout`: the time of the phase is over. `too-large`: longer than the caller takes.
 */
export type BucketFaultReason = "answer" | "limit" | "no-answer" | "timeout" | "too-large";

/** A bucket does not give what was asked for. The message holds no credential and no free text of the provider. */
export class BucketFault extends PortError<BucketFaultReason> {
  override readonly name = "BucketFault";
}
