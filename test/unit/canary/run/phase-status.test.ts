import { describe, expect, test } from "vitest";
import { type CanaryPhase, type CanaryStatus, canaryPhases } from "../../../../lib/api/canary.ts";
import { counted, inPhase, resynced, syncedIn } from "../../../../lib/canary/run/phase-status.ts";
import { isChanged, isSeen } from "../../../../lib/canary/run/run-state.ts";

const at = (seconds: number) => ({ kind: "Deployment", now: Date.UTC(2026, 0, 1) + seconds * 1_000 });
const time = (seconds: number): string => `2026-01-01T00:00:${String(seconds).padStart(2, "0")}Z`;
const running: CanaryStatus = {
  ...{ phase: "Progressing", canaryWeight: 30, failedChecks: 1, iterations: 2 },
  ...{ lastAppliedSpec: "b", lastPromotedSpec: "a" },
};

describe("the status of a Canary in another phase", () => {
  test.each([
    ["Initializing", "Unknown", "New Deployment detected, starting initialization."],
    ["Initialized", "True", "Deployment initialization completed."],
    ["Waiting", "Unknown", "Waiting for approval."],
    ["Progressing", "Unknown", "New revision detected, progressing canary analysis."],
    ["WaitingPromotion", "Unknown", "Waiting for approval."],
    ["Promoting", "Unknown", "Canary analysis completed, starting primary rolling update."],
    ["Finalising", "Unknown", "Canary analysis completed, routing all traffic to primary."],
    ["Succeeded", "True", "Canary analysis completed successfully, promotion finished."],
    ["Failed", "False", "Canary analysis failed, Deployment scaled to zero."],
    ["Terminating", "Unknown", "New Deployment detected, starting initialization."],
  ] as const)("%s is Promoted=%s: %s", (phase, status, message) => {
    const { conditions } = inPhase({}, phase, {}, at(1));
    expect(conditions).toEqual([
      { type: "Promoted", status, reason: phase, message, lastUpdateTime: time(1), lastTransitionTime: time(1) },
    ]);
  });

  test("keeps its counters during a run and resets them otherwise; failed checks stay", () => {
    const kept: readonly CanaryPhase[] = ["Progressing", "Waiting", "Promoting"];
    for (const phase of canaryPhases.filter((one) => one !== "WaitingPromotion")) {
      const { canaryWeight, failedChecks, iterations } = inPhase(running, phase, { iterations: 5 }, at(0));
      expect({ phase, canaryWeight, iterations, failedChecks }).toEqual({
        ...(kept.includes(phase)
          ? { phase, canaryWeight: 30, iterations: 2 }
          : { phase, canaryWeight: 0, iterations: 0 }),
        failedChecks: 1,
      });
    }
  });

  test("has one iteration less while promotion waits, and so minus one for weights", () => {
    expect(inPhase(running, "WaitingPromotion", { iterations: 5 }, at(0))).toMatchObject({
      canaryWeight: 0,
      iterations: 4,
    });
    expect(inPhase(running, "WaitingPromotion", {}, at(0))).toMatchObject({ canaryWeight: 0, iterations: -1 });
  });

  test("canary/56: names the applied revision as promoted once it has succeeded", () => {
    expect(inPhase(running, "Succeeded", {}, at(0)).lastPromotedSpec).toBe("b");
    expect(inPhase(running, "Finalising", {}, at(0)).lastPromotedSpec).toBe("a");
  });

  test("rewrites its condition only if status or reason change, and changes its time only with its status", () => {
    const first = inPhase({}, "Waiting", {}, at(1));
    const second = inPhase(first, "Progressing", {}, at(2));
    expect(second.conditions).toMatchObject([
      { reason: "Progressing", lastUpdateTime: time(2), lastTransitionTime: time(1) },
    ]);
    const third = syncedIn(second, "Progressing", { revision: { spec: "c", configs: {} }, isTracking: true }, at(3));
    expect(third.conditions).toEqual(second.conditions);
    expect(third.lastTransitionTime).toBe(time(3));
    expect(inPhase(third, "Succeeded", {}, at(4)).conditions).toMatchObject([{ lastTransitionTime: time(4) }]);
  });

  test("changes lastTransitionTime with every counter", () => {
    expect(counted(running, { failedChecks: 2 }, at(7))).toEqual({
      ...running,
      failedChecks: 2,
      lastTransitionTime: time(7),
    });
  });
});

describe("the revision of a target", () => {
  const revision = { spec: "c", configs: { "configmap/x": "0123456789abcdef" } };

  test("is written to the status when a run starts, with the counters at zero; as promoted only by the initialisation", () => {
    const begun = syncedIn(running, "Progressing", { revision, isTracking: true }, at(0));
    expect(begun).toMatchObject({ canaryWeight: 0, failedChecks: 0, iterations: 0, lastAppliedSpec: "c" });
    expect(begun).toMatchObject({ lastPromotedSpec: "a", trackedConfigs: revision.configs });
    const initialised = syncedIn({}, "Initialized", { revision, isTracking: false }, at(0));
    expect(initialised).toMatchObject({ lastAppliedSpec: "c", lastPromotedSpec: "c" });
    expect(initialised.trackedConfigs).toBeUndefined();
  });

  test("of a failed Canary is the current one, and everything else stays", () => {
    const failed: CanaryStatus = { ...running, phase: "Failed", canaryWeight: 100 };
    expect(resynced(failed, { revision, isTracking: true }, at(1))).toEqual({
      ...failed,
      lastAppliedSpec: "c",
      trackedConfigs: revision.configs,
      lastTransitionTime: time(1),
    });
  });

  const configs = {};
  const applied: CanaryStatus = { lastAppliedSpec: "b", lastPromotedSpec: "a", trackedConfigs: {} };

  test.each([
    ["canary/18: a new template", applied, { spec: "c", configs }, true],
    ["the applied template", applied, { spec: "b", configs }, false],
    ["canary/20: the promoted template", applied, { spec: "a", configs }, false],
    ["no applied template", {}, { spec: "a", configs }, true],
    ["canary/19: a changed config", applied, { spec: "b", configs: revision.configs }, true],
    ["configs that were not tracked before", { ...applied, trackedConfigs: undefined }, revision, true],
  ])("%s is a change: %j", (_name, { trackedConfigs, ...status }: object & { trackedConfigs?: unknown }, found, is) => {
    const tracked = trackedConfigs === undefined ? {} : { trackedConfigs: {} };
    expect(isChanged({ ...status, ...tracked }, found, true)).toBe(is);
  });

  test("ignores configs if they are not tracked", () => {
    expect(isChanged(applied, { spec: "b", configs: revision.configs }, false)).toBe(false);
    expect(isSeen(applied, { spec: "b", configs: revision.configs }, false)).toBe(true);
    expect(isSeen(applied, { spec: "b", configs: revision.configs }, true)).toBe(false);
  });
});
