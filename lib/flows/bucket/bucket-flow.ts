import { BucketSpec as BucketSchema, type BucketSpec, BucketStatus } from "../../api/bucket.ts";
import { declaredBucket } from "../../api/kinds/bucket.ts";
import { parseDuration } from "../../core/duration.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { Flow } from "../../core/ports/run.ts";
import { bucketTopic } from "../../core/topics.ts";
import { maxIgnoreBytes, patternsOf } from "../../sources/archive/archive-tree.ts";
import type { IgnorePattern } from "../../sources/archive/ignore-rules.ts";
import { defaultArchiveLimits } from "../../sources/archive/unpack.ts";
import { beginListing } from "../../sources/bucket/begin-listing.ts";
import { type BucketIndex, bucketIndex } from "../../sources/bucket/bucket-index.ts";
import { ignoreKey, listObjects } from "../../sources/bucket/list-objects.ts";
import type { ObjectContent, ObjectStore } from "../../sources/bucket/object-store.ts";
import { type Phase, phaseOf } from "../../sources/bucket/phase.ts";
import type { SourceDeps } from "../source/source-context.ts";
import { sourceFlow } from "../source/source-flow.ts";
import type { SourceKind, Taken } from "../source/source-kind.ts";
import { checkBucket } from "./check-bucket.ts";
import { conditionByReason } from "./condition-by-reason.ts";
import { fetchContent } from "./fetch-content.ts";
import { inWords } from "./in-words.ts";
import { type BucketParts, openBucket } from "./open-bucket.ts";
import { recordedBeside } from "./stored-index.ts";

/** The outside services of the reconcile of a Bucket. */
export type BucketDeps = BucketParts & SourceDeps;

/** The listing and the download take at most as long as a function may live, whatever `spec.timeout` says. */
export const maxBucketTimeoutMs = 900_000;

/** The reconcile of a Bucket (reference sources 8). */
export function bucketFlow(deps: BucketDeps): Flow {
  return sourceFlow(bucketSource(deps), deps);
}

function bucketSource({ limits = defaultArchiveLimits, ...parts }: BucketDeps): SourceKind<BucketSpec> {
  return {
    declared: declaredBucket,
    spec: BucketSchema,
    status: BucketStatus,
    latest: "latest.tar.gz",
    conditionByReason,
    recordedBeside,
    check: checkBucket,
    topics: ({ bucketName, prefix = "" }) => [
      // For every provider: a custom event can announce changes of a bucket that is not in S3.
      prefix === "" ? bucketTopic(bucketName) : { topic: bucketTopic(bucketName), follows: { kind: "prefix", prefix } },
    ],
    resolve: async (spec, ctx) => {
      const { bucketName: bucket, ignore } = spec;
      // A timer takes whole milliseconds.
      const timeoutMs = Math.min(Math.ceil(parseDuration(spec.timeout)), maxBucketTimeoutMs);
      const listing = phaseOf(timeoutMs, ctx.deps.clock, ctx.run.signal);
      const store = await openBucket(spec, parts, listing, ctx);
      const index = bucketIndex(limits);
      const ignoreFile = await lookAtBucket(store, spec, index, listing);
      const taken = takenOf(index, bucket);
      const { artifact, ...status } = BucketStatus.parse(ctx.status());
      return {
        ...taken,
        // As in Flux, which compares only the index: rules that do not change it make no other artifact.
        observed: { observedIgnore: artifact?.revision === taken.revision ? status.observedIgnore : ignore },
        // Our own identity is for buckets that the installation lists: their events reach the functions.
        isAnnounced: spec.provider === "aws" && spec.secretRef === undefined,
        pull: async (announce) => {
          const phase = phaseOf(timeoutMs, ctx.deps.clock, ctx.run.signal);
          const fetched = await fetchContent(bucket, { store, index, ignoreFile, limits, phase }, ctx);
          const last = takenOf(index, bucket);
          await announce(last.messages.outdated);
          return { ...(await fetched.pack()), taken: last, observed: { observedIgnore: ignore } };
        },
      };
    },
  };
}

function takenOf(index: BucketIndex, bucket: string): Taken {
  const revision = index.revision();
  const { size } = index.objects;
  return {
    revision,
    file: `${revision.slice("sha256:".length)}.tar.gz`,
    messages: {
      outdated: `new upstream revision '${revision}'`,
      stored: `stored artifact: revision '${revision}'`,
      event: () => `stored artifact with ${size} fetched files from '${bucket}' bucket`,
    },
  };
}

/** Fills the index. Returns the root `.sourceignore`; undefined if there is none. */
async function lookAtBucket(
  store: ObjectStore,
  { bucketName: bucket, ignore = "", prefix = "" }: BucketSpec,
  index: BucketIndex,
  phase: Phase,
): Promise<ObjectContent | undefined> {
  const begun = await beginListing(store, prefix, phase);
  const exists =
    begun !== undefined ||
    (await inWords(`failed to confirm existence of '${bucket}' bucket`, () => store.exists(phase)));
  if (!exists) throw new Failure("BucketOperationFailed", `bucket '${bucket}' not found`);
  const ignoreFile =
    begun?.mayHaveIgnoreFile === false
      ? undefined
      : await inWords(`failed to get Etag for '${ignoreKey}' object`, () =>
          store.get(ignoreKey, maxIgnoreBytes, phase),
        );
  const patterns = readPatterns([ignoreFile === undefined ? "" : Buffer.from(ignoreFile.bytes).toString(), ignore]);
  await inWords(`indexation of objects from bucket '${bucket}' failed`, () =>
    listObjects(begun ?? store, { index, patterns, prefix }, phase),
  );
  return ignoreFile;
}

function readPatterns(texts: readonly string[]): readonly IgnorePattern[] {
  try {
    return patternsOf(texts);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Failure("BucketOperationFailed", `failed to read the ignore rules: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
