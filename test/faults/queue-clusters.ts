import type { FileFaults } from "./fault.ts";

/** Likely mistakes in how a queue treats clusters that are slow or do not answer. */
export const queueClusterFaults: readonly FileFaults[] = [
  {
    file: "lib/queue/busy-process.ts",
    tests: ["test/unit/queue/cluster-limits/stories.test.ts"],
    faults: [
      {
        what: "busy row without renewals",
        find: "      busy.renewals += 1;\n",
        replace: "",
        named: "publishes its number of runs to the others",
      },
      {
        what: "busy row stays when the last run has ended",
        find: "    if (mayBeWritten) await",
        replace: "    if (!mayBeWritten) await",
        named: "publishes its number of runs to the others",
      },
      {
        what: "short runs write a busy row",
        find: "let waitMs = publishAfterMs;",
        replace: "let waitMs = 0;",
        named: "no write",
      },
    ],
  },
  {
    file: "lib/queue/cluster-limits.ts",
    tests: ["test/unit/queue/cluster-limits/stories.test.ts"],
    faults: [
      {
        what: "runs begin in a cluster that does not answer",
        find: 'if (holdIn(view, now)?.kind === "unreachable") return { kind: "held" };',
        replace: "",
        named: "dead cluster of two",
      },
      {
        what: "the breaker opens whatever the cluster says",
        find: "        await deps.ask(cluster, signal);\n        unanswered.delete(cluster);",
        replace: '        throw new ApiError({ code: 0, reason: "Unreachable", message: "" });',
        named: "runs that cannot reach another service",
      },
      {
        what: "the breaker stays open",
        find: "else if (state.hold !== undefined) await release(cluster, state.hold);",
        replace: "",
        named: "delays no run of the other",
      },
      {
        what: "a probe does not raise the hold",
        find: "probes: (before?.probes ?? 0) + 1",
        replace: "probes: 1",
        named: "delays no run of the other",
      },
      {
        what: "single misses of several clusters raise the alarm of one that does not answer",
        find: "if (missed >= toldMissedSweeps)",
        replace: "if (missed > 0)",
        named: "three clusters miss one sweep each",
      },
      {
        what: "runs that find out that a cluster does not answer count as missed sweeps",
        find: "(isHeld ? before.missedSweeps : unswept.get(cluster))",
        replace: "(isHeld ? before.probes : unswept.get(cluster))",
        named: "also if runs have found out before",
      },
      {
        what: "a closed gate is not told to the sweep",
        find: '} else if (state.hold?.kind !== "refused") await hold(cluster, "refused", refused, state.hold);',
        replace: "}",
        named: "tell the sweep at once",
      },
      {
        what: "row of a dead process stays",
        find: "for (const { process } of deadProcesses(view, now)) {",
        replace: "for (const { process } of deadProcesses(view, now).slice(1)) {",
        named: "within 30 s: 1",
      },
      {
        what: "the sweep wakes objects of any cluster",
        find: "budgets(clusters, signal) {",
        replace:
          "budgets(clusters, signal) {\n      if (clusters.length > 0) return () => ({ atMost: 1_000, perSecond: 1_000 });",
        named: "gate is closed",
      },
    ],
  },
  {
    file: "lib/queue/cluster-rules.ts",
    tests: ["test/unit/queue/cluster-rules.test.ts"],
    faults: [
      {
        what: "the slower clock counts for rows",
        find: "return Math.max(now.wall - since.wall",
        replace: "return Math.min(now.wall - since.wall",
      },
      {
        what: "a row that was renewed counts from its first sight",
        find: "seen?.mark === mark ? seen",
        replace: "seen !== undefined ? seen",
      },
      {
        what: "a process takes all free places before it has told the others",
        find: "(maxRuns - elsewhere - published) / 4)",
        replace: "maxRuns - elsewhere - published)",
      },
      {
        what: "dead processes keep their share",
        find: "busy.process !== self && !dead.has(busy)",
        replace: "busy.process !== self && dead !== undefined",
      },
      {
        what: "the sweep wakes as many of a full cluster",
        find: "atMost: isFull ? maxRuns : ",
        replace: "atMost: isFull && maxRuns === 0 ? maxRuns : ",
      },
      {
        what: "a postponed wake-up is sent again by the sweep too",
        find: "{ ...item, wakeUntil: now + delayMs + wakeMs }, again",
        replace: "item, again",
      },
    ],
  },
  {
    file: "lib/queue/cluster-views.ts",
    tests: ["test/unit/queue/cluster-limits/stories.test.ts"],
    faults: [
      {
        what: "an outage of the table delays runs",
        find: "      of.view = { ...of.view, state: emptyView.state };\n",
        replace: "",
        named: "table's cluster rows",
      },
      {
        what: "each wake-up queries the table",
        find: "if (isFresh || !isKnown) {",
        replace: "if (isFresh || !isKnown || of.looking === undefined) {",
        named: "every five seconds",
      },
    ],
  },
  {
    file: "lib/threads/fair-turns.ts",
    tests: ["test/unit/threads/fair-turns.test.ts"],
    faults: [
      {
        what: "the tenant that began to wait first has all turns",
        find: "const turn = lastTurn.get(tenant) ?? -1;",
        replace: "const turn = lastTurn.has(tenant) ? 0 : 0;",
      },
      {
        what: "a turn without a wait does not count",
        find: "      free--;\n      begin(tenant);",
        replace: "      free--;",
      },
      {
        what: "tenants are told apart by their namespace alone",
        find: "const tenant = `${cluster}/${namespace}`;",
        replace: "const tenant = cluster === undefined ? cluster : namespace;",
      },
      {
        what: "an aborted caller still counts as waiting",
        find: "else callers.splice(index, 1);",
        replace: "else callers[index] = () => undefined;",
      },
      {
        what: "a place given to an aborted caller is lost",
        find: "if (index === -1) release();\n      else callers",
        replace: "if (index !== -1) callers",
      },
      {
        what: "one more may wait than is allowed",
        find: "if (callers.length >= maxWaiting) {",
        replace: "if (callers.length > maxWaiting) {",
      },
    ],
  },
  {
    file: "lib/queue/cluster-views.ts",
    tests: ["test/unit/queue/cluster-views.test.ts"],
    faults: [
      {
        what: "a failed read makes the rows of dead processes count again",
        find: "of.view = { ...of.view, state: emptyView.state };",
        replace: "of.view = emptyView;",
      },
    ],
  },
  {
    file: "lib/queue/cluster-rules.ts",
    tests: ["test/unit/queue/cluster-rules.test.ts"],
    faults: [
      {
        what: "a renewed hold counts as the one before it",
        find: "return `${kind} ${since} ${probes}`;",
        replace: "return `${kind} ${probes}`;",
      },
    ],
  },
];
