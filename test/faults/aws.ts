import type { FileFaults } from "./fault.ts";

const lagging = ["test/contract/lagging-dynamodb.test.ts"];

export const awsFaults: readonly FileFaults[] = [
  {
    file: "lib/aws/dynamodb/read-rows.ts",
    tests: lagging,
    faults: [
      {
        what: "UnprocessedKeys dropped",
        find: "      left = unprocessed[table.name];",
        replace: "      left = unprocessed[table.name] === undefined ? undefined : undefined;",
        named: "with partial batches",
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
    file: "lib/aws/dynamodb/write-rows.ts",
    tests: lagging,
    faults: [
      {
        what: "UnprocessedItems dropped",
        find: "    left = unprocessed?.[table.name] ?? [];",
        replace: "    left = unprocessed === undefined ? [] : [];",
        tests: ["test/unit/aws/dynamodb/dynamodb-stores.test.ts"],
      },
      {
        what: "fence does not check whether the lease is held",
        find: '"#token = :token AND attribute_exists(#holder)"',
        replace: '"#token = :token"',
        named: "inventory: DynamoDB",
      },
      {
        what: "an older fencing token is accepted",
        find: '"#token = :token AND attribute_exists(#holder)"',
        replace: '"#token >= :token AND attribute_exists(#holder)"',
        named: "inventory: DynamoDB",
      },
      {
        what: "a throttled transaction is not retried",
        find: 'new Set(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])',
        replace: 'new Set(["TransactionConflict"])',
        tests: ["test/unit/aws/dynamodb/dynamodb-faults.test.ts"],
        named: "or is throttled is retried",
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/subscriptions.ts",
    tests: lagging,
    faults: [
      {
        what: "subscriptions trusted after an interrupted call",
        find: `      // A call that ends between two transactions leaves a different list.
      rowCache.setSubscriptions(key, undefined);
`,
        replace: "",
        tests: ["test/unit/aws/dynamodb/dynamodb-stores.test.ts"],
      },
      {
        what: "listeners are read without strong consistency",
        find: `      ConsistentRead: true,
`,
        replace: "",
        named: "subscriptions: DynamoDB",
      },
      {
        what: "the followed part is written only with a new topic",
        find: "const put = [...after].filter(([topic, entry]) => before.get(topic) !== entry)",
        replace: "const put = [...after].filter(([topic]) => !before.has(topic))",
        tests: ["test/unit/aws/dynamodb/subscriptions.test.ts"],
      },
      {
        what: "an earlier release reads the followed part as a topic",
        find: "  return follows === undefined ? topic : `${topic}\\n${shortDigest(follows)}`;",
        replace: '  return follows === undefined || topic !== "" ? topic : `${topic}\\n${shortDigest(follows)}`;',
        tests: ["test/unit/aws/dynamodb/subscriptions.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/inventory-pages.ts",
    tests: lagging,
    faults: [
      {
        what: "collects young pages",
        find: "(isOver || at < youngest)",
        replace: "true",
        tests: ["test/unit/aws/dynamodb/dynamodb-stores.test.ts"],
      },
      {
        what: "collects a successor's pages",
        find: `          .filter(({ generation }) => isNoLater(generation, fence))
`,
        replace: "",
        tests: ["test/unit/aws/dynamodb/dynamodb-stores.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/inventory-store.ts",
    tests: lagging,
    faults: [
      {
        what: "inventory trusted after a swap without answer",
        find: `    rowCache.setInventory(owner, fence, undefined);
    return (await`,
        replace: "    return (await",
        tests: ["test/unit/aws/dynamodb/dynamodb-stores.test.ts"],
      },
      {
        what: "pointer swap unconditional",
        find: `          ConditionExpression: "generation = :before",
`,
        replace: `          ConditionExpression: "generation = :before OR attribute_exists(pk)",
`,
        tests: ["test/unit/aws/dynamodb/dynamodb-stores.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/ledger.ts",
    tests: lagging,
    faults: [
      {
        what: "a claim ignores a concurrent release",
        find: "        if (id !== undefined) known.set(id, row === undefined ? [] : claimsOf(row));",
        replace: "        if (id !== undefined && row !== undefined) known.set(id, claimsOf(row));",
        tests: ["test/unit/aws/dynamodb/dynamodb-stores.test.ts"],
      },
      {
        what: "claims are overwritten",
        find: `          ConditionExpression: "claims = :before",
          ExpressionAttributeValues`,
        replace: `          ConditionExpression: "claims = :before OR attribute_exists(pk)",
          ExpressionAttributeValues`,
        tests: ["test/unit/aws/dynamodb/dynamodb-stores.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/row-cache.ts",
    tests: lagging,
    faults: [
      {
        what: "rowCache of another lease trusted",
        find: "return known?.token === fence.token ? known : undefined;",
        replace: "return known;",
        tests: ["test/unit/aws/dynamodb/row-cache.test.ts"],
      },
      {
        what: "rowCache of an older version trusted",
        find: "const isTaken = known.token === undefined && known.version === item.version - 1;",
        replace: "const isTaken = known.token === undefined;",
        tests: ["test/unit/aws/dynamodb/row-cache.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/dynamodb/work-items.ts",
    tests: lagging,
    faults: [
      {
        what: "any pointer counts as the latest",
        find: '  const pointer = pointers.find((candidate) => candidate["generation"]?.S === latest);',
        replace: "  const [pointer] = pointers;",
        tests: ["test/unit/aws/dynamodb/dynamodb-faults.test.ts"],
        named: "a pointer of another save",
      },
      {
        what: "attribute_not_exists dropped",
        find: 'isFirst ? "attribute_not_exists(#version)" : "#version = :before"',
        replace: 'isFirst ? "attribute_not_exists(#version) OR #version >= #version" : "#version = :before"',
        named: "work items: DynamoDB",
      },
      {
        what: "a write with an unknown result is reported as a conflict",
        tests: ["test/unit/aws/dynamodb/dynamodb-faults.test.ts"],
        find: `    if (isPast && sends + attempts > 2) throw error;
`,
        replace: "",
      },
      {
        what: "work items are read without strong consistency",
        find: `        ConsistentRead: true,
`,
        replace: "",
        named: "work items: DynamoDB",
      },
      {
        what: "due minute rounded up",
        find: "Math.floor(time / bucketMs) * bucketMs",
        replace: "Math.ceil(time / bucketMs) * bucketMs",
        named: "work items: DynamoDB",
      },
      {
        what: "items in progress hide overdue ones after them",
        tests: ["test/unit/aws/dynamodb/dynamodb-faults.test.ts"],
        find: "    for (const named of chunksOf(rows, isRead)) yield await overdueAmong(table, named, now, isWanted, signal);\n",
        replace: `    for (const named of chunksOf(rows, isRead)) {
      const page = await overdueAmong(table, named, now, isWanted, signal);
      if (page.items.length === 0) return;
      yield page;
    }
`,
        named: "items in progress do not hide overdue ones after them",
      },
      {
        what: "items of excluded clusters are read",
        find: '    if (cluster !== "" && !isWanted(cluster)) return false;\n',
        replace: "",
        tests: ["test/unit/aws/dynamodb/dynamodb-faults.test.ts"],
      },
    ],
  },
  {
    file: "lib/aws/s3/s3-artifacts.ts",
    tests: ["test/unit/aws/s3/s3-faults.test.ts"],
    faults: [
      {
        what: "S3 artifact read without its digest",
        find: "return found?.digest === digest ? found.bytes : undefined;",
        replace: "return found?.bytes;",
      },
      {
        what: "an artifact without its checksum counts as missing",
        find: "if (await isChecked(bucket, key, digest, signal)) return true;",
        replace: "if (!(await isChecked(bucket, key, digest, signal))) return false;",
      },
    ],
  },
  {
    file: "lib/aws/s3/is-checked.ts",
    tests: ["test/unit/aws/s3/s3-faults.test.ts"],
    faults: [
      {
        what: "any checksum proves an artifact",
        find: "return found.ChecksumSHA256 === checksumOf(digest);",
        replace: "return found.ChecksumSHA256 !== undefined;",
      },
    ],
  },
  {
    file: "lib/aws/sqs.ts",
    tests: ["test/unit/aws/sqs-faults.test.ts"],
    faults: [
      { what: "hide of a removed message throws", find: '"InvalidParameterValue", ', replace: "" },
      { what: "delay rounded down", find: "Math.ceil(delayMs / 1000)", replace: "Math.floor(delayMs / 1000)" },
    ],
  },
];
