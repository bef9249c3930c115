import type { FileFaults } from "./fault.ts";

const foreignStatus = "test/unit/flows/canary/foreign-status.test.ts";
const refusedCanary = "test/unit/flows/canary/refused-canary.test.ts";
const checks = "test/unit/flows/canary/checks.test.ts";

/** What keeps a Canary from harm by what others write, answer or leave unanswered. */
export const canaryRobustFaults: readonly FileFaults[] = [
  {
    file: "lib/canary/run/read-status.ts",
    tests: [foreignStatus],
    faults: [
      {
        what: "one unreadable field empties the whole status",
        find: "status: CanaryStatus.safeParse(without(given, issues)).data ?? {},",
        replace: "status: CanaryStatus.safeParse(issues.length > 0 ? {} : without(given, issues)).data ?? {},",
      },
      {
        what: "an unknown phase is that of a new Canary",
        find: 'issues.some(({ path }) => path[0] === "phase")',
        replace: 'issues.some(({ path }) => path[1] === "phase")',
      },
    ],
  },
  {
    file: "lib/flows/canary/canary-flow.ts",
    tests: [refusedCanary, foreignStatus],
    faults: [
      {
        what: "a write that the API server refuses parks the Canary",
        find: "if (error instanceof ApiError && blamingCodes.has(error.code)) return",
        replace: "if (error instanceof ApiError && !blamingCodes.has(error.code)) return",
      },
      {
        what: "a Canary whose target is taken is checked every minute forever",
        find: "dueInMs: isFirst ? leftMs : undefined",
        replace: "dueInMs: leftMs",
      },
      {
        what: "a Canary whose target is taken is not woken when the target is released",
        find: "topicsOf(ctx, canary.status) : [ownerTopic(run, before)]);",
        replace: "topicsOf(ctx, canary.status) : []);",
      },
      {
        what: "a status without conditions starts over",
        find: "if (promoted[0]?.reason !== phase) return ctx.write(withCondition(ctx.status(), ctx.at()));",
        replace:
          'if (promoted[0]?.reason !== phase) return ctx.write(inPhase(withCondition(ctx.status(), ctx.at()), "Initializing", ctx.canary.analysis, ctx.at()));',
      },
    ],
  },
  {
    file: "lib/canary/hooks/webhooks.ts",
    tests: [checks],
    faults: [
      {
        what: "each webhook of a step has its own time limit",
        find: "timeoutMs: Math.min(timeoutMs, leftMs),",
        replace: "timeoutMs,",
      },
      {
        what: "a webhook is called after the time limit of its step",
        find: "if (leftMs === 0) throw",
        replace: "if (leftMs < 0) throw",
      },
    ],
  },
  {
    file: "lib/kube/external-metrics.ts",
    tests: ["test/unit/kube/external-metrics.test.ts"],
    faults: [
      {
        what: "external metrics are read with Sluice's own rights",
        find: "user === undefined ? client : client.as(user)",
        replace: "user !== undefined ? client : client",
      },
    ],
  },
];
