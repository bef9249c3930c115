import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { canaryWorld } from "./canary-world.ts";

describe("a primary that does not become ready", () => {
  test("canary/59: during a promotion leaves all traffic on the canary, which keeps running", async () => {
    const world = canaryWorld();
    await world.begun();
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    expect(world.now()).toBe("Promoting w50 50/50");
    if (world.state.primary !== undefined) world.state.primary.isStuck = true;
    world.news();
    const { dueInMs } = await world.tick();
    const why = "podinfo-primary.apps not ready: deployment exceeded its progress deadline";
    expect(world.said).toEqual([
      `Warning: ${why}`,
      `Warning: Promotion of podinfo.apps failed, primary not ready: ${why}`,
      `alert error: Promotion failed, primary not ready: ${why}`,
    ]);
    expect(world.now()).toBe("Failed w100 0/100");
    expect(world.state.target.replicas).toBe(2);
    expect(dueInMs).toBeUndefined();
  });

  test("and a canary that does not serve either: a failed promotion leaves the routes as they are", async () => {
    const world = canaryWorld();
    await world.begun();
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    world.settle();
    if (world.state.primary !== undefined) world.state.primary.isStuck = true;
    world.state.target.isReady = false;
    world.clock.pass(10_000);
    await world.run();
    expect(world.now()).toBe("Failed w50 50/50");
    expect(world.harm).toEqual([]);
  });

  /** A promotion has failed: all traffic is on the canary, and the primary does not come up. */
  async function failedPromotion(spec: JsonObject = {}) {
    const world = canaryWorld(spec);
    await world.begun();
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    if (world.state.primary !== undefined) world.state.primary.isStuck = true;
    await world.tick();
    expect(world.now()).toBe("Failed w100 0/100");
    return world;
  }

  async function afterFailedPromotion() {
    const world = await failedPromotion();
    world.state.target.template = "three";
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Progressing 0/100");
    world.news();
    return world;
  }

  test("after a failed promotion the next revision is released by the canary and repairs the primary", async () => {
    const world = await afterFailedPromotion();
    await world.tick();
    expect(world.now()).toBe("Promoting 0/100");
    if (world.state.primary !== undefined) world.state.primary.isStuck = false;
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("Succeeded 100/0");
    expect(world.state.primary?.template).toBe("three");
    expect(world.harm).toEqual([]);
  });

  test("after a failed promotion a revision that fails keeps the traffic, because nothing else serves", async () => {
    const world = await afterFailedPromotion();
    world.state.checks = [
      { isPassed: false, text: "no" },
      { isPassed: false, text: "no" },
    ];
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    expect(world.now()).toBe("Failed w100 0/100");
    expect(world.said.slice(-1)).toEqual([
      "Warning: Canary failed! Keeping podinfo.apps: the primary is not ready, so all traffic stays on it",
    ]);
    expect(world.state.target.replicas).toBe(2);
    expect(world.harm).toEqual([]);
  });

  test("after a failed promotion a closed gate keeps all traffic on the canary", async () => {
    const gate = { name: "gate", type: "confirm-rollout", url: "http://gate.test" };
    const world = await failedPromotion({
      analysis: { interval: "10s", stepWeight: 25, maxWeight: 50, webhooks: [gate] },
    });
    world.state.refusals.set("gate", "closed");
    world.state.target.template = "three";
    await world.run({ isRequested: true });
    for (let ticks = 0; ticks < 2; ticks++) {
      expect(world.now()).toBe("Waiting w100 0/100");
      world.clock.pass(10_000);
      await world.run();
    }
    expect(world.state.target.replicas).toBe(2);
    world.state.refusals.clear();
    world.clock.pass(10_000);
    await world.run();
    expect(world.now()).toBe("Progressing 0/100");
    expect(world.harm).toEqual([]);
  });

  test("after a failed promotion, without analysis, the traffic moves to the primary only once the primary serves", async () => {
    const world = await failedPromotion();
    world.change({ spec: { skipAnalysis: true } });
    world.state.target.template = "three";
    await world.run({ isRequested: true });
    const tick = async () => {
      world.state.target.isReady = true;
      world.clock.pass(10_000);
      await world.run();
    };
    await tick();
    expect(world.now()).toBe("Promoting 0/100");
    expect(world.state.primary?.template).toBe("three");
    if (world.state.primary !== undefined) world.state.primary.isStuck = false;
    await tick();
    expect(world.now()).toBe("Promoting 0/100");
    await world.tick();
    expect(world.now()).toBe("Succeeded 100/0");
    expect(world.harm).toEqual([]);
  });

  test("at rest keeps the next revision waiting, without rejecting it", async () => {
    const world = canaryWorld();
    await world.initialised();
    if (world.state.primary !== undefined) world.state.primary.isStuck = true;
    world.state.target.template = "two";
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "failed", dueInMs: 10_000 });
    expect(world.now()).toBe("Initialized 100/0");
    if (world.state.primary !== undefined) world.state.primary.isStuck = false;
    await world.tick();
    expect(world.now()).toBe("Progressing 100/0");
  });

  test("while still rolling out ends the step, and is not a failed check", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    if (world.state.primary !== undefined) world.state.primary.isReady = false;
    world.clock.pass(10_000);
    const { dueInMs } = await world.run();
    expect(world.now()).toBe("Progressing w25 75/25");
    expect(dueInMs).toBe(10_000);
  });
});
