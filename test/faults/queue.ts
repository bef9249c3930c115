import type { FileFaults } from "./fault.ts";

export const queueFaults: readonly FileFaults[] = [
  {
    file: "lib/queue/change-item.ts",
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [
      {
        what: "since is after the write that took the lease",
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
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [
      {
        what: "taker does not recognise its own lease",
        find: `      if (found?.lease?.holder === holder) return { outcome: undefined };
`,
        replace: "",
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
    file: "lib/queue/notice-resource.ts",
    tests: ["test/unit/local/watch-resources.test.ts"],
    faults: [
      {
        what: "sighting remembered before the request",
        find: `  await requests.request(key, "resource changed", signal);
  await sightings.put(key, sighting, signal);`,
        replace: `  await sightings.put(key, sighting, signal);
  await requests.request(key, "resource changed", signal);`,
        tests: ["test/unit/queue/notice-resource.test.ts"],
      },
      {
        what: "sighting removed before the request",
        find: `  await requests.request(key, "resource gone", signal);
  await sightings.remove(key, signal);`,
        replace: `  await sightings.remove(key, signal);
  await requests.request(key, "resource gone", signal);`,
        tests: ["test/unit/queue/notice-resource.test.ts"],
      },
    ],
  },
  {
    file: "lib/queue/rules/may-write.ts",
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [{ what: "the clock that says less counts", find: "Math.max(now.wall", replace: "Math.min(now.wall" }],
  },
  {
    file: "lib/queue/rules/on-end.ts",
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [
      {
        what: "handled = requested at a good end",
        find: `        handled: item.started,
        dueAt: dueInMs`,
        replace: `        handled: item.requested,
        dueAt: dueInMs`,
      },
      {
        what: "failed run resets attempts",
        find: "return { ...dropped, dueAt: now + backoffMs(item.attempts), died: false, fault: end.fault };",
        replace:
          "return { ...dropped, attempts: 0, dueAt: now + backoffMs(item.attempts), died: false, fault: end.fault };",
      },
      {
        what: "end with a newer request: not in the sweep's index",
        find: "wakeUntil: item.requested > item.started ? now + wakeMs : undefined };",
        replace: "wakeUntil: undefined };",
      },
    ],
  },
  {
    file: "lib/queue/rules/on-renew.ts",
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [
      {
        what: "renewal does not move wakeUntil",
        find: "return { ...item, lease, wakeUntil: now + leaseMs };",
        replace: "return { ...item, lease };",
      },
    ],
  },
  {
    file: "lib/queue/rules/on-request.ts",
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [
      {
        what: "wakeUntil trusted five minutes longer",
        find: "now < item.wakeUntil",
        replace: "now <= item.wakeUntil + 300_000",
      },
    ],
  },
  {
    file: "lib/queue/rules/on-sweep.ts",
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [
      {
        what: "sweep does not move the item out of the index",
        find: "item: { ...item, wakeUntil: now + wakeMs },",
        replace: "item: { ...item },",
      },
    ],
  },
  {
    file: "lib/queue/rules/on-wake-up.ts",
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [
      {
        what: "hint in back-off drops dueAt",
        find: "const later = { ...item, started: item.requested, wakeUntil: undefined, input };",
        replace: "const later = { ...item, started: item.requested, wakeUntil: undefined, dueAt: undefined, input };",
      },
      {
        what: "a run covers one request only",
        find: `    started: item.requested,
    token`,
        replace: `    started: item.started + 1,
    token`,
      },
      {
        what: "input unknown counts as unchanged",
        find: 'if (waking.input === null) return { kind: "drop" };',
        replace: "if (waking.input === null) return stayParked(item, waking.now);",
      },
    ],
  },
  {
    file: "lib/queue/run-under-lease.ts",
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [
      {
        what: "begins although the taking write answered too late",
        find: `  if (!deps.rules.mayWrite(since, instant(deps))) return letGo(item, { kind: "cutOff" }, deps, signal);
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
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [
      {
        what: "sweep looks at one page only",
        find: "if (page.length < pageSize || moved === 0) return woken;",
        replace: "return woken;",
      },
      {
        what: "one item's trouble ends the sweep",
        find: `    deps.log.warn("overdue object not woken", { key: item.key, error: messageOf(error) });
    return false;`,
        replace: "    throw error;",
      },
    ],
  },
  {
    file: "lib/queue/timing.ts",
    tests: ["test/unit/queue/rules.test.ts", "test/unit/limits/queue.test.ts"],
    faults: [
      { what: "margin 5 s", find: "marginMs = 15_000", replace: "marginMs = 5_000" },
      { what: "renewed once in 40 s", find: "renewEveryMs = 15_000", replace: "renewEveryMs = 40_000" },
    ],
  },
  {
    file: "lib/queue/void-leases.ts",
    tests: ["test/unit/queue/driver.test.ts", "test/unit/queue/rules.test.ts", "test/unit/queue/state-away.test.ts"],
    faults: [
      {
        what: "voided lease's wake-up does not say dueAt",
        find: "await deps.wakeUps.send(dueAt === undefined ? wakeUpOf({ key }) : { ...wakeUpOf({ key }), dueAt }, 0, stop);",
        replace: "await deps.wakeUps.send(wakeUpOf({ key }), 0, stop);",
      },
    ],
  },
];
