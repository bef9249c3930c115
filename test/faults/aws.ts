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
    faults: [
      {
        what: "UnprocessedItems dropped",
        find: "    left = unprocessed?.[table.name] ?? [];",
        replace: "    left = unprocessed === undefined ? [] : [];",
        tests: ["test/unit/aws/dynamodb-stores.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/edges.ts",
    tests: lagging,
    faults: [
      {
        what: "edges believed after a call that broke off",
        find: `      // A call that ends between two transactions leaves another list.
      recollection.sawEdges(key, undefined);
`,
        replace: "",
        tests: ["test/unit/aws/dynamodb-stores.test.ts"],
      },
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
    faults: [
      {
        what: "collects young pages",
        find: "(isOver || at < youngest)",
        replace: "true",
        tests: ["test/unit/aws/dynamodb-stores.test.ts"],
      },
      {
        what: "collects a successor's pages",
        find: `          .filter(({ generation }) => isNoLater(generation, fence))
`,
        replace: "",
        tests: ["test/unit/aws/dynamodb-stores.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/inventory-store.ts",
    tests: lagging,
    faults: [
      {
        what: "inventory believed after a swap without answer",
        find: `    recollection.sawInventory(owner, fence, undefined);
    return (await`,
        replace: "    return (await",
        tests: ["test/unit/aws/dynamodb-stores.test.ts"],
      },
      {
        what: "pointer swap unconditional",
        find: `          ConditionExpression: "generation = :before",
`,
        replace: `          ConditionExpression: "generation = :before OR attribute_exists(pk)",
`,
        tests: ["test/unit/aws/dynamodb-stores.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/ledger.ts",
    tests: lagging,
    faults: [
      {
        what: "released claim met by a claim",
        find: "        if (id !== undefined) known.set(id, row === undefined ? [] : claimsOf(row));",
        replace: "        if (id !== undefined && row !== undefined) known.set(id, claimsOf(row));",
        tests: ["test/unit/aws/dynamodb-stores.test.ts"],
      },
      {
        what: "claims overwritten",
        find: `          ConditionExpression: "claims = :before",
          ExpressionAttributeValues`,
        replace: `          ConditionExpression: "claims = :before OR attribute_exists(pk)",
          ExpressionAttributeValues`,
        tests: ["test/unit/aws/dynamodb-stores.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/recollection.ts",
    tests: lagging,
    faults: [
      {
        what: "recollection of another lease trusted",
        find: "return known?.token === fence.token ? known : undefined;",
        replace: "return known;",
        tests: ["test/unit/aws/recollection.test.ts"],
      },
      {
        what: "recollection of an older version trusted",
        find: "const isTaken = known.token === undefined && known.version === item.version - 1;",
        replace: "const isTaken = known.token === undefined;",
        tests: ["test/unit/aws/recollection.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/transact.ts",
    tests: lagging,
    faults: [
      {
        what: "throttled transaction not tried again",
        find: 'new Set(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])',
        replace: 'new Set(["TransactionConflict"])',
        tests: ["test/unit/aws/dynamodb-faults.test.ts"],
        named: "or a table that throttles",
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/work-items.ts",
    tests: lagging,
    faults: [
      {
        what: "any pointer taken for the latest",
        find: '  const pointer = pointers.find((candidate) => candidate["generation"]?.S === latest);',
        replace: "  const [pointer] = pointers;",
        tests: ["test/unit/aws/dynamodb-faults.test.ts"],
        named: "a pointer that is not of the save",
      },
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
    faults: [
      {
        what: "S3 artifact read without its digest",
        find: "return found?.digest === digest ? found.bytes : undefined;",
        replace: "return found?.bytes;",
      },
    ],
  },
  {
    file: "lib/aws/sqs/sqs-visibility.ts",
    tests: ["test/unit/aws/sqs-faults.test.ts"],
    faults: [{ what: "hide of a removed message throws", find: '"InvalidParameterValue", ', replace: "" }],
  },
  {
    file: "lib/aws/sqs/sqs-wake-ups.ts",
    tests: ["test/unit/aws/sqs-faults.test.ts"],
    faults: [{ what: "delay rounded down", find: "Math.ceil(delayMs / 1000)", replace: "Math.floor(delayMs / 1000)" }],
  },
];
