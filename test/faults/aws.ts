import type { FileFaults } from "./fault.ts";

const lagging = ["test/contract/lagging-dynamodb.test.ts"];

export const awsFaults: readonly FileFaults[] = [
  {
    file: "lib/aws/dynamodb/batch-get.ts",
    tests: lagging,
    faults: [
      {
        what: "UnprocessedKeys dropped",
        find: "      left = unprocessed[table.name];",
        replace: "      left = unprocessed[table.name] === undefined ? undefined : undefined;",
        named: "where batches are done in part",
      },
      {
        what: "stale reads by default (pointer, claims)",
        find: "  consistent = true,",
        replace: "  consistent = false,",
        named: "ledger: DynamoDB",
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/batch-write.ts",
    tests: lagging,
    faults: [],
  },
  {
    file: "lib/aws/dynamodb/edges.ts",
    tests: lagging,
    faults: [
      {
        what: "stale read of listeners",
        find: `        ConsistentRead: true,
`,
        replace: "",
        named: "edges: DynamoDB",
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/fenced-writes.ts",
    tests: lagging,
    faults: [
      {
        what: "fence does not ask whether the lease is held",
        find: '"#token = :token AND attribute_exists(#holder)"',
        replace: '"#token = :token"',
        named: "inventory: DynamoDB",
      },
      {
        what: "an older token passes",
        find: '"#token = :token AND attribute_exists(#holder)"',
        replace: '"#token >= :token AND attribute_exists(#holder)"',
        named: "inventory: DynamoDB",
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/inventory-page-rows.ts",
    tests: lagging,
    faults: [],
  },
  {
    file: "lib/aws/dynamodb/inventory-store.ts",
    tests: lagging,
    faults: [],
  },
  {
    file: "lib/aws/dynamodb/ledger.ts",
    tests: lagging,
    faults: [],
  },
  {
    file: "lib/aws/dynamodb/recollection.ts",
    tests: lagging,
    faults: [],
  },
  {
    file: "lib/aws/dynamodb/transact.ts",
    tests: lagging,
    faults: [],
  },
  {
    file: "lib/aws/dynamodb/work-items.ts",
    tests: lagging,
    faults: [
      {
        what: "attribute_not_exists dropped",
        find: 'isFirst ? "attribute_not_exists(#version)" : "#version = :before"',
        replace: 'isFirst ? "attribute_not_exists(#version) OR #version >= #version" : "#version = :before"',
        named: "work items: DynamoDB",
      },
      {
        what: "in-doubt write answered as conflict",
        tests: ["test/unit/aws/dynamodb-faults.test.ts"],
        find: `    if (isPast && sends + attempts > 2) throw error;
`,
        replace: "",
      },
      {
        what: "stale read of work items",
        find: `        ConsistentRead: true,
`,
        replace: "",
        named: "work items: DynamoDB",
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/work-row.ts",
    tests: lagging,
    faults: [
      {
        what: "due minute rounded up",
        find: "Math.floor(due / bucketMs) * bucketMs",
        replace: "Math.ceil(due / bucketMs) * bucketMs",
        named: "work items: DynamoDB",
      },
    ],
  },
  {
    file: "lib/aws/s3/s3-artifacts.ts",
    tests: ["test/unit/aws/s3-faults.test.ts"],
    faults: [],
  },
  {
    file: "lib/aws/sqs/sqs-visibility.ts",
    tests: ["test/unit/aws/sqs-faults.test.ts"],
    faults: [{ what: "hide of a removed message throws", find: '"InvalidParameterValue", ', replace: "" }],
  },
  {
    file: "lib/aws/sqs/sqs-wake-ups.ts",
    tests: ["test/unit/aws/sqs-faults.test.ts"],
    faults: [],
  },
];
