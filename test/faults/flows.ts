import type { FileFaults } from "./fault.ts";

export const flowsFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/kustomization/apply-revision.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "failed apply does not save what it applied",
        find: `    await saveIfChanged(ahead, now, of);
    throw new ApplyFailed`,
        replace: "    throw new ApplyFailed",
        named: "a run that fails is remembered",
      },

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
    faults: [
      {
        what: "dependsOn ignores generation",
        find: "metadata.generation === status.observedGeneration && ",
        replace: "",
        named: "what a Kustomization waits for",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/expected-by-siblings.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "one that is suspended is about to have nothing",
        find: ".filter(({ spec }) => referenceFaults(spec).length === 0)",
        replace: ".filter(({ spec }) => spec.suspend !== true && referenceFaults(spec).length === 0)",
        named: "while the other is suspended",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/kustomization-flow.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "no write of a Kustomization's run is fenced",
        find: "const cluster = fencedCluster(deps.cluster, run);",
        replace: "const cluster = deps.cluster;",
      },
    ],
  },
  {
    file: "lib/flows/tell-of-object.ts",
    tests: ["test/unit/flows/report-outage.test.ts"],
    faults: [
      {
        what: "an outage is told without a look at the lease",
        find: "const cluster = fencedCluster(deps.cluster, run);",
        replace: "const cluster = deps.cluster;",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/standing.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "claim of a dying owner counts",
        find: 'return isGoingWithAll(live) ? "going" : "alive";',
        replace: 'return isGoingWithAll(live) ? "alive" : "alive";',
        named: "its heir is being deleted with all that it has",
      },
      {
        what: "claim of an owner that is gone counts",
        find: 'if (live?.metadata.uid !== ownerUid) return "gone";',
        replace: 'if (live?.metadata.uid !== ownerUid) return "alive";',
        named: "lives no more and nobody has let go of its claim",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/prune-all.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "deletion deletes what siblings are about to have",
        find: "applySetOf(of, source)",
        replace: "applySetOf(of, source && undefined)",
        named: "as when a Kustomization gets another name",
      },
      {
        what: "nobody is told where a deletion leaves all that there is",
        find: "  await prune(order, applySetOf(of, undefined), of.run.signal);",
        replace: "  await Promise.resolve([prune, order]);",
        named: "its heir is deleted and leaves all that it has",
      },
    ],
  },
];
