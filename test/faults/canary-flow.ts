import type { FileFaults } from "./fault.ts";

const flowTests = "test/unit/flows/canary";
const killed = `${flowTests}/killed.test.ts`;
const pace = `${flowTests}/pace.test.ts`;
const canaryNotReady = `${flowTests}/canary-not-ready.test.ts`;
const primaryNotReady = `${flowTests}/primary-not-ready.test.ts`;
const primaryMissing = `${flowTests}/primary-missing.test.ts`;
const foreignStatus = `${flowTests}/foreign-status.test.ts`;
const refusedCanary = `${flowTests}/refused-canary.test.ts`;
const checks = `${flowTests}/checks.test.ts`;
const release = `${flowTests}/release.test.ts`;
const restored = "test/unit/canary/workload/restored-primary.test.ts";
const autoscalers = "test/unit/canary/workload/autoscalers.test.ts";
const configs = "test/unit/canary/workload/configs.test.ts";
const deployment = "test/unit/canary/workload/deployment.test.ts";
const readiness = "test/unit/canary/workload/readiness.test.ts";
const phaseStatus = "test/unit/canary/run/phase-status.test.ts";

/** The order and the pace of the steps of a Canary. */
export const canaryFlowFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/canary/when-to-step.ts",
    tests: [pace],
    faults: [
      {
        what: "the run after a killed one counts as started by the interval",
        find: "!run.isRequested && run.isRetry !== true &&",
        replace: "!run.isRequested &&",
      },
      {
        what: "a run waits for a step time in the future",
        find: "const steppedAt = Math.min(since, now);",
        replace: "const steppedAt = since;",
      },
      {
        what: "a clock that is behind shortens the interval",
        find: "if (leftMs < -lateMs && !isHeldBack) {",
        replace: "if (leftMs < -lateMs && isHeldBack) {",
      },
      {
        what: "a Canary at rest fights with a client that changes its Services back",
        find: "if (leftMs <= 0) return { isDue: true };",
        replace: "if (leftMs <= intervalMs) return { isDue: true };",
      },
      {
        what: "a status written after the carried step is ignored",
        find: "(steppedAt !== undefined && wrote === lastTransitionTime)",
        replace: "steppedAt !== undefined",
      },
    ],
  },
  {
    file: "lib/flows/canary/by-hand.ts",
    tests: [checks],
    faults: [
      {
        what: "one manual promotion opens all gates of the run",
        find: "  return only === gate && (",
        replace: "  return only.length > 0 && (",
      },
      {
        what: "one manual promotion raises every weight",
        find: "weight === String(canary.status.canaryWeight ?? 0)",
        replace: "weight.length > 0",
      },
    ],
  },
  {
    file: "lib/flows/canary/analyse.ts",
    tests: [killed],
    faults: [
      {
        what: "a killed step keeps its weight even if its checks fail",
        find: "  if (isAhead) await ctx.setRoutes(router, at.routes);\n",
        replace: "  if (isAhead && isPassed) await ctx.setRoutes(router, at.routes);\n",
        tests: [`${flowTests}/shares.test.ts`],
      },
      {
        what: "promotion gates are not called with weights",
        find: "      if (!(await isPromotionConfirmed(ctx))) return false;\n      await promote(ctx);",
        replace: "      await promote(ctx);",
        tests: [checks],
      },
    ],
  },
  {
    file: "lib/flows/canary/roll-back.ts",
    tests: [killed],
    faults: [
      {
        what: "the canary is scaled down before its traffic is back",
        find: "  await ctx.setRoutes(router, allToPrimary);\n",
        replace: "  await workload.scaleToZero();\n  await ctx.setRoutes(router, allToPrimary);\n",
      },
      {
        what: "a failed promotion sends traffic to a canary that does not serve",
        find: "  if (isServing) await ctx.setRoutes(router, allToCanary);\n",
        replace: "  await ctx.setRoutes(router, allToCanary);\n",
        tests: [primaryNotReady],
      },
    ],
  },
  {
    file: "lib/flows/canary/take-step.ts",
    tests: [canaryNotReady, primaryNotReady, foreignStatus],
    faults: [
      {
        what: "a target without replicas is analysed",
        find: "if (isAnalysing(ctx) && (await workload.isAtZero?.()) === true) {",
        replace: 'if (ctx.phase === "Waiting" && (await workload.isAtZero?.()) === true) {',
      },
      {
        what: "a canary whose pods no longer serve keeps its traffic",
        find: "canary.isLost === true",
        replace: "canary.isLost === false",
      },
      {
        what: "a canary whose pods come and go is never rolled back",
        find: "failedChecks: failedChecks + 1 }",
        replace: "failedChecks }",
      },
      {
        what: "a promotion waits for a canary that does not serve",
        find: "    if (!isPromoted(ctx)) return;",
        replace: "    if (!isPromoted(ctx) || ctx.workload !== undefined) return;",
      },
      {
        what: "a status with a time in the future is not corrected",
        find: "> now + aheadMs)",
        replace: "> now * aheadMs)",
      },
      {
        what: "an interrupted copy is rolled back",
        find: "const isCopied = isAnalysing(ctx) &&",
        replace: 'const isCopied = ctx.phase === "Waiting" &&',
        tests: [killed],
      },
      {
        what: "without analysis the traffic goes to a primary that does not serve",
        find: "found.isPrimaryDown ? promote(ctx) : promoteAtOnce(router, ctx)",
        replace: "promoteAtOnce(router, ctx)",
      },
      {
        what: "a revision is rejected for a primary that is not ready at rest",
        find: "if (!isDown && !isGoing(ctx.phase)) throw",
        replace: "if (!isDown && primary.isRetriable && !isGoing(ctx.phase)) throw",
      },
      {
        what: "the revision after a failed promotion is rolled back to a primary that does not serve",
        find: "  return isPrimaryDown ? stay(ctx) : rollBack(router, ctx);",
        replace: "  return isPrimaryDown && router === undefined ? stay(ctx) : rollBack(router, ctx);",
      },
      {
        what: "a failed revision is not kept in the status",
        find: '  if (ctx.phase !== "Failed" || isSeen(',
        replace: '  if (ctx.phase === "Failed" || isSeen(',
        tests: [release],
      },
    ],
  },
  {
    file: "lib/flows/canary/canary-context.ts",
    tests: [`${flowTests}/fewer-requests.test.ts`],
    faults: [
      {
        what: "a Service changed during a run is not repaired",
        find: "const isUnchanged = !run.isRequested && run",
        replace: "const isUnchanged = run",
      },
      {
        what: "objects whose events were lost in an outage are not checked",
        find: "run.isRetry !== true && outage === undefined;",
        replace: "run.isRetry !== true;",
      },
    ],
  },
  {
    file: "lib/flows/canary/ensure-objects.ts",
    tests: [primaryMissing],
    faults: [
      {
        what: "without analysis production moves to a primary that is not ready",
        find: "  if (primary.isReady) return true;",
        replace: "  if (primary.isReady || skipsAnalysis(ctx.canary)) return true;",
      },
      {
        what: "after failed checks the Services are not read",
        find: "(canary.status.failedChecks ?? 0) === 0 && ",
        replace: "",
        tests: [`${flowTests}/fewer-requests.test.ts`],
      },
    ],
  },
  {
    file: "lib/flows/canary/restore.ts",
    tests: [primaryMissing],
    faults: [
      {
        what: "a rejected revision becomes the primary if the promoted one is not stored",
        find: 'const isNew = phase === "Waiting" || isChanged(',
        replace: 'const isNew = phase === "Waiting" || !isChanged(',
      },
      {
        what: "the revision under analysis becomes the primary if the promoted one is not stored",
        find: "if (!isNew && !isAtRest) throw",
        replace: "if (!isNew && isAtRest) throw",
      },
      {
        what: "a primary that cannot be recreated is reported in each run",
        find: 'else await ctx.sayOnce("Warning", restored.text);',
        replace: 'else await ctx.say("Warning", restored.text);',
      },
    ],
  },
  {
    file: "lib/canary/workload/restored-primary.ts",
    tests: [restored],
    faults: [
      {
        what: "a primary whose promotion has failed is recreated from an earlier template",
        find: '(phase === "Failed" && isWithoutPrimary(status))',
        replace: '(phase === "Waiting" && isWithoutPrimary(status))',
      },
      {
        what: "a primary that an autoscaler has scaled to zero is scaled up",
        find: "  if (step.canary.spec.autoscalerRef !== undefined) return undefined;\n",
        replace: "",
      },
      {
        what: "a primary is repaired during a run",
        find: "isAtRest && !isOfTarget(canary)",
        replace: "!isOfTarget(canary)",
      },
    ],
  },
  {
    file: "lib/canary/workload/promoted-template.ts",
    tests: [restored],
    faults: [
      {
        what: "the template of another target's ReplicaSet is used",
        find: "ownerReferences.some(({ uid }) => uid === target.metadata.uid)",
        replace: "ownerReferences.every(({ uid }) => uid === target.metadata.uid)",
      },
      {
        what: "a config that may have been rejected is copied for the primary",
        find: '    if (step.canary.status.phase === "Failed") return undefined;\n',
        replace: "",
      },
    ],
  },
  {
    file: "lib/canary/ownership.ts",
    tests: [deployment],
    faults: [
      {
        what: "a user's Deployment is used as the primary",
        find: "if (!isOwnedBy(object, canary.name)) throw foreign",
        replace: 'if (mend === "") throw foreign',
      },
    ],
  },
  {
    file: "lib/canary/workload/scaler-kinds.ts",
    tests: [autoscalers],
    faults: [
      {
        what: "an ownerless autoscaler of another workload is used as the primary's",
        find: "return isOwnerless(autoscaler) && scaled === primaryName(spec.targetRef.name);",
        replace: "return isOwnerless(autoscaler) && scaled !== spec.targetRef.name;",
      },
    ],
  },
  {
    file: "lib/canary/workload/config-copies.ts",
    tests: [configs],
    faults: [
      {
        what: "a config that the target uses by its own name is treated as a copy",
        find: "if (!ofPrimary.has(key) || ofTarget.has(key)) continue;",
        replace: "if (!ofPrimary.has(key) && !ofTarget.has(key)) continue;",
      },
    ],
  },
  {
    file: "lib/canary/workload/deployment-readiness.ts",
    tests: [readiness],
    faults: [
      {
        what: "a pod that an autoscaler adds takes the traffic away",
        find: 'count("replicas") === count("updatedReplicas") && autoscalerRef === undefined',
        replace: 'count("replicas") === count("updatedReplicas") && autoscalerRef !== null',
      },
      {
        what: "a time in the future counts for the deadline",
        find: ".filter((time) => time <= nowMs)",
        replace: ".filter((time) => time <= nowMs * 2)",
      },
      {
        what: "a clock that is behind ends a wait that has just begun",
        find: 'return role === "canary" ||',
        replace: 'return role !== "canary" &&',
      },
    ],
  },
  {
    file: "lib/flows/canary/same-target.ts",
    tests: [refusedCanary],
    faults: [
      {
        what: "of two Canaries with one target the older one is refused",
        find: "one.created === other.created ? one.name < other.name : one.created < other.created",
        replace: "one.created === other.created ? one.name < other.name : one.created > other.created",
      },
    ],
  },
  {
    file: "lib/canary/run/phase-status.ts",
    tests: [phaseStatus],
    faults: [
      {
        what: "an iteration is not repeated while promotion waits",
        find: 'iterations: phase === "WaitingPromotion" ? iterations - 1 : 0',
        replace: 'iterations: phase === "WaitingPromotion" ? iterations : 0',
      },
      {
        what: "the condition is rewritten without a change",
        find: "  if (present?.status === status && present.reason === phase) return before;\n",
        replace: "  if (present?.status === status && present.message === phase) return before;\n",
      },
    ],
  },
  {
    file: "lib/canary/canary.ts",
    tests: ["test/unit/canary/routes/gateway-route.test.ts", primaryNotReady],
    faults: [
      {
        what: "a run that waits for its gate after a failed promotion sends the traffic to a primary that does not serve",
        find: '(phase === "Failed" || phase === "Waiting") && canaryWeight',
        replace: 'phase === "Failed" && canaryWeight',
      },
    ],
  },
  {
    file: "lib/canary/run/run-state.ts",
    tests: [phaseStatus],
    faults: [
      {
        what: "the promoted template begins a run",
        find: "revision.spec !== lastPromotedSpec && revision.spec !== lastAppliedSpec",
        replace: "revision.spec !== lastAppliedSpec",
      },
    ],
  },
];
