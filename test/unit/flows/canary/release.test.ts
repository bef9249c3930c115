import { describe, expect, test } from "vitest";
import { toJson } from "../../../../lib/core/json.ts";
import { canaryWorld } from "./canary-world.ts";

const no = { isPassed: false, text: "no" } as const;

describe("a new Canary", () => {
  test("canary/1: is Initializing with Promoted Unknown until its primary is ready", async () => {
    const world = canaryWorld();
    await world.run();
    expect(world.status()).toMatchObject({
      phase: "Initializing",
      conditions: [
        {
          type: "Promoted",
          status: "Unknown",
          reason: "Initializing",
          message: "New Deployment detected, starting initialization.",
        },
      ],
    });
    expect(world.writes).toEqual(["status", "services", "primary"]);
    expect(world.said).toEqual([
      "Normal: all the metrics providers are available!",
      "Warning: podinfo-primary.apps not ready: waiting for rollout to finish: observed deployment generation less than desired generation",
    ]);
  });

  test("canary/2, 6: creates its own Services first, and scales the target down only when Service and route point to the primary", async () => {
    const world = canaryWorld();
    await world.run();
    await world.tick();
    expect(world.writes).toEqual(["status", "services", "primary", "apex", "route", "scale to zero", "status"]);
    expect(world.harm).toEqual([]);
  });

  test("canary/7: is Initialized and Promoted, with both revisions and an event", async () => {
    const world = canaryWorld();
    await world.run();
    world.news();
    const { dueInMs } = await world.tick();
    expect(world.status()).toMatchObject({
      phase: "Initialized",
      lastAppliedSpec: "one",
      lastPromotedSpec: "one",
      trackedConfigs: {},
      conditions: [{ status: "True", reason: "Initialized", message: "Deployment initialization completed." }],
    });
    expect(world.said).toEqual([
      "Normal: all the metrics providers are available!",
      "Normal: Initialization done! podinfo.apps",
      "alert info: New Deployment detected, initialization completed.",
    ]);
    expect(dueInMs).toBeUndefined();
  });

  test("starts a run at once if its target changed during the initialisation", async () => {
    const world = canaryWorld();
    await world.run();
    world.state.target.template = "";
    expect(await world.tick()).toMatchObject({ dueInMs: 10_000 });
    expect(world.now()).toBe("Initialized 100/0");
    world.state.target.template = "two";
    await world.tick();
    expect(world.now()).toBe("Progressing 100/0");
  });

  test("loses the conditions that it had while it was parked", async () => {
    const world = canaryWorld();
    await world.initialised();
    const [promoted] = world.status().conditions ?? [];
    const stalled = { ...promoted, type: "Stalled", status: "True", reason: "Poisoned" };
    world.change({ status: { conditions: toJson([promoted, stalled]) } });
    await world.run({ isRequested: true });
    expect(world.status().conditions).toEqual([promoted]);
  });

  test("continues without its metric servers, and reports that they do not answer", async () => {
    const world = canaryWorld();
    world.state.probe = "prometheus not available";
    await world.run();
    await world.tick();
    expect(world.said).toContain("Warning: Error checking metric providers: prometheus not available");
    expect(world.status().phase).toBe("Initialized");
  });

  test.each(["kubernetes", "gatewayapi:v1"])(
    "fails with provider %s if its primary does not become ready",
    async (provider) => {
      const world = canaryWorld({ provider });
      await world.run();
      if (world.state.primary !== undefined) world.state.primary.isStuck = true;
      world.news();
      const { dueInMs } = await world.tick();
      expect(world.now()).toBe("Failed");
      expect(world.said.slice(-2)).toEqual([
        "Warning: podinfo-primary.apps not ready: deployment exceeded its progress deadline",
        "Warning: Canary failed! Keeping podinfo.apps: its primary has never been ready",
      ]);
      expect(dueInMs).toBeUndefined();
    },
  );

  test("keeps the target if the initialisation fails, and starts again when the target is fixed", async () => {
    const world = canaryWorld();
    await world.run();
    if (world.state.primary !== undefined) world.state.primary.isStuck = true;
    await world.tick();
    expect([world.now(), world.state.target.replicas]).toEqual(["Failed", 2]);
    world.state.target.template = "mended";
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Initializing");
    if (world.state.primary !== undefined) world.state.primary.isStuck = false;
    await world.tick();
    expect(world.now()).toBe("Initialized 100/0");
    expect(world.state.primary?.template).toBe("mended");
  });
});

describe("a Canary at rest", () => {
  test("canary/18, 19: starts a run for a new template or a changed tracked config, and writes nothing otherwise", async () => {
    const world = canaryWorld();
    await world.initialised();
    world.clock.pass(10_000);
    expect(await world.run({ isRequested: true })).toMatchObject({
      outcome: "ready",
      dueInMs: undefined,
      isQuiet: true,
    });
    expect(world.writes).toEqual([]);
    world.state.configs = { "configmap/app": "0123456789abcdef" };
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Progressing 100/0");
    expect(world.status().trackedConfigs).toEqual({ "configmap/app": "0123456789abcdef" });
    expect(world.said).toEqual([
      "Normal: New revision detected! Scaling up podinfo.apps",
      "alert info: New revision detected, progressing canary analysis.",
    ]);
  });

  test("canary/20, 21: does not retry a failed template, and the promoted one starts nothing", async () => {
    const world = canaryWorld();
    await world.begun();
    world.state.checks = [
      { isPassed: false, text: "no" },
      { isPassed: false, text: "no" },
    ];
    for (let ticks = 0; ticks < 4; ticks++) await world.tick();
    expect(world.now()).toBe("Failed 100/0");
    world.news();
    world.clock.pass(10_000);
    await world.run({ isRequested: true });
    expect(world.writes).toEqual([]);
    world.state.target.template = "one";
    world.clock.pass(10_000);
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Failed 100/0");
    expect(world.status().lastAppliedSpec).toBe("one");
    expect(world.writes).toEqual(["status"]);
    world.state.target.template = "three";
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Progressing 100/0");
  });
});

