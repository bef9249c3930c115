import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mapLimit } from "../../lib/core/concurrency.ts";
import {
  type ClusterHold,
  type ClusterState,
  type ClusterStates,
  maxHoldReasonChars,
} from "../../lib/core/ports/cluster-states.ts";
import { never } from "./state-back-end.ts";

export interface ClusterStatesBackEnd {
  readonly clusterStates: ClusterStates;
  close(): Promise<void>;
}

const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const hold: ClusterHold = { kind: "unreachable", reason: "no answer: ünïcode", since: 1_790_000_000_000.5, probes: 0 };
const nothing = { hold: undefined, busy: [] };

export function clusterStatesContract(name: string, open: () => Promise<ClusterStatesBackEnd>): void {
  describe(`cluster states: ${name}`, () => {
    let backEnd: ClusterStatesBackEnd;
    let states: ClusterStates;
    beforeEach(async () => {
      backEnd = await open();
      states = backEnd.clusterStates;
    });
    afterEach(() => backEnd.close());

    /** For a store that is eventually consistent. */
    const read = async (cluster = arn): Promise<ClusterState> => {
      const { busy, ...state } = await states.read(cluster, never);
      return { ...state, busy: busy.toSorted((a, b) => (a.process < b.process ? -1 : 1)) };
    };

    test("a new cluster has no hold and no busy process", async () => {
      await expect.poll(() => read()).toEqual(nothing);
    });

    test("the latest hold replaces the one before and comes back unchanged", async () => {
      await states.hold(arn, { ...hold, kind: "refused", reason: "paused" }, never);
      await states.hold(arn, { ...hold, probes: 7, missedSweeps: 3 }, never);
      await expect.poll(() => read()).toEqual({ hold: { ...hold, probes: 7, missedSweeps: 3 }, busy: [] });
    });

    test("a hold is removed, even if removed twice, and the busy processes stay", async () => {
      const busy = { process: "p1", runs: 3, renewals: 1 };
      await states.setBusy(arn, busy, never);
      await states.hold(arn, hold, never);
      await states.release(arn, never);
      await states.release(arn, never);
      await expect.poll(() => read()).toEqual({ hold: undefined, busy: [busy] });
    });

    test("each process has one row, which it replaces and removes itself", async () => {
      await states.setBusy(arn, { process: "p1", runs: 3, renewals: 0 }, never);
      await states.setBusy(arn, { process: "p1", runs: 4, renewals: 1 }, never);
      await states.setBusy(arn, { process: "p2", runs: 9, renewals: 5 }, never);
      const other = { process: "p2", runs: 9, renewals: 5 };
      await expect
        .poll(() => read())
        .toEqual({ hold: undefined, busy: [{ process: "p1", runs: 4, renewals: 1 }, other] });
      await states.removeBusy(arn, "p1", never);
      await states.removeBusy(arn, "p1", never);
      await expect.poll(() => read()).toEqual({ hold: undefined, busy: [other] });
    });

    test("clusters do not see each other's rows, even if one id starts with another", async () => {
      await states.hold(arn, hold, never);
      await states.setBusy(arn, { process: "p1", runs: 1, renewals: 0 }, never);
      await expect.poll(() => read(`${arn}-2`)).toEqual(nothing);
      await expect.poll(() => read(arn.slice(0, -1))).toEqual(nothing);
    });

    test("a hundred busy processes come back, each once", async () => {
      const names = Array.from({ length: 100 }, (_, number) => `p${String(number).padStart(3, "0")}`);
      await mapLimit(names, 10, (process) => states.setBusy(arn, { process, runs: 1, renewals: 0 }, never), never);
      await expect
        .poll(() => read())
        .toEqual({ hold: undefined, busy: names.map((process) => ({ process, runs: 1, renewals: 0 })) });
    });

    test("an id, a process and a reason of maximum length are stored like any other", async () => {
      const long = "n".repeat(1_000);
      const longest = { ...hold, reason: "\u{1F409}".repeat(maxHoldReasonChars / 2) };
      const busy = { process: "p".repeat(100), runs: 1, renewals: 0 };
      await states.hold(long, longest, never);
      await states.setBusy(long, busy, never);
      await expect.poll(() => read(long)).toEqual({ hold: longest, busy: [busy] });
    });

    test("a call under an aborted signal changes nothing", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      const busy = { process: "p1", runs: 1, renewals: 0 };
      await expect(states.hold(arn, hold, stopped)).rejects.toThrow("time is up");
      await expect(states.setBusy(arn, busy, stopped)).rejects.toThrow("time is up");
      await expect(states.read(arn, stopped)).rejects.toThrow("time is up");
      await states.hold(arn, hold, never);
      await states.setBusy(arn, busy, never);
      await expect(states.release(arn, stopped)).rejects.toThrow("time is up");
      await expect(states.removeBusy(arn, "p1", stopped)).rejects.toThrow("time is up");
      await expect.poll(() => read()).toEqual({ hold, busy: [busy] });
    });
  });
}
