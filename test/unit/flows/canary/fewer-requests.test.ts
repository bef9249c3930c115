import { describe, expect, test } from "vitest";
import type { StepMemory } from "../../../../lib/canary/canary-deps.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { canaryWorld } from "./canary-world.ts";

/** In the middle of a run, with its Services as a step has left them. */
async function inRun() {
  const world = canaryWorld({ analysis: { interval: "10s", threshold: 5, maxWeight: 50, stepWeight: 5 } });
  await world.begun();
  await world.tick();
  world.news();
  const breakServices = (): void => {
    world.state.hasServices = false;
  };
  return { world, breakServices };
}

describe("the requests of a step during a run", () => {
  test("a step does not read the Services if no event has come", async () => {
    const { world, breakServices } = await inRun();
    expect(world.subscribed.at(-1)).toContain("obj#here//Service/apps/podinfo-canary");
    breakServices();
    await world.tick();
    expect(world.writes).not.toContain("services");
    expect(world.now()).toBe("Progressing w10 90/10");
  });

  test("the step after an event repairs a changed Service, even if the event came before the interval was over", async () => {
    const { world, breakServices } = await inRun();
    breakServices();
    world.clock.pass(4_000);
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "early" });
    await world.tick(6_000);
    expect(world.writes).toContain("services");
  });

  test("an event that arrives when a step is due makes this step read the Services", async () => {
    const { world, breakServices } = await inRun();
    breakServices();
    world.clock.pass(10_000);
    await world.run({ isRequested: true });
    expect(world.writes).toContain("services");
  });

  test("the step after a failed check reads the Services, because a broken Service fails checks", async () => {
    const { world, breakServices } = await inRun();
    world.state.checks = [{ isPassed: false, text: "no" }];
    await world.tick();
    breakServices();
    await world.tick();
    expect(world.writes).toContain("services");
  });

  test("a step after a retry or an outage reads the Services, because an event may have been lost", async () => {
    for (const isRetry of [true, false]) {
      const { world, breakServices } = await inRun();
      breakServices();
      world.state.isRetry = isRetry;
      world.state.carried = {
        ...world.state.carried,
        ...(isRetry ? {} : { outage: { tries: 1, since: 0, told: false } }),
      };
      await world.tick();
      expect(world.writes).toContain("services");
    }
  });

  test("the step after a run whose write was refused reads the Services, because an event may have woken that run", async () => {
    const { world, breakServices } = await inRun();
    breakServices();
    world.change({ status: { conditions: null } });
    world.state.writeFault = new ApiError({
      code: 422,
      reason: "Invalid",
      message: "spec.service.port: must be above 0",
    });
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "failed", dueInMs: 60_000 });
    world.state.writeFault = undefined;
    await world.tick(60_000);
    expect(world.writes).toContain("services");
  });

  test("the step after a suspension reads the Services, because an event may have come meanwhile", async () => {
    const { world, breakServices } = await inRun();
    breakServices();
    world.change({ spec: { suspend: true } });
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "suspended" });
    world.change({ spec: { suspend: false } });
    await world.tick();
    expect(world.writes).toContain("services");
  });

  test("a step passes on the label with which the next one lists target and primary together; an event clears it", async () => {
    const told: (StepMemory | undefined)[] = [];
    const { world } = await inRun();
    const parts = world.parts();
    const sharedLabel = { label: "app", value: "podinfo" };
    world.replaced.workload = (canary, deps) => {
      told.push(deps.memory);
      return { ...parts.workload(canary, deps), sharedLabel: async () => sharedLabel };
    };
    await world.tick();
    await world.tick();
    world.clock.pass(10_000);
    await world.run({ isRequested: true });
    expect(told).toEqual([{ hasServices: true }, { hasServices: true, sharedLabel }, undefined]);
  });
});
