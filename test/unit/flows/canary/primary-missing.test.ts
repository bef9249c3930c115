import { describe, expect, test } from "vitest";
import { canaryWorld } from "./canary-world.ts";

describe("a primary that is missing", () => {
  const failure = [
    { isPassed: false, text: "no" },
    { isPassed: false, text: "no" },
  ];
  async function rejected() {
    const world = canaryWorld();
    await world.begun();
    world.state.checks = [...failure];
    for (let ticks = 0; ticks < 4; ticks++) await world.tick();
    expect(world.now()).toBe("Failed 100/0");
    world.news();
    world.state.primary = undefined;
    return world;
  }

  test("after a failed run is recreated from the last promoted revision", async () => {
    const world = await rejected();
    world.clock.pass(10_000);
    const { dueInMs } = await world.run({ isRequested: true });
    expect(world.state.primary).toMatchObject({ template: "one", replicas: 2 });
    expect(world.said).toEqual(["Warning: deployment podinfo-primary.apps was gone"]);
    expect(dueInMs).toBeUndefined();
  });

  test("is not recreated from the rejected revision if the promoted one is not stored; one event says so", async () => {
    const world = await rejected();
    world.state.isPromotedKept = false;
    for (let times = 0; times < 2; times++) {
      world.clock.pass(10_000);
      expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "failed", dueInMs: undefined });
      // A wake within the interval takes no step.
      world.clock.pass(1_000);
      await world.run({ isRequested: true });
    }
    expect(world.state.primary).toBeUndefined();
    expect(world.said).toEqual(["Warning: deployment podinfo-primary.apps is gone"]);
    world.state.target.template = "one";
    await world.tick();
    expect(world.state.primary).toMatchObject({ template: "one" });
  });

  test("is created from a new revision if the promoted one is not stored, as in an initialisation", async () => {
    const world = await rejected();
    world.state.isPromotedKept = false;
    world.state.target.template = "three";
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Initializing 100/0");
    expect(world.said).toEqual([
      "Warning: deployment podinfo-primary.apps is gone. The target is new: it is initialised in its present state",
    ]);
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("Initialized 100/0");
    expect(world.state.primary).toMatchObject({ template: "three", isReady: true });
    expect(world.harm).toEqual([]);
  });

  test("is initialised again with a working revision if the new revision does not become ready", async () => {
    const world = await rejected();
    world.state.isPromotedKept = false;
    world.state.target.template = "three";
    await world.run({ isRequested: true });
    world.clock.pass(10_000);
    await world.run();
    if (world.state.primary !== undefined) world.state.primary.isStuck = true;
    world.clock.pass(10_000);
    await world.run();
    expect(world.now()).toBe("Failed 100/0");
    world.state.target.template = "four";
    if (world.state.primary !== undefined) world.state.primary.isStuck = false;
    world.clock.pass(10_000);
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Initializing 100/0");
    expect(world.state.primary?.template).toBe("four");
  });

  test("during a run is created from a new revision if the promoted one is not stored", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.state.primary = undefined;
    world.state.isPromotedKept = false;
    world.state.target.template = "three";
    world.clock.pass(10_000);
    await world.run({ isRequested: true });
    expect(world.status()).toMatchObject({ phase: "Initializing" });
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("Initialized 100/0");
    expect(world.state.primary).toMatchObject({ template: "three", isReady: true });
  });

  test("during a run is not created from the revision under analysis, which does not advance", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.state.primary = undefined;
    world.state.isPromotedKept = false;
    expect(await world.tick()).toMatchObject({ outcome: "failed", dueInMs: 10_000 });
    expect(world.state.primary).toBeUndefined();
    expect(world.now()).toBe("Progressing w25 75/25");
    world.state.isPromotedKept = true;
    await world.tick();
    expect(world.state.primary).toMatchObject({ template: "one" });
  });

  test("after its promotion is recreated from the target", async () => {
    const world = canaryWorld();
    await world.begun();
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    expect(world.now()).toBe("Promoting w50 50/50");
    world.state.primary = undefined;
    world.state.isPromotedKept = false;
    await world.tick();
    await world.tick();
    await world.tick();
    expect(world.state.primary).toMatchObject({ template: "two" });
    expect(world.now()).toBe("Succeeded 100/0");
  });

  test("or not ready at rest does not stop a later run from starting", async () => {
    const world = canaryWorld();
    await world.initialised();
    if (world.state.primary !== undefined) world.state.primary.isReady = false;
    world.state.target.template = "two";
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "failed", dueInMs: 10_000 });
    await world.tick();
    expect(world.now()).toBe("Progressing 100/0");
  });
});

describe("an initialisation without analysis", () => {
  test("waits until the primary serves before it moves production traffic to it", async () => {
    const world = canaryWorld({ skipAnalysis: true });
    await world.run();
    expect(world.now()).toBe("Initializing");
    expect(world.said).toEqual([]);
    world.clock.pass(10_000);
    await world.run();
    expect(world.now()).toBe("Initializing");
    expect(world.news()).toEqual([
      "Warning: podinfo-primary.apps not ready: waiting for rollout to finish: observed deployment generation less than desired generation",
    ]);
    expect(world.state.target.replicas).toBe(2);
    await world.tick();
    expect(world.now()).toBe("Initialized 100/0");
    expect(world.harm).toEqual([]);
  });
});
