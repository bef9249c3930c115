import type { FileFaults } from "./fault.ts";

export const localFaults: readonly FileFaults[] = [
  {
    file: "local/feeder.ts",
    tests: ["test/unit/local/feeder.test.ts"],
    faults: [
      {
        what: "failed message is removed",
        find: `        if (batchItemFailures.length > 0) return;
`,
        replace: "",
      },
    ],
  },
  {
    file: "local/state/artifact-records.ts",
    tests: ["test/contract/local-state.test.ts"],
    faults: [
      {
        what: "retain keeps records of former sources",
        find: "NOT (source_uid = ? AND digest IN (SELECT value FROM json_each(?)))",
        replace: "source_uid = ? AND digest NOT IN (SELECT value FROM json_each(?))",
      },
    ],
  },
  {
    file: "local/state/edges.ts",
    tests: ["test/contract/local-state.test.ts"],
    faults: [
      {
        what: "edges are never removed",
        find: `        for (const what of removed) remove.run(what, text);
`,
        replace: "",
      },
    ],
  },
  {
    file: "local/state/inventory-store.ts",
    tests: ["test/contract/local-state.test.ts"],
    faults: [
      {
        what: "collects pages that are still named",
        find: "      if (!isSame(page)) replacePage.run(now, ...id, page, old);",
        replace: "      if (isSame(page)) replacePage.run(now, ...id, page, old);",
        tests: ["test/unit/local/state/inventory-store.test.ts"],
      },
      {
        what: "generation saved once only",
        find: "putPointer.run(generation, savedUnder ?? null,",
        replace: "putPointer.run(generation, before?.savedUnder ?? savedUnder ?? null,",
      },
    ],
  },
  {
    file: "local/state/message-queue.ts",
    tests: ["test/unit/local/state/message-queue.test.ts", "test/contract/local-state.test.ts"],
    faults: [
      {
        what: "messages in hand of a dead process stay hidden",
        find: `    WHEN receives > 0 THEN 0
`,
        replace: "",
      },
      {
        what: "hide ignores which delivery it was",
        find: " WHERE id = ? AND receives = ?",
        replace: " WHERE id = ? AND receives >= ?",
      },
      {
        what: "a clock that jumped back leaves messages hidden",
        find: `    WHEN visible_at > ?1 + \${maxWaitMs} THEN 0
`,
        replace: "",
      },
    ],
  },
  {
    file: "local/state/work-items.ts",
    tests: ["test/contract/local-state.test.ts"],
    faults: [
      {
        what: "SQLite put: version condition weakened",
        find: 'item = ? WHERE key = ? AND version = ?"',
        replace: 'item = ? WHERE key = ? AND version <= ?"',
      },
      { what: "overdue not longest first", find: 'ORDER BY overdue_at, key"', replace: 'ORDER BY key"' },
    ],
  },
  {
    file: "local/kubernetes/rules/warnings.ts",
    tests: ["test/unit/local/kubernetes/rules/warnings.test.ts"],
    faults: [
      {
        what: "a finalizer is warned about at each change of its object",
        find: ', ...textsOf(objectOf(old, "metadata"), "finalizers")]',
        replace: "]",
      },
    ],
  },
];
