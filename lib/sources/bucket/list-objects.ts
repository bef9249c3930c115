import { setImmediate } from "node:timers/promises";
import { inTimeSlices } from "../../core/concurrency.ts";
import { type IgnorePattern, ignoreInSteps } from "../archive/ignore-rules.ts";
import type { BucketIndex } from "./bucket-index.ts";
import { BucketFault, type ListedObject, type ObjectStore } from "./object-store.ts";
import type { Phase } from "./phase.ts";

/** The object with the ignore rules of a bucket, at its root. */
export const ignoreKey = ".sourceignore";
/** The limit for the objects of a bucket below the prefix, ignored ones included. */
export const maxListedObjects = 2_000_000;
/** Pages of a listing; a provider may send pages without objects. */
export const maxListPages = 10_000;
/** The limit for a key in UTF-8; S3, Google and Azure have keys of at most 1,024. */
export const maxObjectKeyBytes = 1_024;
export const maxEtagBytes = 256;
/** Time for matching all patterns against all keys. */
const maxIgnoringMs = 60_000;

/**
 * Adds to the index what a bucket holds below a prefix (reference sources 8.3): without folders, the root `.sourceignore` and what the
 * patterns leave out. Only what is kept is held in memory. Throws a {@link BucketFault}.
 */
export async function listObjects(
  store: Pick<ObjectStore, "list">,
  {
    index,
    patterns,
    prefix,
  }: { readonly index: BucketIndex; readonly patterns: readonly IgnorePattern[]; readonly prefix: string },
  phase: Phase,
): Promise<void> {
  const ignore = ignoreInSteps(patterns);
  let pages = 0;
  let objects = 0;
  let ignoringMs = 0;
  for await (const page of store.list(prefix, phase)) {
    if (++pages > maxListPages) throw tooMany(`${maxListPages} pages`);
    objects += page.length;
    if (objects > maxListedObjects) throw tooMany(`${maxListedObjects} objects`);
    const steps = function* (): Generator<undefined, void, undefined> {
      for (const object of page) {
        assertShort(object);
        const { key } = object;
        if (!key.endsWith("/") && key !== ignoreKey && !(yield* ignore(key, false))) index.add(object);
        yield;
      }
    };
    const begun = performance.now();
    const isDone = await inTimeSlices(steps(), () => undefined, maxIgnoringMs - ignoringMs, phase.signal);
    if (!isDone)
      throw new BucketFault("limit", `the ignore rules take more than ${maxIgnoringMs / 1_000} s: use fewer`);
    ignoringMs += performance.now() - begun;
    await setImmediate();
  }
}

function assertShort({ key, etag }: ListedObject): void {
  const isShort = Buffer.byteLength(key) <= maxObjectKeyBytes && Buffer.byteLength(etag) <= maxEtagBytes;
  if (isShort && key !== "") return;
  throw new BucketFault(
    "answer",
    `the listing has a key of more than ${maxObjectKeyBytes} bytes, or an etag of more than ${maxEtagBytes}`,
  );
}

function tooMany(what: string): BucketFault {
  return new BucketFault("limit", `the listing has more than ${what}: set spec.prefix to list fewer`);
}
