import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { kubernetesTime } from "../../../../lib/core/kubernetes-time.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
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

describe("a status written by a clock that is far ahead", () => {
  test("is reset to the current time, so that deadlines that count from it expire", async () => {
    const world = canaryWorld();
    await world.begun();
    const ahead = (ms: number) => kubernetesTime(world.clock.now() + ms);
    world.change({ status: { lastTransitionTime: ahead(2 * 3_600_000) } });
    world.state.target.isReady = false;
    await world.run();
    expect(world.status().lastTransitionTime).toBe(ahead(0));
    world.change({ status: { lastTransitionTime: ahead(20_000) } });
    world.writes.length = 0;
    world.state.target.isReady = false;
    world.clock.pass(10_000);
    await world.run();
    expect(world.writes).toEqual([]);
  });
});

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
      "Warning: deployment podinfo-primary.apps is gone. The target is new: it is initialised as it is now",
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

describe("a Canary that is refused", () => {
  test("the younger of two with the same target takes no step, and one Warning names both", async () => {
    const world = canaryWorld();
    const live = world.live();
    if (live === undefined) throw new Error("there is a Canary");
    const metadata = { ...live.metadata, name: "older", uid: "canary-0", creationTimestamp: "2026-10-01T00:00:00Z" };
    world.state.others = [{ ...live, metadata }];
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "stalled", dueInMs: 60_000 });
    // The second look is for a change that came before it was subscribed to.
    expect(await world.tick(60_000)).toMatchObject({ outcome: "stalled", dueInMs: undefined, isQuiet: true });
    const message =
      "Canary podinfo.apps is not released: its target Deployment podinfo.apps belongs to the older Canary older.apps; delete one of them or change its spec.targetRef";
    expect(world.said).toEqual([`Warning: ${message}`]);
    expect(world.writes).toEqual(["status"]);
    expect(world.status()).toMatchObject({ conditions: [{ status: "False", reason: "TargetTaken", message }] });
    expect(world.subscribed.at(-1)).toEqual(["spec#here/flagger.app/Canary/apps/older"]);
  });

  test("the younger of two starts once the older one is deleted, and not while it is terminating", async () => {
    const world = canaryWorld();
    const live = world.live();
    if (live === undefined) throw new Error("there is a Canary");
    const metadata = { ...live.metadata, name: "older", uid: "canary-0", creationTimestamp: "2026-10-01T00:00:00Z" };
    world.state.others = [{ ...live, metadata: { ...metadata, deletionTimestamp: "2026-11-22T12:00:00Z" } }];
    await world.run({ isRequested: true });
    expect(world.status().phase).toBeUndefined();
    world.state.others = [];
    await world.run({ isRequested: true });
    expect(world.status()).toMatchObject({ phase: "Initializing", conditions: [{ reason: "Initializing" }] });
    expect(world.subscribed.at(-1)).toContain("obj#here/apps/Deployment/apps/podinfo");
    expect(await world.tick()).toMatchObject({ outcome: "ready" });
  });

  test("a Canary at rest that loses its target to an older one gets its condition back once the older one releases the target", async () => {
    const world = canaryWorld();
    await world.initialised();
    const live = world.live();
    if (live === undefined) throw new Error("there is a Canary");
    const metadata = { ...live.metadata, name: "older", uid: "canary-0", creationTimestamp: "2026-10-01T00:00:00Z" };
    world.state.others = [{ ...live, metadata }];
    await world.run({ isRequested: true });
    expect(world.status()).toMatchObject({ phase: "Initialized", conditions: [{ reason: "TargetTaken" }] });
    world.state.others = [];
    await world.run({ isRequested: true });
    expect(world.status()).toMatchObject({
      phase: "Initialized",
      conditions: [{ status: "True", reason: "Initialized" }],
    });
  });

  test("the older of two with the same target goes on", async () => {
    const world = canaryWorld();
    const live = world.live();
    if (live === undefined) throw new Error("there is a Canary");
    const metadata = { ...live.metadata, name: "a", uid: "canary-2", creationTimestamp: "2026-12-01T00:00:00Z" };
    world.state.others = [{ ...live, metadata }];
    await world.run();
    expect(world.status().phase).toBe("Initializing");
  });

  test("canary/41: equal cookie names log an error, without status or event", async () => {
    const sessionAffinity = { cookieName: "flagger", primaryCookieName: "flagger" };
    const world = canaryWorld({ analysis: { interval: "10s", stepWeight: 10, sessionAffinity } });
    const message =
      "invalid canary spec: can't use the same cookie name for both primary and cookie name; please update them to be different";
    const failure = { reason: "InvalidSpec", message };
    expect(await world.run({ isRequested: true })).toEqual({ outcome: "stalled", failure, dueInMs: undefined });
    expect([...world.writes, ...world.said]).toEqual([]);
  });

  test.each([
    [{ metrics: [{ name: "m", templateRef: { name: "t", namespace: "other" } }] }, "metric template t.other"],
    [{ alerts: [{ name: "a", providerRef: { name: "p", namespace: "other" } }] }, "alert provider p.other"],
  ])("refuses a reference to another namespace if the installation forbids them", async (analysis, what) => {
    const spec = { analysis: { interval: "10s", stepWeight: 10, ...analysis } };
    const blocked = canaryWorld(spec, { noCrossNamespaceRefs: true });
    const message = `invalid canary spec: can't access ${what}, cross-namespace references are blocked`;
    expect(await blocked.run()).toMatchObject({ outcome: "stalled", failure: { message } });
    const free = canaryWorld(spec);
    await free.run();
    expect(free.status().phase).toBe("Initializing");
  });

  test("an invalid spec is reported in one Warning that names the field", async () => {
    const world = canaryWorld({ analysis: { interval: "soon", stepWeight: 10 } });
    await world.run();
    expect(world.said).toEqual([
      "Warning: Canary/apps/podinfo is invalid: spec.analysis.interval: must be a duration such as 30s or 5m; correct the object, for example with kubectl edit; kubectl explain Canary.spec describes each field",
    ]);
  });
});

