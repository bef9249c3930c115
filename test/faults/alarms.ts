import type { FileFaults } from "./fault.ts";

/** Mistakes in what tells people that something waits for them, and in how they mend it. */
export const alarmFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/mark-readiness.ts",
    tests: ["test/unit/flows/mark-readiness.test.ts"],
    faults: [
      {
        what: "an object whose run threw stays marked after it is Ready",
        find: "carried?.notReadyMark !== undefined || run.isRetry === true",
        replace: "carried?.notReadyMark !== undefined",
      },
      {
        what: "each short wait of a push costs two writes",
        find: "failures.includes(outcome) || deps.clock.now() - since > notReadyMs",
        replace: "failures.includes(outcome) || deps.clock.now() >= since",
      },
      {
        what: "a run that lost its lease marks the object of its successor",
        find: "    run.assertLease();\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/receiver/refusal-log.ts",
    tests: ["test/unit/receiver/refusal-log.test.ts"],
    faults: [
      {
        what: "requests to guessed paths raise the alarm on refused events",
        find: "if (isMeant && refusal.status !== 503)",
        replace: "if (refusal.status !== 503)",
      },
    ],
  },
  {
    file: "cli/redrive.ts",
    tests: ["test/unit/cli/redrive.test.ts"],
    faults: [
      {
        what: "a message that fails again is moved for ever",
        find: "!seen.has(id) && !sent.has(id)",
        replace: "!seen.has(id)",
      },
      {
        what: "a dry run removes what it shows",
        find: 'if (!dryRun && fate.kind !== "leave")',
        replace: 'if (fate.kind !== "leave")',
      },
    ],
  },
];
