import type { FileFaults } from "./fault.ts";

export const applyFaults: readonly FileFaults[] = [
  {
    file: "lib/apply/apply-object.ts",
    tests: ["test/unit/apply/apply-object.test.ts"],
    faults: [
      {
        what: "replace does not rehearse the successor",
        find: `  await assertRecreatable(desired, cluster, signal);
`,
        replace: "",
      },
      {
        what: "replace deletes without uid",
        find: "await cluster.delete(desired.ref, judgedOnly(live.metadata), signal);",
        replace: 'await cluster.delete(desired.ref, { propagation: "Background" }, signal);',
      },
    ],
  },
  {
    file: "lib/apply/desired-objects.ts",
    tests: ["test/unit/apply/desired-objects.test.ts"],
    faults: [
      {
        what: "the digest of what is asked for is its text",
        find: "keyedDigest(key, canonicalJson(manifest))",
        replace: "canonicalJson(manifest)",
      },
    ],
  },
  {
    file: "lib/apply/fenced-cluster.ts",
    tests: ["test/unit/apply/fenced-cluster.test.ts", "test/unit/kube/fenced-writes.test.ts"],
    faults: [
      {
        what: "no write asks for the lease",
        find: "const beforeSend = (): void => run.assertLease();",
        replace: "const beforeSend = (): void => undefined;",
      },
      {
        what: "no write asks for the lease, as a whole flow notices it",
        find: "const beforeSend = (): void => run.assertLease();",
        replace: "const beforeSend = (): void => undefined;",
        tests: ["test/e2e/flow/embedded.test.ts"],
        named: "what a Kustomization waits for",
      },
      {
        what: "create not fenced",
        find: "cluster.create(manifest, guarded(options), signal)",
        replace: "cluster.create(manifest, options, signal)",
      },
      {
        what: "delete not fenced at the call",
        find: "      beforeSend();\n      return cluster.delete",
        replace: "      return cluster.delete",
      },
      {
        what: "delete not fenced when it is sent",
        find: "cluster.delete(ref, { ...options, beforeSend }, signal)",
        replace: "cluster.delete(ref, options, signal)",
      },
      {
        what: "writes not fenced when they are sent",
        find: "return { ...options, beforeSend };",
        replace: "return options;",
      },
      {
        what: "writes not fenced at the call",
        find: "    beforeSend();\n    return { ...options",
        replace: "    return { ...options",
      },

      {
        what: "patch not fenced",
        find: "cluster.patch(ref, patch, guarded(options), signal)",
        replace: "cluster.patch(ref, patch, options, signal)",
      },
      {
        what: "apply not fenced",
        find: "cluster.apply(manifest, guarded(options), signal)",
        replace: "cluster.apply(manifest, options, signal)",
      },
    ],
  },
  {
    file: "lib/apply/next-inventory.ts",
    tests: ["test/unit/apply/next-inventory.test.ts"],
    faults: [
      {
        what: "retained object wanted again is not planned/claimed",
        find: '!known.has(id) || known.get(id)?.state === "retained"',
        replace: "!known.has(id)",
      },
    ],
  },
  {
    file: "lib/apply/plan.ts",
    tests: ["test/unit/apply/plan.test.ts"],
    faults: [
      {
        what: "proof ignores version",
        find: `    entry.version === desired.ref.version &&
`,
        replace: "",
      },
      {
        what: "proof ignores fingerprint",
        find: `    entry.fingerprint === fingerprint(live.managedFields, key) &&
`,
        replace: `    key !== undefined &&
`,
      },
      {
        what: "proof ignores deletionTimestamp",
        find: `    live.deletionTimestamp === undefined &&
`,
        replace: "",
      },
      {
        what: "ended Job of another digest counts as done",
        find: '  if (entry?.state !== "live" || entry.uid === undefined || entry.desired !== desired.digest) return undefined;',
        replace: '  if (entry?.state !== "live" || entry.uid === undefined) return undefined;',
      },
      {
        what: "deleted TTL Job never created again",
        find: "(isAwaited ? ended(desired, entry) : undefined)",
        replace: "ended(desired, entry)",
      },
    ],
  },
  {
    file: "lib/apply/takeover.ts",
    tests: ["test/unit/apply/takeover.test.ts"],
    faults: [
      {
        what: "ssa: Merge on the live object ignored",
        find: "if (isMerged(live) || isMerged(desired)) return undefined;",
        replace: "if (isMerged(desired)) return undefined;",
      },
      {
        what: "takeover patch without version guard",
        find: "  return [...patch, ...guard];",
        replace: "  return patch;",
      },
    ],
  },
];
