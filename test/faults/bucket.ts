import type { FileFaults } from "./fault.ts";

const ofFlow = ["test/unit/flows/bucket/bucket.test.ts"];
const ofLogins = ["test/unit/flows/bucket/credentials.test.ts"];

/** Likely mistakes of the kind Bucket. */
export const bucketFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/bucket/stored-index.ts",
    tests: ofFlow,
    faults: [
      {
        what: "only the status decides which index belongs to an artifact",
        find: "if (!(await isRecorded(pairOf(artifact.digest, artifact.revision)))) return new Map();",
        replace: "await isRecorded(pairOf(artifact.digest, artifact.revision));",
      },
      {
        what: "content of another etag is taken from the stored artifact",
        find: "etags.get(key) === etag ? pathOf(key) : undefined",
        replace: "etags.has(key) ? pathOf(key) : undefined",
      },
      {
        what: "the index is not stored, so that everything is downloaded again",
        find: "if (index.objects.size === 0 || !isReadable(index.objects)) return;",
        replace: "if (index.objects.size >= 0 || !isReadable(index.objects)) return;",
      },
    ],
  },
  {
    file: "lib/sources/bucket/begin-listing.ts",
    tests: ["test/unit/flows/bucket/bucket.test.ts"],
    faults: [
      {
        what: "a .sourceignore on a later page is not read",
        find: "isListed || !isWhole",
        replace: "isListed",
      },
      {
        what: "a .sourceignore outside of the prefix is not read",
        find: 'if (prefix !== "") return { mayHaveIgnoreFile: true,',
        replace: 'if (prefix !== "") return { mayHaveIgnoreFile: false,',
        named: "11.5/110",
      },
      {
        what: "a listing that is refused is told in its own words",
        find: "if (error instanceof BucketFault) return undefined;",
        replace: "if (error instanceof TypeError) return undefined;",
        named: "11.5/114",
      },
    ],
  },
  {
    file: "lib/flows/source/stored-artifact.ts",
    tests: ofFlow,
    faults: [
      {
        what: "the records of an artifact are deleted before the artifact",
        find: "[artifact.digest, ...(ctx.traits.recordedBeside?.(artifact, ctx.now().generation) ?? [])]",
        replace: "[artifact.digest, ...(ctx.traits.recordedBeside?.(artifact, ctx.now().generation) ?? []).slice(2)]",
      },
      {
        what: "the artifact has the revision of the listing, not of the downloaded objects",
        find: "const { file, revision } = pulled.taken ?? resolved;",
        replace: "const { file, revision } = resolved;",
      },
    ],
  },
  {
    file: "lib/sources/bucket/list-objects.ts",
    tests: ofFlow,
    faults: [
      {
        what: "the root .sourceignore is in the index",
        find: " && key !== ignoreKey",
        replace: "",
      },
      {
        what: "folder markers count as objects",
        find: '!key.endsWith("/") && ',
        replace: "",
      },
    ],
  },
  {
    file: "lib/sources/bucket/place-objects.ts",
    tests: ofFlow,
    faults: [
      {
        what: ".. is accepted as a file name",
        find: 'part === "." || part === ".."',
        replace: 'part === "."',
      },
    ],
  },
  {
    file: "lib/flows/bucket/check-bucket.ts",
    tests: ofLogins,
    faults: [
      {
        what: "signatures of Sluice's identity are sent to any host",
        find: "if (isAmazonS3(hostOf(endpoint, region)) ||",
        replace: "if (isAmazonS3(hostOf(endpoint, region)) || endpoint !== '' ||",
      },
    ],
  },
  {
    file: "lib/sources/bucket/s3-endpoint.ts",
    tests: ofLogins,
    faults: [
      {
        what: "a host with the prefix of an Amazon host is accepted",
        find: "(amazonaws\\.com|amazonaws\\.com\\.cn)$/",
        replace: "(amazonaws\\.com|amazonaws\\.com\\.cn)/",
      },
      {
        what: "a bucket is looked for with a name that leads to another path",
        find: "&& !/\\.\\.|\\.-|-\\./.test(bucket)",
        replace: "|| bucket.includes('..')",
      },
    ],
  },
  {
    file: "functions/settings/allowed-buckets.ts",
    tests: ["test/unit/functions/settings/allowed-buckets.test.ts"],
    faults: [
      {
        what: 'the namespace "constructor" may read any bucket',
        find: "Object.hasOwn(allowed, namespace) && (allowed[namespace] ?? []).includes(bucket)",
        replace: "(allowed[namespace] ?? []).some((one) => bucket.startsWith(one))",
      },
    ],
  },
];
