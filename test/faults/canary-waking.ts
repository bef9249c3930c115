import type { FileFaults } from "./fault.ts";

/** How a Canary tells that something has changed, and how it comes to look. */
export const canaryWakingFaults: readonly FileFaults[] = [
  {
    file: "lib/canary/revision/go-dump.ts",
    tests: ["test/unit/canary/revision/hashes.test.ts"],
    faults: [
      {
        what: "an empty list is hashed like an unset one",
        find: '    return `[${value.map(each).join(" ")}]`;',
        replace: '    return value.length === 0 ? "<nil>" : `[${value.map(each).join(" ")}]`;',
      },
      {
        what: "inlined fields are read from a separate field",
        find: 'const isInlined = jsonName === "";',
        replace: 'const isInlined = jsonName === "none";',
      },
    ],
  },
  {
    file: "lib/canary/revision/spew-hash.ts",
    tests: ["test/unit/canary/revision/hashes.test.ts"],
    faults: [
      {
        what: "keys of a map are sorted by UTF-16",
        find: "return Buffer.compare(Buffer.from(a), Buffer.from(b));",
        replace: "return a < b ? -1 : Number(a > b);",
      },
    ],
  },
  {
    file: "lib/canary/revision/quantity-dump.ts",
    tests: ["test/unit/canary/revision/hashes.test.ts"],
    faults: [
      {
        what: "a large quantity is not capped",
        find: 'const isTooMuch = format === "BinarySI"',
        replace: 'const isTooMuch = format === "DecimalSI"',
      },
      {
        what: "a quantity that is not canonical keeps its text",
        find: 'text: isCanonical ? text : ""',
        replace: "text: isCanonical ? text : text",
      },
    ],
  },
  {
    file: "lib/queue/observed-kinds.ts",
    tests: ["test/unit/queue/observed-kinds.test.ts"],
    faults: [
      {
        what: "the status of a target wakes its Canary",
        find: "JSON.stringify([uid, generation ?? resourceVersion])",
        replace: "JSON.stringify([uid, resourceVersion])",
      },
      {
        what: "a config without a generation never counts as changed",
        find: "JSON.stringify([uid, generation ?? resourceVersion])",
        replace: "JSON.stringify([uid, generation])",
      },
      {
        what: "labelled configs and those of Canaries share their summaries",
        find: "beside: canaryKind, observedAs: targetGroup",
        replace: "beside: canaryKind",
      },
    ],
  },
  {
    file: "functions/sweep-cluster.ts",
    tests: ["test/unit/functions/sweep-cluster.test.ts"],
    faults: [
      {
        what: "records of targets are deleted while a cluster has no Canaries",
        find: "if (near?.size === 0) continue;",
        replace: "",
      },
      {
        what: "objects of namespaces without Canaries are stored if all are listed at once",
        find: 'all.filter(({ metadata }) => namespaces.has(metadata.namespace ?? ""))',
        replace: "all",
      },
    ],
  },
  {
    file: "local/watch-kinds.ts",
    tests: ["test/unit/local/watch-kinds.test.ts"],
    faults: [
      {
        what: "targets are watched after the last Canary was deleted",
        find: 'over.abort(new Error("there is nothing to watch it for"));',
        replace: "",
      },
    ],
  },
  {
    file: "local/watch-resources.ts",
    tests: ["test/unit/local/watch-kinds.test.ts"],
    faults: [
      {
        what: "objects of namespaces without Canaries are read",
        find: 'if (deps.near?.hasIn(metadata.namespace ?? "") === false) continue;',
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/announce-changed.ts",
    tests: ["test/unit/flows/announce-changed.test.ts"],
    faults: [
      {
        what: "an unchanged object is announced",
        find: 'return change === "created" || change === "configured";',
        replace: 'return change !== "skipped";',
      },
    ],
  },
];
