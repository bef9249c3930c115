import type { FileFaults } from "./fault.ts";

/** Mistakes in the flow of Kustomization. */
export const kustomizationFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/kustomization/apply.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a hand-over is reported as a contest",
        find: "    if (!before.has(id) || !written.has(id)) return [];\n",
        replace: "    if (!written.has(id)) return [];\n",
        named: "moves from one to the other without such an event",
      },
      {
        what: "failed apply does not save what it applied",
        tests: ["test/e2e/flow/interrupted.test.ts"],
        find: 'if (outcome.kind !== "applied") await saveIfChanged',
        replace: 'if (outcome.kind === "waiting") await saveIfChanged',
        named: "keeps the progress of that run",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/resolve-source.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "an ExternalArtifact is read while its gate is off",
        find: "const isClosed = kind === declaredExternalArtifact.kind && !gates.ExternalArtifact;",
        replace: "const isClosed = kind === declaredExternalArtifact.kind && !gates;",
        named: "is refused while the gate is off",
      },
      {
        what: "the closed gate is reported before the forbidden namespace",
        find: "if (noCrossNamespaceRefs && namespace !== ownNamespace) {",
        replace: "if (noCrossNamespaceRefs && namespace !== ownNamespace && kind !== declaredExternalArtifact.kind) {",
        named: "in another namespace is refused for the namespace first",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/report.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a run that waits for a dependency ignores the setting",
        find: "return ctx.deps.timing.requeueDependencyMs;",
        replace: "return 30_000;",
        named: "as long as requeue-dependency says",
      },
      {
        what: "retries ignore the settings for their delays",
        find: "?? backOffMs(failures, ctx.deps.timing.retryDelay);",
        replace: "?? backOffMs(failures);",
        named: "the delays between retries are those of",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/attempt.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a health check that waits forgets the health before it",
        find: "    healthBefore: healthOf(ctx.kustomization.status),\n",
        replace: "",
        named: "is not reported again after a check that had to wait",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/dependencies.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "readyExpr does not take the place of the built-in check",
        find: "if (!ctx.deps.gates.AdditiveCELDependencyCheck) return undefined;",
        replace: "",
        named: "by readyExpr alone",
      },
      {
        what: "a readyExpr is refused only in its own namespace",
        find: 'if (readyExpr === "" || namespace === ownNamespace) continue;',
        replace: 'if (readyExpr === "" || namespace !== ownNamespace) continue;',
        named: "a readyExpr may read",
      },
      {
        what: "a dependency of another namespace without a readyExpr is refused too",
        find: 'if (readyExpr === "" || namespace === ownNamespace) continue;',
        replace: "if (namespace === ownNamespace) continue;",
        named: "is still waited for (33)",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/health.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "an expression reads a Secret of another namespace that the run applies",
        find: '"Secret" && ref.namespace !== ctx.namespace;',
        replace: '"Secret" && ref.namespace === ctx.namespace;',
        named: "that the Kustomization itself applies",
      },
      {
        what: "an expression reads Secrets of every namespace with Sluice's own rights",
        find: 'return !deps.noCrossNamespaceRefs && !(group === "" && kind === "Secret");',
        replace: "return !deps.noCrossNamespaceRefs;",
        named: "the expressions of a health check may read",
      },
      {
        what: "an expression reads other kinds despite no-cross-namespace-refs",
        find: 'return !deps.noCrossNamespaceRefs && !(group === "" && kind === "Secret");',
        replace: 'return !(group === "" && kind === "Secret");',
        named: "the expressions of a health check may read",
      },
      {
        what: "a Secret of another namespace is not even looked up",
        find: "isElsewhere && healthRules.ruleOf({ group, kind }) !== undefined && ",
        replace: "isElsewhere && ",
        named: "the expressions of a health check may read",
      },
      {
        what: "an object without a namespace counts as one of another namespace",
        find: "resource?.namespaced !== false && namespace",
        replace: "namespace",
        named: "the expressions of a health check may read",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/newer-revision.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a canceled health check is not reported",
        find: "if (ctx.deps.gates.CancelHealthCheckOnNewRevision) {",
        replace: "if (ctx.deps.gates.CancelHealthCheckOnNewRevision && wait.looks > 1_000) {",
        named: "a new revision ends the wait",
      },
      {
        what: "a newer revision is not applied at once",
        find: "{ ...result, dueInMs: 0 }",
        replace: "result",
        named: "with CancelHealthCheckOnNewRevision off",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/prune.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "an object that its next owner never takes over is only logged",
        tests: ["test/e2e/flow/interrupted.test.ts"],
        find: "if (!attempt.isNew)",
        replace: "if (attempt.isNew)",
        named: "while its next owner has only claimed it",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/finalize.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "the next owner is not woken for objects that a deleted owner leaves to it",
        find: "  await tellNextOwners(pruned, ctx);\n",
        replace: "",
        named: "as when a Kustomization is renamed",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/plan.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "an object of two owners is written at each health check",
        find: 'wait?.phase === "health" && !ctx.run.isRequested',
        replace: 'wait?.phase === "apply" && !ctx.run.isRequested',
        named: "is written once per attempt",
      },
      {
        what: "a requested run only checks",
        find: 'wait?.phase === "health" && !ctx.run.isRequested',
        replace: 'wait?.phase === "health"',
        named: "is written at once by a requested run",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/dependency-cycle.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "dependsOn ignores generation",
        find: "metadata.generation === status.observedGeneration && ",
        replace: "",
        named: "a Kustomization waits on",
      },
      {
        what: "a cycle with a ready member is reported",
        find: "    if (!mayWait(found, key, source)) return undefined;\n",
        replace: "",
        named: "no cycle is reported if a member of it",
      },
    ],
  },
  {
    file: "lib/flows/owner/dependency-cycle.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "the members of a cycle are requested again and again",
        find: "if (!isTold(waiting.conditions)) {",
        replace: "if (members.length > 0) {",
        named: "each member of a dependency cycle reports it",
      },
      {
        what: "a cycle is named without the members in the middle",
        find: "[...path, { key, isTold: isTold(one.conditions) }]",
        replace: "[{ key, isTold: isTold(one.conditions) }]",
        named: "each member of a dependency cycle reports it",
      },
      {
        what: "a cycle is reported through a readyExpr that does not need Ready",
        find: 'readyExpr === "" || AdditiveCELDependencyCheck;',
        replace: "true;",
        named: "no cycle is reported through a readyExpr",
      },
      {
        what: "each retry searches a cycle",
        find: "return isRequested || !isKnown ||",
        replace: "return isRequested || isKnown || !isKnown ||",
        named: "indirect dependencies are read",
      },
      {
        what: "a cycle that appears later is never found",
        find: " || waits % looksInRuns === 0",
        replace: "",
        named: "indirect dependencies are read",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/dependency-cycle.ts",
    tests: ["test/e2e/helm-release/dependency-circles.test.ts"],
    faults: [
      {
        what: "a cycle of HelmReleases with a ready member is reported",
        find: "found === undefined || isReadyNow(found)",
        replace: "found === undefined",
        named: "names no circle if a member of it is ready",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/context.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "no write of a Kustomization's run to its home checks the lease",
        find: "leasedCluster(deps.home, run)",
        replace: "deps.home",
      },
      {
        what: "no write of a Kustomization's run to its target checks the lease",
        find: "leasedCluster(await deps.targetOf(live, signal), run)",
        replace: "await deps.targetOf(live, signal)",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/other-owners.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a suspended owner counts as having no objects",
        find: "referenceFaults(spec).length === 0 &&",
        replace: "spec.suspend !== true && referenceFaults(spec).length === 0 &&",
        named: "while the other is suspended",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/finalize.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a deletion deletes objects that siblings are about to have",
        find: "applySetOf(ctx, await sourceAtEnd(ctx))",
        replace: "applySetOf(ctx, (await sourceAtEnd(ctx)) && undefined)",
        named: "as when a Kustomization is renamed",
      },
      {
        what: "a deletion that leaves all objects is not reported",
        tests: ["test/e2e/flow/interrupted.test.ts"],
        find: "  await prune(order, applySetOf(ctx, undefined), ctx.run.signal);",
        replace: "  await Promise.resolve([prune, order]);",
        named: "its next owner is deleted and leaves its objects",
      },
    ],
  },
];
