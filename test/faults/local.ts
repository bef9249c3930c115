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
    file: "local/state/subscriptions.ts",
    tests: ["test/contract/local-state.test.ts"],
    faults: [
      {
        what: "subscriptions are never removed",
        find: `        for (const topic of removed) remove.run(topic, text);
`,
        replace: "",
      },
      {
        what: "the followed part is written only with a new topic",
        find: "!before.has(topic) || before.get(topic) !== follows",
        replace: "!before.has(topic)",
      },
    ],
  },
  {
    file: "local/state/inventory-store.ts",
    tests: ["test/contract/local-state.test.ts"],
    faults: [
      {
        what: "collects pages that are still in use",
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
    file: "local/state/verified-files.ts",
    tests: ["test/unit/local/state/verified-files.test.ts"],
    faults: [
      {
        what: "a file counts as unchanged by a time that any program can set",
        find: "`${ino} ${size} ${mtimeNs} ${ctimeNs}`",
        replace: "`${ino} ${size} ${mtimeNs} ${typeof ctimeNs}`",
      },
      {
        what: "a file that was just written is trusted",
        find: "if (isOld) verified",
        replace: "if (isOld || before.size > 0n) verified",
      },
      {
        what: "a file is trusted for any digest",
        find: "if (known?.digest === digest) {",
        replace: "if (known !== undefined) {",
      },
      {
        what: "each look reads the file",
        find: "if (isOld) verified.set(file, { digest, state: stateOf(before) });",
        replace: 'if (isOld) verified.set(file, { digest, state: "" });',
      },
    ],
  },
  {
    file: "local/state/message-queue.ts",
    tests: ["test/unit/local/state/message-queue.test.ts", "test/contract/local-state.test.ts"],
    faults: [
      {
        what: "received messages of a dead process stay hidden",
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
      { what: "overdue not longest first", find: "ORDER BY overdue_at, key LIMIT", replace: "ORDER BY key LIMIT" },
      {
        what: "every page of overdue items starts where the first did",
        find: '        [at, key] = [numberColumn(last, "overdue_at"), textColumn(last, "key")];\n',
        replace: '        key = textColumn(last, "key");\n',
      },
    ],
  },
  {
    file: "lib/core/layout.ts",
    tests: ["test/contract/local-layout.test.ts"],
    faults: [
      {
        what: "an older release continues with data of a newer one",
        find: 'return found < version ? "older" : "newer";',
        replace: 'return found < version ? "older" : "ours";',
      },
      {
        what: "an interrupted upgrade starts again with its first step",
        find: "    await reached(from + 1);\n  }",
        replace: "  }\n  await reached(version);",
      },
    ],
  },
  {
    file: "local/join-clusters.ts",
    tests: ["test/unit/local/join-clusters.test.ts"],
    faults: [
      {
        what: "a cluster that is open and not served counts as served",
        find: "served.has(entry) ? ids.get(entry) : undefined",
        replace: "ids.get(entry)",
      },
    ],
  },
  {
    file: "local/local-kubeconfig.ts",
    tests: ["test/unit/local/local-kubeconfig.test.ts"],
    faults: [
      {
        what: "an empty entry makes KUBECONFIG count as unset",
        find: '.some((path) => path !== "")',
        replace: '.every((path) => path !== "")',
      },
    ],
  },
];