describe("a status of a Canary that another program or a user has written", () => {
  const promoted = { type: "Promoted", status: "Unknown", lastTransitionTime: "2026-11-22T12:00:00Z" };

  test("without conditions goes on with the run and gets its conditions back; unknown fields are kept", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.change({ status: { conditions: null, pausedAt: "noon" } });
    await world.tick();
    expect(world.now()).toBe("Progressing w50 50/50");
    expect(world.live()).toMatchObject({ status: { pausedAt: "noon", conditions: [{ reason: "Progressing" }] } });
  });

  test.each([
    { what: "a condition without a message", status: { conditions: [{ ...promoted, reason: "Progressing" }] } },
    { what: "a counter that is no whole number", status: { iterations: 1.5 } },
  ])("keeps its other fields with $what: the run goes on, and one event says so", async ({ status }) => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.change({ status });
    world.news();
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("Promoting w50 50/50");
    const told = world.said.filter((text) => text.includes("cannot be read"));
    expect(told.map((text) => /status\.(\w+)/.exec(text)?.[1])).toEqual(Object.keys(status));
  });

  test("may have empty fields as Go writes them", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.change({ status: { trackedConfigs: null } });
    world.news();
    await world.tick();
    expect(world.now()).toBe("Progressing w50 50/50");
    expect(world.said.filter((text) => text.includes("cannot be read"))).toEqual([]);
  });

  test("with an unknown phase stops the Canary, which goes on once the phase is corrected", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.change({ status: { phase: "Paused" } });
    world.news();
    const { dueInMs, outcome } = await world.tick();
    expect([outcome, dueInMs, world.writes, world.state.routes?.canary]).toEqual(["stalled", undefined, [], 25]);
    expect(world.said).toEqual([expect.stringMatching(/^Warning: Canary\/apps\/podinfo: .*status\.phase: .*one of/)]);
    world.change({ status: { phase: "Progressing" } });
    await world.tick();
    expect(world.now()).toBe("Progressing w50 50/50");
  });

  test("with an empty phase, as Flagger writes a new one, counts as a new Canary", async () => {
    const world = canaryWorld();
    world.change({ status: { phase: "", canaryWeight: 0 } });
    await world.run();
    expect(world.now()).toBe("Initializing");
    expect(world.news().filter((text) => text.includes("cannot be read"))).toEqual([]);
  });
});

describe("a Canary whose writes the API server refuses", () => {
  const why = 'Canary.flagger.app "podinfo" is invalid: spec.service.port: Invalid value: 0: must be above 0';
  const invalid = new ApiError({ code: 422, reason: "Invalid", message: why });

  test("reports once which field is refused, and goes on when the Canary has changed", async () => {
    const world = canaryWorld();
    world.state.writeFault = invalid;
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "failed", dueInMs: 60_000 });
    expect(world.news()).toEqual([
      expect.stringMatching(/^Warning: Canary\/apps\/podinfo: .*spec\.service\.port: .*correct/),
    ]);
    expect(await world.tick(60_000)).toMatchObject({ outcome: "failed", isQuiet: true });
    expect(world.news()).toEqual([]);
    world.state.writeFault = undefined;
    await world.run({ isRequested: true });
    expect(world.status().phase).toBe("Initializing");
    await world.tick();
    expect(world.status().phase).toBe("Initialized");
  });

  test.each([404, 415])(
    "names no field for an answer with the status %i, which names none, and the queue retries",
    async (code) => {
      const world = canaryWorld();
      world.state.writeFault = new ApiError({ code, reason: "", message: 'canaries.flagger.app "podinfo" is refused' });
      await expect(world.run({ isRequested: true })).rejects.toBe(world.state.writeFault);
      expect(world.said).toEqual([]);
    },
  );

  test("shortens a long message, so that the carried state stays within its limit", async () => {
    const world = canaryWorld();
    world.state.writeFault = new ApiError({ code: 422, reason: "Invalid", message: why.repeat(500) });
    await world.run({ isRequested: true });
    expect(JSON.stringify(world.state.carried).length).toBeLessThan(4096);
    expect(await world.tick(60_000)).toMatchObject({ isQuiet: true });
  });

  test("during a run keeps its routes intact, and the run goes on from there", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.state.writeFault = invalid;
    for (let ticks = 0; ticks < 3; ticks++) {
      expect(await world.tick()).toMatchObject({ outcome: "failed", dueInMs: 10_000 });
      expect(world.now()).toBe("Progressing w25 50/50");
    }
    world.state.writeFault = undefined;
    for (let ticks = 0; ticks < 4; ticks++) await world.tick();
    expect([world.now(), world.harm]).toEqual(["Succeeded 100/0", []]);
  });
});
