import type { FileFaults } from "./fault.ts";

/** Likely mistakes in what the numbered statements about applies, inventory and prune of a Kustomization say; each is noticed by a story with its number. */
export const applyStatementFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/kustomization/prune.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "pruned objects are in no event",
        find: '(kind === "deleted" || kind === "skipped") &&',
        replace: 'kind === "skipped" &&',
        named: "(96)",
      },
    ],
  },
  {
    file: "lib/apply/set/opt-outs.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a label does not protect from prune",
        find: 'return markOf(live, "prune", "disabled");',
        replace: 'return markOf({ ...live, labels: {} }, "prune", "disabled");',
        named: "(97)",
      },
      {
        what: "an annotation does not protect from prune",
        find: 'return markOf(live, "prune", "disabled");',
        replace: 'return markOf({ ...live, annotations: {} }, "prune", "disabled");',
        named: "(97)",
      },
      {
        what: "one of the owner labels is enough",
        find: "every(([key, value]) => metadata?.labels?.[key] === value)",
        replace: "some(([key, value]) => metadata?.labels?.[key] === value)",
        named: "(98)",
      },
    ],
  },
  {
    file: "lib/apply/set/field-managers.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "only a manager of exactly kubectl's name is taken over",
        find: 'manager.startsWith("kubectl")',
        replace: 'manager === "kubectl"',
        named: "(74, 75)",
      },
      {
        what: "every edit is taken over",
        find: 'manager.startsWith("kubectl") ||',
        replace: 'manager !== "" ||',
        named: "(74, 75)",
      },
    ],
  },
  {
    file: "lib/apply/takeover.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "kubectl's annotations stay",
        find: "const patch: JsonObject[] = isLeft ? [] : formerMarks(live);",
        replace: "const patch: JsonObject[] = [];\n  void formerMarks;",
        named: "(74, 75)",
      },
      {
        what: "ssa: Merge is ignored",
        find: "const isLeft = isMerged(live) || isMerged(desired);",
        replace: "const isLeft = false && isMerged(live) && isMerged(desired);",
        named: "(77)",
      },
    ],
  },
  {
    file: "lib/apply/refusals.ts",
    tests: ["test/unit/apply/dry-run.test.ts"],
    faults: [
      {
        what: "a denial by a policy counts as an immutable field",
        find: 'const isOfRule = reason === "Invalid" && !ofAdmission.test(message);',
        replace: 'const isOfRule = reason === "Invalid" || ofAdmission.test(message);',
      },
      {
        what: "a temporary state counts as an immutable field",
        find: "(?: (?:after|once)\\b|[.,\\]]|$)/",
        replace: "/",
      },
      {
        what: "a RoleBinding of another role is never recreated",
        find: "  /cannot change roleRef/,\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/apply/dry-run.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "the force annotation is ignored",
        find: "(force || isForced(metadata) || isForced(live.metadata))",
        replace: "force",
        named: "(81)",
      },
    ],
  },
  {
    file: "lib/apply/apply-object.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "force does not wait for the old object's finalizers",
        find: "  if (gone === undefined)\n",
        replace: '  if (gone === undefined && uid === "")\n',
        named: "(82)",
      },
      {
        what: "the inventory has the version v1 for every object",
        find: "    version: desired.ref.version,\n",
        replace: '    version: "v1",\n',
        named: "(102)",
      },
    ],
  },
  {
    file: "lib/apply/set/apply-order.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "custom-apply-stage-kinds is ignored",
        find: 'return customStageKinds.has(kind) ? "custom" : "rest";',
        replace: 'return customStageKinds.size < 0 ? "custom" : "rest";',
        named: "(84)",
      },
    ],
  },
  {
    file: "lib/apply/plan-set.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "only the first refused object is named",
        find: "const messages = [...prunes, ...objects.map(({ message }) => message)];",
        replace: "const messages = [...prunes, ...objects.slice(0, 1).map(({ message }) => message)];",
        named: "(86)",
      },
    ],
  },
  {
    file: "lib/apply/ignored-fields.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a field that another applies is never given up",
        find: "const isLeftOut = value === undefined || isAppliedByOther(live, pointer, style);",
        replace: "const isLeftOut = value === undefined;",
        named: "(91)",
      },
    ],
  },
  {
    file: "lib/health/check-health.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a failed object does not end the check",
        find: "if (failed.length > 0 && (isFailFast || failed.length === pending.length))",
        replace: "if (failed.length > 0 && failed.length === pending.length)",
        named: "(107)",
      },
      {
        what: "a Job deleted by ttlSecondsAfterFinished counts as missing",
        find: 'mayVanish ? "Current" : "NotFound"',
        replace: '"NotFound"',
        named: "(108)",
      },
    ],
  },
  {
    file: "lib/health/kstatus.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a running Job counts as succeeded",
        find: '  if (holds("Complete")) return current;',
        replace: '  if (holds("Complete") || !holds("Failed")) return current;',
        named: "(108)",
      },
      {
        what: "a suspended Job is waited for",
        find: '  if (spec["suspend"] === true) return current;\n',
        replace: "",
        named: "(108)",
      },
      {
        what: "a Ready condition with an invalid status is waited for",
        find: " && readyStatuses.includes(status)",
        replace: "",
        tests: ["test/unit/health/kstatus.test.ts"],
      },
      {
        what: "an observed generation that is not a number counts as unset",
        find: "if (unreadable !== undefined) return unknown(unreadable);\n    const observed",
        replace: "const observed",
        tests: ["test/unit/health/unreadable-status.test.ts"],
      },
      {
        what: "conditions that are not a list count as unset",
        find: "const unreadable = unreadableConditions(object);",
        replace: "const unreadable = undefined;",
        tests: ["test/unit/health/unreadable-status.test.ts"],
      },
    ],
  },
  {
    file: "lib/health/health-rules.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "the health rule of a group wins over that of the kind",
        find: 'rules.get(keyOf(group, kind)) ?? rules.get(keyOf(group, ""))',
        replace: 'rules.get(keyOf(group, "")) ?? rules.get(keyOf(group, kind))',
        named: "(111)",
      },
    ],
  },
];
