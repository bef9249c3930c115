import { describe, expect, test } from "vitest";
import { canaryWorld } from "./canary-world.ts";

describe("a target that is deleted during a run", () => {
  test("leaves all traffic on the primary, and the analysis starts over when the target is back", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    expect(world.now()).toBe("Progressing w25 75/25");
    world.state.isTargetThere = false;
    world.news();
    await world.tick();
    expect(world.now()).toBe("Progressing 100/0");
    expect(world.said).toEqual(["Warning: deployment podinfo.apps get query error: not found"]);
    world.state.isTargetThere = true;
    await world.tick();
    expect(world.now()).toBe("Progressing w25 75/25");
  });
});

describe("a canary that does not become ready", () => {
  test("waits, and is rolled back without an alert after its deadline", async () => {
    const world = canaryWorld();
    await world.begun();
    world.clock.pass(10_000);
    await world.run();
    expect(world.news()).toEqual([
      "Warning: canary deployment podinfo.apps not ready: waiting for rollout to finish: observed deployment generation less than desired generation",
    ]);
    world.state.target.isStuck = true;
    await world.tick();
    expect(world.said).toEqual([
      "Warning: canary deployment podinfo.apps not ready: deployment exceeded its progress deadline",
      "Warning: Canary failed! Scaling down podinfo.apps",
    ]);
    expect(world.now()).toBe("Failed 100/0");
  });
});

describe("a canary whose pods no longer serve", () => {
  const unready =
    "canary deployment podinfo.apps not ready: waiting for rollout to finish: observed deployment generation less than desired generation";

  /** A step that finds the canary's pods unready. */
  async function unreadyStep(world: ReturnType<typeof canaryWorld>): Promise<void> {
    world.settle();
    world.state.target.isReady = false;
    world.clock.pass(10_000);
    await world.run();
  }

  test("loses its traffic to the primary at once, and its analysis starts over when they serve again", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.news();
    await unreadyStep(world);
    expect(world.now()).toBe("Progressing f1 100/0");
    expect(world.news()).toEqual([
      `Warning: ${unready}`,
      "Warning: Halt podinfo.apps advancement canary is no longer ready: all traffic goes to the primary",
    ]);
    await unreadyStep(world);
    expect(world.now()).toBe("Progressing f1 100/0");
    expect(world.news()).toEqual([`Warning: ${unready}`]);
    for (let ticks = 0; ticks < 5; ticks++) await world.tick();
    expect(world.now()).toBe("Succeeded f1 100/0");
    expect(world.harm).toEqual([]);
  });

  test("is rolled back at the threshold if that repeats, because each time is a failed check", async () => {
    const world = canaryWorld();
    await world.begun();
    for (let times = 0; times < 2; times++) {
      await world.tick();
      expect(world.now()).toMatch(/w25/);
      await unreadyStep(world);
    }
    expect(world.now()).toBe("Progressing f2 100/0");
    await unreadyStep(world);
    expect(world.now()).toBe("Failed 100/0");
    expect(world.said).toContain("Warning: Rolling back podinfo.apps failed checks threshold reached 2");
  });

  test("in an A/B test loses the matched requests, and its iterations start over", async () => {
    const match = [{ headers: { "x-canary": { exact: "always" } } }];
    const world = canaryWorld({ analysis: { interval: "10s", iterations: 3, match } });
    await world.begun();
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("Progressing i2 0/100");
    await unreadyStep(world);
    expect(world.now()).toBe("Progressing f1 100/0");
  });

  test("before it has had traffic loses none, and that is not a failed check", async () => {
    const world = canaryWorld({ analysis: { interval: "10s", iterations: 3 } });
    await world.begun();
    await world.tick();
    await unreadyStep(world);
    expect(world.now()).toBe("Progressing i1 100/0");
  });

  test("keeps the traffic if a rollout or an autoscaler explains the missing pods", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.state.isLost = false;
    await unreadyStep(world);
    expect(world.now()).toBe("Progressing w25 75/25");
  });

  test("does not block a promotion: the primary is ready, and gets its share at once", async () => {
    const world = canaryWorld({ analysis: { interval: "10s", stepWeights: [50], stepWeightPromotion: 10 } });
    await world.begun();
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("Promoting w50 50/50");
    await unreadyStep(world);
    expect(world.now()).toBe("Finalising 100/0");
    await unreadyStep(world);
    expect(world.now()).toBe("Succeeded 100/0");
    expect(world.state.primary?.template).toBe("two");
    expect(world.harm).toEqual([]);
  });
});

describe("a target that another client changes during a run", () => {
  test("to zero replicas loses its traffic, is scaled up again and analysed again; the primary keeps its replicas", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.state.target.replicas = 0;
    world.news();
    await world.tick();
    expect(world.said).toEqual([
      "Warning: canary podinfo.apps was scaled to zero during its analysis: scaling it up again",
    ]);
    expect(world.now()).toBe("Progressing 100/0");
    expect(world.state.target.replicas).toBe(2);
    for (let ticks = 0; ticks < 5; ticks++) await world.tick();
    expect(world.now()).toBe("Succeeded 100/0");
    expect(world.state.primary?.replicas).toBe(2);
    expect(world.harm).toEqual([]);
  });

  test("an error of the step is reported, and the step is retried after the interval", async () => {
    const world = canaryWorld();
    await world.begun();
    world.state.fault = 'deployment podinfo.apps get query error: deployments.apps "podinfo" not found';
    const result = await world.tick();
    expect(world.said).toEqual([`Warning: ${world.state.fault}`]);
    expect(result).toMatchObject({ outcome: "failed", dueInMs: 10_000 });
    world.state.fault = undefined;
    await world.tick();
    expect(world.now()).toBe("Progressing w25 75/25");
  });
});
