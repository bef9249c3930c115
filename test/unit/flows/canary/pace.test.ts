import { describe, expect, test } from "vitest";
import { whenToStep } from "../../../../lib/flows/canary/when-to-step.ts";
import { canaryWorld } from "./canary-world.ts";

/** At weight 25, one step after the beginning. */
async function atFirstWeight() {
  const world = canaryWorld();
  await world.begun();
  await world.tick();
  world.news();
  return world;
}

describe("the pace of a Canary's steps", () => {
  test("canary/30: an event during a run takes no step, and the next step comes when the interval is over", async () => {
    const world = await atFirstWeight();
    world.clock.pass(3_000);
    const early = await world.run({ isRequested: true });
    expect(early).toMatchObject({ outcome: "early", dueInMs: 7_000, isQuiet: true });
    world.clock.pass(6_000);
    expect(await world.run({ isRequested: true })).toMatchObject({ dueInMs: 1_000 });
    expect(world.now()).toBe("Progressing w25 75/25");
    world.clock.pass(1_000);
    await world.run();
    expect(world.now()).toBe("Progressing w50 50/50");
  });

  test("a Canary at rest has no next step; with a Knative Service as target, which sends no events, it checks at each interval", async () => {
    const targetRef = { apiVersion: "serving.knative.dev/v1", kind: "Service", name: "podinfo" };
    const [usual, knative] = [canaryWorld(), canaryWorld({ provider: "knative", targetRef })];
    await Promise.all([usual.initialised(), knative.initialised()]);
    expect(await usual.tick()).toMatchObject({ outcome: "ready", dueInMs: undefined });
    expect(await knative.tick()).toMatchObject({ outcome: "ready", dueInMs: 10_000 });
    expect(knative.writes).toEqual([]);
    knative.state.target.template = "two";
    await knative.tick();
    expect(knative.status().phase).toBe("Progressing");
  });

  test("canary/24: an interval of 1s is raised to ten seconds", async () => {
    const world = canaryWorld({ analysis: { interval: "1s", stepWeight: 10 } });
    const { dueInMs } = await world.run();
    expect(dueInMs).toBe(10_000);
  });

  test("the time that a step takes is subtracted from the wait for the next one", async () => {
    const world = canaryWorld();
    world.replaced.alerts = () => ({ send: async () => world.clock.pass(4_000) });
    await world.initialised();
    world.state.target.template = "two";
    expect(await world.run({ isRequested: true })).toMatchObject({ dueInMs: 6_000 });
  });

  test("without carried state, the time of the last step is read from the status", async () => {
    const world = await atFirstWeight();
    world.state.carried = undefined;
    world.clock.pass(3_000);
    const { dueInMs = 0 } = await world.run({ isRequested: true });
    expect(dueInMs).toBeGreaterThanOrEqual(7_000);
    expect(dueInMs).toBeLessThanOrEqual(8_000);
    expect(world.now()).toBe("Progressing w25 75/25");
  });

  test("the run after a killed one does not take a second step at once", async () => {
    const world = await atFirstWeight();
    world.clock.pass(10_000);
    // The status says the new weight, and then the process ends.
    world.replaced.eventHooks = () => ({ send: async () => Promise.reject(new TypeError("killed")) });
    await expect(world.run()).rejects.toThrow("killed");
    expect(world.now()).toBe("Progressing w50 50/50");
    world.replaced = {};
    world.clock.pass(1_000);
    world.state.isRetry = true;
    const { dueInMs = 0 } = await world.run();
    expect(dueInMs).toBeGreaterThanOrEqual(9_000);
    expect(world.now()).toBe("Progressing w50 50/50");
  });

  const now = Date.UTC(2026, 10, 22, 12);
  const pace = { intervalMs: 10_000, now, status: {}, paced: {} };
  const wrote = "";
  const hinted = { isRequested: true };
  const ahead = now + 300_000;
  const behind = now - 302_000;

  test("a last step in the future, by a clock five minutes ahead, counts as taken now", () => {
    const paced = { steppedAt: ahead };
    expect(whenToStep({ ...pace, paced, run: hinted })).toMatchObject({
      isDue: false,
      dueInMs: 10_000,
      paced: { steppedAt: now },
    });
    const status = { lastTransitionTime: "2026-11-22T12:05:00Z" };
    expect(whenToStep({ ...pace, status, run: hinted })).toMatchObject({ isDue: false, dueInMs: 10_000 });
  });

  test("a last step that seems long overdue, by a clock five minutes behind, makes an event wait for one more interval", () => {
    const first = whenToStep({ ...pace, paced: { steppedAt: behind }, run: hinted });
    expect(first).toEqual({ isDue: false, dueInMs: 10_000, paced: { steppedAt: now, wrote, isHeldBack: true } });
    const again = { ...pace, now: now + 200_000, paced: { steppedAt: now, isHeldBack: true }, run: hinted };
    expect(whenToStep(again)).toEqual({ isDue: true });
  });

  test("a run that was started by the interval alone takes a step, whatever the clocks say", () => {
    for (const steppedAt of [ahead, behind, now]) {
      expect(whenToStep({ ...pace, paced: { steppedAt }, run: { isRequested: false } })).toEqual({ isDue: true });
    }
  });

  test("a run that was started by the back-off of an outage waits until the interval is over", () => {
    const paced = { steppedAt: now - 4_000, outage: { tries: 1 } };
    expect(whenToStep({ ...pace, paced, run: { isRequested: false } })).toMatchObject({ isDue: false, dueInMs: 6_000 });
  });
});

