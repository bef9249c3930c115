import type { FileFaults } from "./fault.ts";

export const flowsFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/kustomization/apply-revision.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "inventory not written ahead",
        find: `  const ahead = planned ?? entries;
  if (planned !== undefined || isAhead) await deps.inventories.save(owner, ahead, run.fence, run.signal);`,
        replace: "  const ahead = planned ?? entries;",
      },
      {
        what: "inventory not written ahead (same line)",
        find: `  if (planned !== undefined || isAhead) await deps.inventories.save(owner, ahead, run.fence, run.signal);
`,
        replace: "",
      },
      {
        what: "claims also what only the status names and nobody wants",
        find: '.filter(({ id, state }) => state === "planned" && wanted.has(id))',
        replace: '.filter(({ state }) => state === "planned")',
      },
    ],
  },
  {
    file: "lib/flows/kustomization/check-dependencies.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [],
  },
];
