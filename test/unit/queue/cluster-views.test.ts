import { expect, test } from "vitest";
import type { ClusterState, ClusterStates } from "../../../lib/core/ports/cluster-states.ts";
import { busyDeadMs, deadProcesses } from "../../../lib/queue/cluster-rules.ts";
import { clusterViews, lookCountsMs } from "../../../lib/queue/cluster-views.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const { signal } = new AbortController();
const unexpected = () => Promise.reject(new Error("the test writes nothing"));

test("a process counts as dead if its row stayed the same for long; a failed read meanwhile tells nothing about the cluster", async () => {
  const busy = { process: "p1", runs: 7, renewals: 4 };
  let now = 0;
  let answer = async (): Promise<ClusterState> => ({ hold: undefined, busy: [busy] });
  const states: ClusterStates = {
    read: () => answer(),
    hold: unexpected,
    release: unexpected,
    setBusy: unexpected,
    removeBusy: unexpected,
  };
  // A call that answers at once is not timed.
  const sleep = (_ms: number, over: AbortSignal) =>
    new Promise<void>((_, reject) => over.addEventListener("abort", () => reject(over.reason), { once: true }));
  const views = clusterViews({ states, clock: { now: () => now, monotonic: () => now, sleep }, log: silentLog });
  const lookAt = (time: number) => {
    now = time;
    return views.look("prod", signal);
  };
  const working = answer;
  expect((await lookAt(0)).state.busy).toEqual([busy]);
  answer = () => Promise.reject(new Error("the table is away"));
  expect((await lookAt(busyDeadMs - 2 * lookCountsMs)).state).toEqual({ hold: undefined, busy: [] });
  answer = working;
  expect(deadProcesses(await lookAt(busyDeadMs), { wall: now, monotonic: now })).toEqual([busy]);
});
