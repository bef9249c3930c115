import type { FileFaults } from "./fault.ts";

/** Likely mistakes in what the numbered statements about the run, its health, its history and its end of a Kustomization say; each is noticed by a story with its number. */
export const flowStatementFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/owner/owner-state.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "deletionPolicy Delete goes by prune",
        find: '    case "Delete":\n    case "WaitForTermination":\n      return true;',
        replace: '    case "Delete":\n      return spec.prune;\n    case "WaitForTermination":\n      return true;',
        named: "(118)",
      },
      {
        what: "WaitForTermination goes by prune",
        find: '    case "Delete":\n    case "WaitForTermination":\n      return true;',
        replace: '    case "Delete":\n      return true;\n    case "WaitForTermination":\n      return spec.prune;',
        named: "(118)",
      },
      {
        what: "MirrorPrune deletes without prune",
        find: "      return spec.prune;\n",
        replace: "      return true;\n",
        named: "(118)",
      },
      {
        what: "Orphan deletes with prune",
        find: '    case "Orphan":\n      return false;',
        replace: '    case "Orphan":\n      return spec.prune;',
        named: "(118)",
      },
      {
        what: "a deletion while suspended deletes the objects",
        find: "if (spec.suspend === true) return false;",
        replace: "",
        named: "(119)",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/finalize.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "WaitForTermination does not wait",
        find: 'deletionPolicy(kustomization.spec) === "WaitForTermination" && ',
        replace: 'deletionPolicy(kustomization.spec) === "Orphan" && ',
        named: "(120)",
      },
      {
        what: "the wait for termination does not end with the timeout",
        find: "if (deps.clock.now() - since < effectiveTimeoutMs(kustomization.spec)) {",
        replace: "if (deps.clock.now() - since < 100 * effectiveTimeoutMs(kustomization.spec)) {",
        named: "(120)",
      },
      {
        what: "the end of the wait for termination is not reported",
        find: '  ctx.record({ type: "Warning", reason, message, annotations: appliedAnnotations(ctx) });\n  deps.log.warn(message, { ...run.key });',
        replace: "  deps.log.warn(message, { ...run.key, reason });",
        named: "(120)",
      },
      {
        what: "objects that stay because their account is missing are not reported",
        find: '  ctx.record({ type: "Warning", reason, message, annotations: appliedAnnotations(ctx) });\n  deps.log.warn("the service',
        replace: '  deps.log.warn("the service',
        named: "(121)",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/kustomization-flow.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a deletion waits for dependencies",
        find: "  if (ctx.live.metadata.deletionTimestamp !== undefined) {",
        replace:
          "  if (ctx.live.metadata.deletionTimestamp !== undefined && (ctx.kustomization.spec.dependsOn ?? []).length === 0) {",
        named: "(34)",
      },
      {
        what: "a forbidden source counts as observed",
        find: '{ ...invalid("AccessDenied", refusal), isUnobserved: true }',
        replace: 'invalid("AccessDenied", refusal)',
        named: "(17)",
      },
      {
        what: "health rules are parsed only with wait",
        find: "kustomization.spec.healthCheckExprs ?? []",
        replace: "(kustomization.spec.wait ? kustomization.spec.healthCheckExprs : undefined) ?? []",
        named: "(110)",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/health.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "DisableFailFastBehavior is ignored",
        find: "isFailFast: !deps.gates.DisableFailFastBehavior",
        replace: "isFailFast: deps.gates !== undefined",
        named: "(107)",
      },
      {
        what: "a Kustomization waits for itself",
        find: 'ref.kind === "Kustomization" && ref.name',
        replace: 'ref.kind === "Kustomisation" && ref.name',
        named: "(112)",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/report.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "Healthy stays when health is no longer checked",
        find: '...(health === undefined ? ["Healthy"] : [])',
        replace: "...(health === undefined ? [] : [])",
        named: "(104, 105, 106, 114, 115)",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/status.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "the history has one entry for all outcomes of a build",
        find: "entry.digest === digest && entry.lastReconciledStatus === status",
        replace: "entry.digest === digest",
        named: "(104, 105, 106, 114, 115)",
      },
      {
        what: "each revision has its own entry of the history",
        find: "entry.digest === digest && entry.lastReconciledStatus === status",
        replace: 'entry.digest === digest && entry.metadata?.["revision"] === revision',
        named: "(116)",
      },
    ],
  },
];