describe("a Canary at rest", () => {
  test("repairs changes of other clients once per interval, so that it does not fight with another writer", async () => {
    const world = canaryWorld();
    await world.initialised();
    world.clock.pass(4_000);
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "early", dueInMs: 6_000 });
    world.clock.pass(6_000);
    expect(await world.run()).toMatchObject({ outcome: "ready", dueInMs: undefined });
    world.clock.pass(10_000);
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "ready", dueInMs: undefined });
  });

  test("canary/30: a target that changes during the promotion is released one interval after its end, whatever wakes the Canary before", async () => {
    const world = await atFirstWeight();
    for (const phase of ["Progressing", "Promoting", "Finalising"]) {
      await world.tick();
      expect(world.status().phase).toBe(phase);
    }
    world.state.target.template = "three";
    expect(await world.tick()).toMatchObject({ outcome: "ready", dueInMs: 10_000 });
    for (const dueInMs of [7_000, 4_000]) {
      world.clock.pass(3_000);
      expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "early", dueInMs });
    }
    expect(world.status().phase).toBe("Succeeded");
    world.clock.pass(4_000);
    await world.run();
    expect(world.now()).toBe("Progressing 100/0");
  });

  test("does not wait for another target", async () => {
    const world = canaryWorld();
    await world.initialised();
    world.state.target.template = "two";
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Progressing 100/0");
  });
});

describe("events that a Canary handles without waiting", () => {
  test("canary/22: a new template during a run restarts it with all traffic on the primary and counters at zero", async () => {
    const world = await atFirstWeight();
    world.state.checks = [{ isPassed: false, text: "no" }];
    await world.tick();
    expect(world.now()).toBe("Progressing w25 f1 75/25");
    world.news();
    world.state.target.template = "three";
    world.clock.pass(2_000);
    const { dueInMs } = await world.run({ isRequested: true });
    expect(world.now()).toBe("Progressing 100/0");
    expect(world.said).toEqual(["Normal: New revision detected! Restarting analysis for podinfo.apps"]);
    expect(world.status().lastAppliedSpec).toBe("three");
    expect(dueInMs).toBe(10_000);
  });

  test("the promoted template during a run neither restarts nor ends it", async () => {
    const world = await atFirstWeight();
    world.state.target.template = "one";
    await world.tick();
    expect(world.now()).toBe("Progressing w50 50/50");
  });

  test("canary/23: a suspended Canary takes no step and only reports that it is suspended", async () => {
    const world = await atFirstWeight();
    world.change({ spec: { suspend: true } });
    world.clock.pass(3_000);
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "suspended", dueInMs: undefined });
    expect(world.said).toEqual(["Normal: skipping canary run as object is suspended"]);
    expect(world.writes).toEqual([]);
    world.change({ spec: { suspend: null } });
    world.clock.pass(3_000);
    expect(await world.run({ isRequested: true })).toMatchObject({ dueInMs: 4_000 });
    expect(world.now()).toBe("Progressing w25 75/25");
  });

  test("a suspended Canary clears the retry count of an outage that is over", async () => {
    const world = await atFirstWeight();
    world.change({ spec: { suspend: true } });
    world.state.carried = { ...world.state.carried, outage: { tries: 5, since: 0, told: true } };
    await world.run({ isRequested: true });
    expect(world.state.carried).not.toHaveProperty("outage");
    expect(world.state.carried).toMatchObject({ isSuspended: true, steppedAt: expect.any(Number) });
  });

  test("subscribes to its target and to tracked configs, and checks once more after a new subscription", async () => {
    const world = canaryWorld();
    await world.run();
    world.state.configs = { "configmap/app": "0123456789abcdef", "secret/key": "0123456789abcdef" };
    const { dueInMs } = await world.tick();
    const followed = [
      "obj#here/apps/Deployment/apps/podinfo",
      "obj#here//ConfigMap/apps/app",
      "obj#here//Secret/apps/key",
      "obj#here//Service/apps/podinfo",
      "obj#here//Service/apps/podinfo-primary",
      "obj#here//Service/apps/podinfo-canary",
    ];
    expect(world.subscribed.at(-1)).toEqual([...followed, "obj#here/apps/Deployment/apps/podinfo-primary"]);
    expect(dueInMs).toBe(10_000);
    expect(await world.tick()).toMatchObject({ dueInMs: undefined });
    world.state.target.template = "two";
    await world.run({ isRequested: true });
    expect(world.subscribed.at(-1)).toEqual(followed);
  });
});
