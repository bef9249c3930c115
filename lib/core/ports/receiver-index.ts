import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { digestOf } from "../digest.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { WorkKey } from "../work-key.ts";
import type { Fence } from "./fence.ts";
import { PortError } from "./port-error.ts";

const AnyObject = z.custom<JsonObject>(isJsonObject);

/** The objects that one entry of a Receiver's `spec.resources` selects, as its flow found them last. */
const IndexedResource = z.strictObject({
  /** As a log names the entry: `GitRepository/apps/web`. */
  label: z.string(),
  /** Why a delivery can wake nothing by this entry. */
  fault: z.string().exactOptional(),
  group: z.string(),
  version: z.string(),
  kind: z.string(),
  namespace: z.string(),
  /** CEL, from the spec. */
  filter: z.string().exactOptional(),
  objects: z
    .array(
      z.strictObject({
        name: z.string(),
        /** What filters may use; absent if the Receiver has no filter. */
        metadata: AnyObject.exactOptional(),
      }),
    )
    .readonly(),
});
export type IndexedResource = Readonly<z.infer<typeof IndexedResource>>;

/** Everything that a delivery needs to know about a Receiver, except its token, which stays in its Secret. */
export const ReceiverEntry = z.strictObject({
  state: z.enum(["ready", "suspended", "not ready"]),
  /** `spec.type`. */
  type: z.string(),
  events: z.array(z.string()).readonly(),
  /** The name of the Secret with the token; absent for a type that has none. */
  secret: z.string().exactOptional(),
  /** CEL, from the spec. */
  resourceFilter: z.string().exactOptional(),
  /** `spec.oidcProviders`, verbatim. */
  oidcProviders: z.array(AnyObject).readonly().exactOptional(),
  resources: z.array(IndexedResource).readonly(),
});
export type ReceiverEntry = Readonly<z.infer<typeof ReceiverEntry>>;

export interface IndexedReceiver {
  readonly key: WorkKey;
  readonly entry: ReceiverEntry;
}

/**
 * Receivers by the path of their webhook, for those who take deliveries and reach no cluster for each of them. Kept by the Receiver's
 * flow under its fence. Neither token nor path is stored: an entry is found by the digest of its path.
 */
export interface ReceiverIndex {
  /**
   * Makes this the one entry of the fence's object. An equal entry is not written again.
   *
   * @throws EntryTooLarge if it would need more than {@link maxEntryBytes} or {@link maxUnpackedBytes}, {@link LeaseLost} if a successor holds the lease
   */
  save(path: string, entry: ReceiverEntry, fence: Fence, signal: AbortSignal): Promise<void>;
  /** Removes the entry of the fence's object, if there is one. Throws {@link LeaseLost} as `save` does. */
  remove(fence: Fence, signal: AbortSignal): Promise<void>;
  /**
   * The Receivers of this path in the order of their keys, at most {@link maxReceiversOfPath}: those of two clusters share a path if token,
   * name and namespace are equal. One read, which sees the last write.
   */
  find(path: string, signal: AbortSignal): Promise<readonly IndexedReceiver[]>;
}

/** The limit for a stored, compressed entry: DynamoDB takes items of 400 KB. */
export const maxEntryBytes = 350 * 1024;
/** The limit for Receivers that one delivery is for. */
export const maxReceiversOfPath = 100;
/** The limit for an entry's JSON: repetitions compress to nearly nothing, and each delivery has to read it. */
export const maxUnpackedBytes = 4 * 1024 * 1024;

/** The Receiver selects more than its entry can hold. */
export class EntryTooLarge extends PortError<"too-large"> {
  override readonly name = "EntryTooLarge";

  constructor(bytes: number, allowed: number) {
    super("too-large", `has ${bytes} bytes, ${allowed} are allowed`);
  }
}

/** The value that is stored instead of the path, so that a reader of the state cannot call a webhook. */
export function pathDigest(path: string): string {
  return digestOf(path).slice("sha256:".length);
}

/** The entry as it is stored. Throws {@link EntryTooLarge}. */
export function packEntry(entry: ReceiverEntry): Uint8Array {
  const json = Buffer.from(JSON.stringify(entry));
  if (json.length > maxUnpackedBytes) throw new EntryTooLarge(json.length, maxUnpackedBytes);
  const packed = deflateRawSync(json);
  if (packed.length > maxEntryBytes) throw new EntryTooLarge(packed.length, maxEntryBytes);
  return packed;
}

/** Reads {@link packEntry}'s bytes; throws for any other. */
export function unpackEntry(packed: Uint8Array): ReceiverEntry {
  return ReceiverEntry.parse(
    JSON.parse(inflateRawSync(packed, { maxOutputLength: maxUnpackedBytes }).toString("utf8")),
  );
}
