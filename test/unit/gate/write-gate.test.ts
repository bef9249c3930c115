import { describe, expect, test } from "vitest";
import { Outage } from "../../../lib/core/ports/outage.ts";
import { closedReason, GateClosed, LookTooOld } from "../../../lib/core/ports/write-gate.ts";
import { lookCountsMs, type Refusal, writeGate } from "../../../lib/gate/write-gate.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
const anothers: Refusal = { reason: "owner", message: "it is another's" };

/** A gate with one check, which answers as the test has it at that time. */
function world() {
  const clock = steppedClock();
  const log = recordedLog();
  const self = { answer: async (): Promise<Refusal | undefined> => undefined, looks: 0 };
  const check = (): Promise<Refusal | undefined> => {
    self.looks += 1;
    return self.answer();
  };
  return { self, clock, log, gate: writeGate([check], { clock, log }) };
}

describe("a gate", () => {
  test("looks once for all callers within five seconds, and again after that", async () => {
    const { self, clock, gate } = world();
    await Promise.all(Array.from({ length: 20 }, () => gate.enter(signal)));
    clock.pass(lookCountsMs - 1);
    await gate.enter(signal);
    gate.assertOpen();
    expect(self.looks).toBe(1);
    clock.pass(1);
    expect(() => gate.assertOpen()).toThrow(LookTooOld);
    await gate.enter(signal);
    gate.assertOpen();
    expect(self.looks).toBe(2);
    expect(lookCountsMs).toBe(5_000);
  });

  test("counts the five seconds from before the look, because the owner may change while the answer is on its way", async () => {
    const { self, clock, gate } = world();
    self.answer = async () => {
      clock.pass(lookCountsMs);
      return undefined;
    };
    await gate.enter(signal);
    expect(() => gate.assertOpen()).toThrow(LookTooOld);
  });

  test("ignores a look from before its process was frozen", async () => {
    const { self, clock, gate } = world();
    await gate.enter(signal);
    clock.freeze(lookCountsMs);
    expect(() => gate.assertOpen()).toThrow(LookTooOld);
    await gate.enter(signal);
    expect(self.looks).toBe(2);
  });

  test("closes with a reason, logs each reason once, and opens again by itself", async () => {
    const { self, clock, log, gate } = world();
    await gate.enter(signal);
    expect(log.lines).toEqual([]);
    self.answer = async () => anothers;
    clock.pass(lookCountsMs);
    for (let time = 0; time < 4; time++) {
      await expect(gate.enter(signal)).rejects.toThrow(new GateClosed("it is another's"));
      expect(() => gate.assertOpen()).toThrow(GateClosed);
      expect(await closedReason(gate, signal)).toBe("owner");
      clock.pass(lookCountsMs);
    }
    expect(log.lines).toEqual([{ message: "nothing is written to the cluster", reason: "it is another's" }]);
    self.answer = async () => ({ reason: "paused", message: "this cluster is paused" });
    await expect(gate.enter(signal)).rejects.toThrow("this cluster is paused");
    expect(await closedReason(gate, signal)).toBe("paused");
    clock.pass(lookCountsMs);
    self.answer = async () => undefined;
    await gate.enter(signal);
    expect(log.lines.slice(1)).toEqual([
      { message: "nothing is written to the cluster", reason: "this cluster is paused" },
      { message: "the cluster is written to again" },
    ]);
  });

  test("allows no write if it cannot read the owner, and does not count as closed", async () => {
    const { self, gate } = world();
    self.answer = () => Promise.reject(new Outage("ReconciliationFailed", "no answer"));
    await expect(gate.enter(signal)).rejects.toThrow("no answer");
    expect(() => gate.assertOpen()).toThrow(LookTooOld);
    expect(await closedReason(gate, signal)).toBe(undefined);
    expect(self.looks).toBe(2);
  });

  test("that is closed stays closed if it cannot look", async () => {
    const { self, clock, gate } = world();
    self.answer = async () => anothers;
    expect(await closedReason(gate, signal)).toBe("owner");
    self.answer = () => Promise.reject(new Outage("ReconciliationFailed", "no answer"));
    clock.pass(lookCountsMs);
    expect(await closedReason(gate, signal)).toBe("owner");
  });

  test("calls its checks in order, up to the first that closes it", async () => {
    const asked: string[] = [];
    const check = (name: string, message?: string) => async () => {
      asked.push(name);
      return message === undefined ? undefined : { reason: "owner" as const, message };
    };
    const checks = [check("owner"), check("flux", "Flux runs here"), check("pause", "paused")];
    const gate = writeGate(checks, { clock: steppedClock(), log: recordedLog() });
    await expect(gate.enter(signal)).rejects.toThrow("Flux runs here");
    expect(asked).toEqual(["owner", "flux"]);
  });

  test("releases a caller whose time is up, and keeps looking for the others", async () => {
    const { self, gate } = world();
    const answer = Promise.withResolvers<Refusal | undefined>();
    self.answer = () => answer.promise;
    const stop = new AbortController();
    const given = gate.enter(stop.signal);
    const other = gate.enter(signal);
    stop.abort(new Error("time is up"));
    await expect(given).rejects.toThrow("time is up");
    answer.resolve(undefined);
    await other;
    expect(self.looks).toBe(1);
  });
});