describe("a release by weights", () => {
  test("canary/25, 28, 56: raises the weight step by step, promotes, moves traffic back and scales down", async () => {
    const world = canaryWorld();
    await world.begun();
    const steps: string[] = [];
    for (let ticks = 0; ticks < 6; ticks++) {
      await world.tick();
      steps.push(`${world.now()} | ${world.news().join(" | ")}`);
    }
    expect(steps).toEqual([
      "Progressing w25 75/25 | Normal: Starting canary analysis for podinfo.apps | Normal: Advance podinfo.apps canary weight 25",
      "Progressing w50 50/50 | metrics | Normal: Advance podinfo.apps canary weight 50",
      "Promoting w50 50/50 | metrics | Normal: Copying podinfo.apps template spec to podinfo-primary.apps",
      "Finalising 100/0 | Normal: Routing all traffic to primary",
      "Succeeded 100/0 | Normal: Promotion completed! Scaling down podinfo.apps | alert info: Canary analysis completed successfully, promotion finished.",
      "Succeeded 100/0 | ",
    ]);
    expect(world.status()).toMatchObject({ lastAppliedSpec: "two", lastPromotedSpec: "two" });
    expect(world.state.target.replicas).toBe(0);
    expect(world.state.primary?.template).toBe("two");
    expect(world.harm).toEqual([]);
  });

  test("canary/61: has the metric 0 while it progresses, 1 after success and 2 after failure", async () => {
    const world = canaryWorld();
    await world.begun();
    for (let ticks = 0; ticks < 6; ticks++) await world.tick();
    world.state.target.template = "three";
    await world.run({ isRequested: true });
    world.state.checks = [no, no];
    for (let ticks = 0; ticks < 5; ticks++) await world.tick();
    expect(world.now()).toBe("Failed 100/0");
    const labels = { target: "podinfo", weight: "0", deployment_strategy: "canary", analysis_status: "completed" };
    const about = "Canary/apps/podinfo";
    expect(world.metrics.recorded).toEqual([
      [about, { CanaryReleasesBegun: 1 }, { ...labels, status: "0" }],
      [about, { CanaryReleasesSucceeded: 1 }, { ...labels, status: "1" }],
      [about, { CanaryReleasesBegun: 1 }, { ...labels, status: "0" }],
      [about, { CanaryReleasesFailed: 1 }, { ...labels, status: "2" }],
    ]);
  });

  test("canary/29: moves the traffic back in two steps of 50", async () => {
    const world = canaryWorld({ analysis: { interval: "10s", stepWeight: 100, stepWeightPromotion: 50 } });
    await world.begun();
    const steps: string[] = [];
    for (let ticks = 0; ticks < 5; ticks++) {
      await world.tick();
      steps.push(world.now());
    }
    expect(steps).toEqual([
      "Progressing w100 0/100",
      "Promoting w100 0/100",
      "Promoting w50 50/50",
      "Finalising 100/0",
      "Succeeded 100/0",
    ]);
    expect(world.said).toContain("Normal: Advance podinfo.apps primary weight 50");
    expect(world.said).toContain("Normal: Advance podinfo.apps primary weight 100");
  });

  test("with stepWeight 0 reports that the analysis has no next step, and shifts no traffic", async () => {
    const world = canaryWorld({ analysis: { interval: "10s", stepWeight: 0 } });
    await world.begun();
    await world.tick();
    expect(world.said.at(-1)).toMatch(/^Warning: Halt podinfo\.apps advancement spec\.analysis has no next step/);
    expect(world.now()).toBe("Progressing 100/0");
  });

  test("canary/60: without analysis promotes as soon as the canary is ready, and runs no checks", async () => {
    const world = canaryWorld({
      skipAnalysis: true,
      analysis: {
        interval: "10s",
        stepWeight: 10,
        webhooks: [
          { name: "before", url: "http://hook.test", type: "confirm-rollout" },
          { name: "pre", url: "http://hook.test", type: "pre-rollout" },
          { name: "after", url: "http://hook.test", type: "post-rollout" },
        ],
      },
    });
    await world.initialised();
    world.state.target.template = "two";
    await world.run({ isRequested: true });
    expect(world.news()).toEqual([
      "hook before Initialized",
      "Normal: Confirm-rollout check before passed",
      "Normal: New revision detected! Scaling up podinfo.apps",
      "alert info: New revision detected, progressing canary analysis.",
    ]);
    await world.tick();
    expect(world.now()).toBe("Succeeded 100/0");
    expect(world.news()).toEqual([
      "Normal: Copying podinfo.apps template spec to podinfo-primary.apps",
      "hook after Succeeded",
      "Normal: Post-rollout check after passed",
      "Normal: Promotion completed! Canary analysis was skipped for podinfo.apps",
      "alert info: Canary analysis was skipped, promotion finished.",
    ]);
  });
});
