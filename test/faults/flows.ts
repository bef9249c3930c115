import type { FileFaults } from "./fault.ts";

export const flowsFaults: readonly FileFaults[] = [
  {
    file: "lib/apply/inventory.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "inventory not written ahead",
        tests: ["test/e2e/flow/interrupted.test.ts"],
        find: `  const ahead = planned ?? entries;
  if (planned !== undefined || isAhead) await inventories.save(owner, ahead, fence, signal);`,
        replace: "  const ahead = planned ?? entries;",
        named: "died between claim and apply and neither wants it any longer, in the order a,b",
      },
      {
        what: "inventory not written ahead (same line)",
        tests: ["test/e2e/flow/interrupted.test.ts"],
        find: `  if (planned !== undefined || isAhead) await inventories.save(owner, ahead, fence, signal);
`,
        replace: "",
        named: "died between claim and apply and neither wants it any longer, in the order a,b",
      },
      {
        what: "unwanted objects that only the status lists are claimed too",
        find: '.filter(({ id, state }) => state === "planned" && wanted.has(id))',
        replace: '.filter(({ state }) => state === "planned")',
        named: "a status that names objects of other owners deletes nothing",
      },
      {
        what: "retained object wanted again is not planned/claimed",
        find: '!known.has(id) || known.get(id)?.state === "retained"',
        replace: "!known.has(id)",
        tests: ["test/unit/apply/inventory.test.ts"],
      },
    ],
  },
  {
    file: "lib/flows/source/external-artifact.ts",
    tests: ["test/unit/flows/source/external-artifact.test.ts"],
    faults: [
      {
        what: "a file with another digest is taken",
        find: '.digest("hex") === wanted) return body;',
        replace: '.digest("hex") !== "") return body;',
      },
      {
        what: "a missing file fails the run",
        find: "if (status === 404) return undefined;",
        replace: "if (status === 0) return undefined;",
      },
    ],
  },
  {
    file: "lib/flows/owner/ready-expr.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a dependency of another namespace is read with Sluice's own rights",
        find: "if (user === undefined || ref.namespace === namespace) return dependency;",
        replace: "if (user === undefined || ref.namespace !== undefined) return dependency;",
        named: "a readyExpr may read",
      },
      {
        what: "a dependency of the own namespace is read with the account's rights",
        find: "if (user === undefined || ref.namespace === namespace) return dependency;",
        replace: "if (user === undefined) return dependency;",
        named: "a readyExpr may read",
      },
      {
        what: "the account that the installation names is ignored",
        find: "accountUser(live, deps.defaultServiceAccount)",
        replace: 'accountUser(live, "")',
        named: "a readyExpr may read",
      },
    ],
  },
  {
    file: "lib/cel/wasm-cel.ts",
    tests: ["test/unit/cel/cel-budgets.test.ts", "test/unit/cel/hostile-expressions.test.ts"],
    faults: [
      {
        what: "each message has its own budget",
        find: "budget.left = Math.max(0, budget.left - answer.cost);",
        replace: "budget.left = Math.max(0, budget.left);",
        named: "a CEL budget",
      },
      {
        what: "a message that took too long costs nothing",
        find: 'error.reason === "time") budget.left = 0;',
        replace: 'error.reason === "time") budget.left = maxRunCost;',
        named: "a CEL budget",
      },
      {
        what: "a result may have any number of values",
        find: "    checkJson(text);\n",
        replace: "",
        named: "a hostile CEL expression",
      },
      {
        what: "a result with too many values is not an error",
        find: "    throw tooLarge(what, error);\n",
        replace: "    throw error;\n",
        named: "a hostile CEL expression",
      },
    ],
  },
  {
    file: "lib/flows/owner/ready-expr.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "integers of a dependency are doubles",
        find: '["self", "dep"], run.signal, "integers")',
        replace: '["self", "dep"], run.signal)',
        named: "reads a dependency with the fields of Flux's types",
      },
    ],
  },
  {
    file: "lib/flows/owner/inventory-uid.ts",
    tests: ["test/e2e/flow/two-clusters.test.ts"],
    faults: [
      {
        what: "credentials with fewer rights split the inventory",
        find: "if (((await saved(known)) ?? []).length > 0) throw",
        replace: "if ((await saved(known)) === undefined) throw",
        named: "can no longer read the cluster's uid",
      },
    ],
  },
  {
    file: "lib/flows/owner/service-account.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "the installation's account wins over the one that the spec names",
        find: 'serviceAccountName === "" ? byDefault : serviceAccountName',
        replace: 'byDefault === "" ? serviceAccountName : byDefault',
        named: "its own takes precedence",
      },
      {
        what: "a removed account does not keep its objects",
        find: "namespace, name }, signal)) !== undefined;",
        replace: "namespace, name }, signal)) !== null;",
        named: "whose account was removed",
      },
    ],
  },
  {
    file: "lib/api/kinds/declaration.ts",
    tests: ["test/unit/functions/make-flows.test.ts"],
    faults: [
      {
        what: "a kind of the same name in another group counts as ours",
        find: "each.kind === kind && each.group === group",
        replace: "each.kind === kind && group !== undefined",
      },
    ],
  },
  {
    file: "lib/flows/kinds/status-reporter.ts",
    tests: ["test/unit/flows/outages-reported.test.ts"],
    faults: [
      {
        what: "an outage is reported without a check of the lease",
        find: "leasedCluster(deps.home, run)",
        replace: "deps.home",
      },
    ],
  },
  {
    file: "lib/flows/owner/owner-state.ts",
    tests: ["test/e2e/flow/interrupted.test.ts"],
    faults: [
      {
        what: "the claim of a terminating owner counts",
        tests: ["test/e2e/flow/interrupted.test.ts"],
        find: 'return isBeingDeletedWithObjects(live) ? "deleting" : "alive";',
        replace: 'return isBeingDeletedWithObjects(live) ? "alive" : "alive";',
        named: "its next owner is being deleted with all its objects",
      },
      {
        what: "the claim of a deleted owner counts",
        tests: ["test/e2e/flow/interrupted.test.ts"],
        find: 'if (live?.metadata.uid !== ownerUid) return "gone";',
        replace: 'if (live?.metadata.uid !== ownerUid) return "alive";',
        named: "is deleted and its claim was never removed",
      },
    ],
  },
];
