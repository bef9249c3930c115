import type { FileFaults } from "./fault.ts";

const ofQueue = [
  "test/unit/queue/driver.test.ts",
  "test/unit/queue/rules.test.ts",
  "test/unit/queue/rules-end.test.ts",
  "test/unit/queue/timing.test.ts",
  "test/unit/queue/sweep.test.ts",
  "test/unit/queue/state-away.test.ts",
];

const ofHints = ["test/unit/queue/hint-rules.test.ts"];

export const queueFaults: readonly FileFaults[] = [
  {
    file: "lib/queue/change-item.ts",
    tests: ofQueue,
    faults: [
      {
        what: "`since` is measured after the write that took the lease",
        find: 'if (answer === "stored") return { item: next, outcome, since };',
        replace: 'if (answer === "stored") return { item: next, outcome, since: instant(deps) };',
        tests: ["test/unit/queue/change-item.test.ts"],
      },
      {
        what: "conflict answer forgets that an earlier write was in doubt",
        find: "      inDoubt = wasInDoubt;",
        replace: "      inDoubt = false;",
        tests: ["test/unit/queue/change-item.test.ts"],
      },
      {
        what: "the version comes from the decided item",
        find: "const next = { ...item, version: (found?.version ?? 0) + 1 };",
        replace: "const next = { ...item, version: item.version + 1 };",
        equivalent: "Every rule answers the item that it was given with other fields, or a new one of version 0.",
      },
    ],
  },
  {
    file: "lib/queue/handle-wake-up.ts",
    tests: ofQueue,
    faults: [
      {
        what: "taker does not recognise its own lease",
        find: `      if (found?.lease?.holder === holder) return { outcome: undefined };
`,
        replace: "",
      },
      {
        what: "a stalled run is not logged as an error",
        find: 'new Set(["failed", "stalled"])',
        replace: 'new Set(["failed"])',
      },
    ],
  },
  {
    file: "lib/queue/keep-lease.ts",
    tests: [
      "test/unit/queue/keep-lease.test.ts",
      "test/unit/queue/renewals.test.ts",
      "test/unit/queue/state-away.test.ts",
    ],
    faults: [
      {
        what: "lease counted from the answer, not from before the send",
        find: "    renewed = sent;",
        replace: "    renewed = instant(deps);",
      },
      {
        what: "assertLease does not look at the clocks",
        find: `      if (!writable()) lose();
      lost.signal`,
        replace: "      lost.signal",
      },
      {
        what: "renewal waits for a slow queue (hideMessage awaited)",
        find: "      hiding = hideMessage();",
        replace: "      await (hiding = hideMessage());",
      },
      {
        what: "one failed renewal makes every later loss 'cut off'",
        find: `        renewalFailed = false;
`,
        replace: "",
      },
      {
        what: "lost lease does not abort the run",
        find: "signal: AbortSignal.any([signal, lost.signal]),",
        replace: "signal,",
      },
      {
        what: "message hidden for a quarter of a lease",
        find: "await extend(leaseMs, stopped.signal);",
        replace: "await extend(leaseMs / 4, stopped.signal);",
      },
    ],
  },
  {
    file: "lib/queue/observe-resource.ts",
    tests: ["test/unit/local/watch-resources.test.ts"],
    faults: [
      {
        what: "summary remembered before the request",
        find: `  if (isRun) await deps.requests.request(key, "resource changed", signal);`,
        replace: `  await deps.observed.put(key, summary, signal);
  if (isRun) await deps.requests.request(key, "resource changed", signal);`,
        tests: ["test/unit/queue/observe-resource.test.ts"],
      },
      {
        what: "summary removed before the request",
        find: `  await deps.requests.request(key, "resource gone", signal);`,
        replace: `  await deps.observed.remove(key, signal);
  await deps.requests.request(key, "resource gone", signal);`,
        tests: ["test/unit/queue/observe-resource.test.ts"],
      },
      {
        what: "a requested time that is removed asks for a run",
        find: " || isOnlyUnasked(before, own)",
        replace: "",
        tests: ["test/unit/queue/observe-resource.test.ts"],
      },
      {
        what: "Receivers hear nothing of other labels",
        find: "!before.startsWith(selection)) await",
        replace: "before.startsWith('[')) await",
        tests: ["test/unit/queue/observe-resource.test.ts"],
      },
    ],
  },
  {
    file: "lib/queue/observed-kinds.ts",
    tests: ["test/unit/queue/observed-kinds.test.ts"],
    faults: [
      {
        what: "an ExternalArtifact is followed while its gate is off",
        find: "if (!gates.ExternalArtifact) return [];",
        replace: "if (gates.ExternalArtifact === undefined) return [];",
      },
      {
        what: "a Secret that is deleted and created again looks the same",
        find: "JSON.stringify([uid, resourceVersion])",
        replace: "JSON.stringify([resourceVersion])",
      },
      {
        what: "only the first subscriber of a ConfigMap runs",
        find: `        await requests.request(subscriber, \`\${kind}/\${key.name}: \${reason}\`, signal);`,
        replace: `        return requests.request(subscriber, \`\${kind}/\${key.name}: \${reason}\`, signal);`,
      },
      {
        what: "every ConfigMap of the cluster is watched",
        find: `version: "v1", kind, labelSelector },`,
        replace: `version: "v1", kind },`,
      },
    ],
  },
  {
    file: "lib/queue/rules.ts",
    tests: ofQueue,
    faults: [
      { what: "the clock that says less counts", find: "Math.max(now.wall", replace: "Math.min(now.wall" },
      {
        what: "a successful end copies requested to handled",
        find: `        handled: item.started,
        dueAt: earliest(`,
        replace: `        handled: item.requested,
        dueAt: earliest(`,
      },
      {
        what: "failed run resets attempts",
        find: "return { ...dropped, dueAt: now + attemptBackOffMs(item.attempts), died: false, fault: end.fault };",
        replace:
          "return { ...dropped, attempts: 0, dueAt: now + attemptBackOffMs(item.attempts), died: false, fault: end.fault };",
      },
      {
        what: "end with a newer request: not in the sweep's index",
        find: "wakeUntil: waits ? now + followUpWaitMs(item, now) + wakeMs : undefined };",
        replace: "wakeUntil: undefined };",
      },
      {
        what: "renewal does not move wakeUntil",
        find: "return { ...item, lease, wakeUntil: now + leaseMs };",
        replace: "return { ...item, lease };",
      },
      {
        what: "wakeUntil trusted five minutes longer",
        find: "now < item.wakeUntil",
        replace: "now <= item.wakeUntil + 300_000",
      },
      {
        what: "sweep does not move the item out of the index",
        find: "item: { ...item, wakeUntil: now + delayMs + wakeMs, woken: (item.woken ?? 0) + 1 },",
        replace: "item: { ...item },",
      },
      {
        what: "wake-ups without effect are not counted",
        find: "woken: (item.woken ?? 0) + 1 },",
        replace: "woken: 1 },",
      },
      {
        what: "hint in back-off drops dueAt",
        find: "const asked = { started: item.requested, woken: undefined, wakeUntil: undefined, input };",
        replace:
          "const asked = { started: item.requested, woken: undefined, wakeUntil: undefined, dueAt: undefined, input };",
      },
      {
        what: "a run covers one request only",
        find: `    started: item.requested,
    ...hintsTaken`,
        replace: `    started: item.started + 1,
    ...hintsTaken`,
      },
      {
        what: "a request that is not a hint waits for hints",
        find: 'if (covered && underWay && (kind === "hint" || item.hinted !== true))',
        replace: "if (covered && underWay)",
        tests: ofHints,
      },
      {
        what: "a hint turns a waiting request into a hint",
        find: 'const hinted = kind === "hint" && (!covered || item.hinted === true);',
        replace: 'const hinted = kind === "hint";',
        tests: ofHints,
      },
      {
        what: "a run that is handed back waits for hints",
        find: "return { ...item, ...hintedIf(false), lease: undefined, attempts, dueAt",
        replace: "return { ...item, lease: undefined, attempts, dueAt",
        tests: ofHints,
      },
      {
        what: "the delay of a hint is not in wakeUntil",
        find: "return { item: { ...next, wakeUntil: now + delayMs + wakeMs }, send: true, delayMs };",
        replace: "return { item: { ...next, wakeUntil: now + wakeMs }, send: true, delayMs };",
        tests: ofHints,
      },
      {
        what: "input unknown counts as unchanged",
        find: 'if (waking.input === null) return { kind: "drop" };',
        replace: "if (waking.input === null) return stayParked(item, waking.now);",
      },
    ],
  },
  {
    file: "lib/queue/hint-rules.ts",
    tests: ofHints,
    faults: [
      {
        what: "hints that meet a run are run at its end",
        find: "return hinted === true ? restMs(hintedAt, burstMs, now) : 0;",
        replace: "return hinted === true ? restMs(hintedAt, hintGapMs, now) : 0;",
      },
      {
        what: "each hint of an idle object waits for a second",
        find: "return restMs(hintedAt, hintGapMs, now);",
        replace: "return restMs(hintedAt, burstMs, now);",
      },
      {
        what: "any run counts as one for hints",
        find: "hintedAt: hinted === true ? now : hintedAt };",
        replace: "hintedAt: hinted === true || hintedAt !== 0 ? now : hintedAt };",
      },
      {
        what: "a clock that is behind makes hints wait",
        find: "return elapsedMs < 0 ? 0 : Math.max(0, windowMs - elapsedMs);",
        replace: "return Math.max(0, windowMs - elapsedMs);",
      },
    ],
  },
  {
    file: "lib/queue/request-reconcile.ts",
    tests: ofHints,
    faults: [
      {
        what: "the wake-up of a hint that waits is sent at once",
        find: "if (send) await deps.wakeUps.send(wakeUpOf({ key }), delayMs, signal);",
        replace: "if (send) await deps.wakeUps.send(wakeUpOf({ key }), 0, signal);",
      },
      {
        what: "hints are requests",
        find: 'ask(key, reason, signal, "hint"),',
        replace: 'ask(key, reason, signal, "request"),',
      },
    ],
  },
  {
    file: "lib/queue/keep-events.ts",
    tests: ["test/unit/queue/keep-events.test.ts"],
    faults: [
      {
        what: "an event overtakes those that wait",
        find: "if (kept.length === 0) {",
        replace: "if (kept.length >= 0) {",
      },
      {
        what: "an event that was sent stays in the work item",
        find: "if (left !== kept) await write(left, signal);",
        replace: "",
      },
      {
        what: "an event that cannot be sent is lost",
        find: "      await write(next, signal);\n    },\n  };",
        replace: "    },\n  };",
      },
      {
        what: "an event is retried forever",
        find: "if (deps.clock.now() - one.since < untoldForMs) {",
        replace: "if (deps.clock.now() >= one.since) {",
      },
    ],
  },
  {
    file: "lib/queue/run-under-lease.ts",
    tests: ofQueue,
    faults: [
      {
        what: "a run starts even if its lease write was answered too late",
        find: `  if (!deps.rules.mayWrite(since, instant(deps))) return releaseLease(item, { kind: "cutOff" }, deps, signal);
`,
        replace: "",
      },
      {
        what: "end in doubt: follow-ups not sent",
        find: "outcome: next !== undefined || wasOurs };",
        replace: "outcome: next !== undefined };",
      },
      { what: "superseded ignores newer requests", find: "|| found.requested > started;", replace: ";" },
      {
        what: "end stored under the handler's signal",
        find: `  const { signal } = new AbortController();
  const { key, token } = last;`,
        replace: `  const signal = insistUntil;
  const { key, token } = last;`,
      },
    ],
  },
  {
    file: "lib/queue/sweep.ts",
    tests: ofQueue,
    faults: [
      {
        what: "sweep looks at one page only",
        find: "    if (clock.monotonic() - begun < maxSweepMs) continue;\n",
        replace: "",
      },
      {
        what: "sweep without an end in time",
        find: "if (clock.monotonic() - begun < maxSweepMs) continue;",
        replace: "if (clock.monotonic() >= 0) continue;",
      },
      {
        what: "sweep wakes one cluster without limit",
        find: "      if (!isWanted(cluster)) return [];\n",
        replace: "",
      },
      {
        what: "sweep wakes all of a cluster at once",
        find: "await deps.wakeUps.send(decision.wakeUp, delayMs, signal);",
        replace: "await deps.wakeUps.send(decision.wakeUp, 0, signal);",
      },
      {
        what: "a delayed wake-up counts as lost before it arrives",
        find: "const decision = deps.rules.onSweep(item, deps.clock.now(), delayMs);",
        replace: "const decision = deps.rules.onSweep(item, deps.clock.now());",
      },
      {
        what: "an error of one item ends the sweep",
        find: `    deps.log.warn("overdue object not woken", { key: item.key, error: messageOf(error) });
    return false;`,
        replace: "    throw error;",
      },
      {
        what: "voided lease's wake-up does not say dueAt",
        find: "await deps.wakeUps.send(dueAt === undefined ? wakeUpOf({ key }) : { ...wakeUpOf({ key }), dueAt }, 0, stop);",
        replace: "await deps.wakeUps.send(wakeUpOf({ key }), 0, stop);",
      },
    ],
  },
  {
    file: "lib/queue/timing.ts",
    tests: [
      "test/unit/queue/rules.test.ts",
      "test/unit/queue/rules-end.test.ts",
      "test/unit/queue/timing.test.ts",
      "test/unit/limits/queue.test.ts",
    ],
    faults: [
      { what: "margin 5 s", find: "marginMs = 15_000", replace: "marginMs = 5_000" },
      { what: "renewed once in 40 s", find: "renewEveryMs = 15_000", replace: "renewEveryMs = 40_000" },
    ],
  },
];
