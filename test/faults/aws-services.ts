import type { FileFaults } from "./fault.ts";

/** Mistakes in the adapters of single AWS services, found by planting some by hand. */
export const awsServiceFaults: readonly FileFaults[] = [
  {
    file: "lib/aws/kms-data-keys.ts",
    tests: ["test/unit/aws/kms-data-keys.test.ts"],
    faults: [
      {
        what: "the second role of a region decrypts with the session of the first",
        find: 'const key = `${region} ${role ?? ""}`;',
        replace: "const key = region;",
      },
    ],
  },
  {
    file: "lib/aws/ecr/ecr-login.ts",
    tests: ["test/unit/aws/ecr/ecr-login.test.ts"],
    faults: [
      {
        what: "a caller gets the token of another region that is being fetched",
        find: "const running = fetching.get(region) ?? fetch(region).finally(() => fetching.delete(region));\n    fetching.set(region, running);",
        replace:
          'const running = fetching.get("") ?? fetch(region).finally(() => fetching.delete(""));\n    fetching.set("", running);',
      },
      {
        what: "a token is used until it expires",
        find: "now + Math.min((token.expiresAt - now) * shareOfLife, maxCachedMs)",
        replace: "now + Math.min(token.expiresAt - now, maxCachedMs)",
      },
    ],
  },
  {
    file: "lib/aws/sqs.ts",
    tests: ["test/unit/aws/sqs-faults.test.ts"],
    faults: [
      {
        what: "a dead letter of a cluster with an odd id is refused by the queue",
        find: "MessageGroupId: messageGroup(letter.key.cluster),",
        replace: "MessageGroupId: letter.key.cluster,",
      },
      {
        what: "a message is hidden for longer than SQS takes",
        find: "Math.min(Math.ceil(visibilityMs / 1000), maxVisibilitySeconds)",
        replace: "Math.ceil(visibilityMs / 1000)",
      },
    ],
  },
  {
    file: "lib/aws/s3/create-object.ts",
    tests: ["test/unit/aws/s3/s3-faults.test.ts"],
    faults: [
      {
        what: "a large artifact overwrites one that is there",
        find: "      ...condition,\n      UploadId,",
        replace: "      UploadId,",
      },
    ],
  },
  {
    file: "lib/aws/eks/eks-targets.ts",
    tests: ["test/e2e/flow/two-clusters.test.ts"],
    faults: [
      {
        what: "a ca.crt with an additional CA is trusted with Sluice's own token",
        find: "fingerprintsIn(ca).every((one)",
        replace: "fingerprintsIn(ca).some((one)",
        named: "cannot send Sluice's own token to another server",
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/cluster-states.ts",
    tests: ["test/unit/aws/dynamodb/cluster-states.test.ts"],
    faults: [
      {
        what: "an expired hold counts until DynamoDB removes it",
        find: "filter((row) => numberOf(row, ttlAttribute) > now)",
        replace: "filter((row) => numberOf(row, ttlAttribute) > 0)",
      },
    ],
  },
];
