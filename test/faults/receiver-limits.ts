import type { FileFaults } from "./fault.ts";

/** Mistakes at the limits of a delivery, and in its repeated steps. */
export const receiverLimitFaults: readonly FileFaults[] = [
  {
    file: "lib/receiver/handle-delivery.ts",
    tests: ["test/unit/receiver/handle-delivery.test.ts"],
    faults: [
      {
        what: "a guessed path counts as the first contact with the cluster",
        find: "entry.secret !== undefined && deps.isFirstContact",
        replace: "deps.isFirstContact",
      },
      {
        what: "the first contact with the state counts as that with the cluster",
        find: "deps.isFirstContact(key.cluster)",
        replace: 'deps.isFirstContact("")',
      },
      {
        what: "the Secret of a Receiver is read in the home cluster",
        find: "cluster: key.cluster, namespace: key.namespace, name }",
        replace: 'cluster: "", namespace: key.namespace, name }',
      },
    ],
  },
  {
    file: "lib/receiver/wake-selected.ts",
    tests: ["test/unit/receiver/handle-delivery.test.ts"],
    faults: [
      {
        what: "each entry has its own budget for expressions",
        find: '  const cel = deps.cel.withBudget(key, "delivery");\n  let isWhole = true;\n  let woken = 0;\n  for (const resource of entry.resources) {',
        replace:
          '  let isWhole = true;\n  let woken = 0;\n  for (const resource of entry.resources) {\n    const cel = deps.cel.withBudget(key, "delivery");',
      },
      {
        what: "the log counts what the last entry wakes",
        find: "woken += names.length;",
        replace: "woken = names.length;",
      },
    ],
  },
  {
    file: "lib/receiver/secret-cache.ts",
    tests: ["test/unit/receiver/caches.test.ts"],
    faults: [
      {
        what: "a Secret that does not fit is read for each delivery",
        find: "fits(values) ? maxSecretAgeMs : minAgeMs",
        replace: "fits(values) ? maxSecretAgeMs : 0",
      },
      {
        what: "every caller that finds an expired Secret reads it again",
        find: "now === undefined || now === found ? load(ref, id) : now",
        replace: "load(ref, id)",
      },
      {
        what: "tokens of any length are kept",
        find: " && chars <= maxCachedChars",
        replace: "",
      },
    ],
  },
  {
    file: "lib/receiver/refusal-log.ts",
    tests: ["test/unit/receiver/refusal-log.test.ts"],
    faults: [
      { what: "refusals that never pause are no warnings", find: "    if (isQuiet) return;\n", replace: "" },
      {
        what: "all Receivers are cached without limit",
        find: "warned.size > maxReceivers",
        replace: "warned.size > 1000 * maxReceivers",
      },
    ],
  },
  {
    file: "lib/receiver/delivery.ts",
    tests: ["test/unit/receiver/authenticate.test.ts"],
    faults: [
      {
        what: "a body may have any number of values",
        find: "maxParts: maxBodyValues - 1",
        replace: "maxParts: 1_000 * maxBodyValues",
      },
    ],
  },
  {
    file: "lib/receiver/cdevents.ts",
    tests: ["test/unit/receiver/cdevents.test.ts"],
    faults: [
      {
        what: "the highest severity is refused",
        find: 'maybe("low", "medium", "high", "critical")',
        replace: 'maybe("low", "medium", "high")',
      },
      {
        what: "a list of an event has any number of entries",
        find: "limitedList(Link, maxListEntries)",
        replace: "limitedList(Link, 10 * maxListEntries)",
      },
    ],
  },
  {
    file: "lib/flows/receiver/index-entry.ts",
    tests: ["test/unit/flows/receiver/receiver-flow.test.ts"],
    faults: [
      {
        what: "a suspended Receiver lists what it selects",
        find: 'state === "ready" ? poolsOf(spec, rules) : []',
        replace: "poolsOf(spec, rules)",
      },
    ],
  },
];
