import { describe, expect, test } from "vitest";
import { maxHookMs, noHookTime } from "../../../../lib/canary/hooks/hook-timeout.ts";
import { hooksOf } from "../../../../lib/canary/hooks/webhooks.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { HttpError } from "../../../../lib/core/ports/http.ts";
import { canaryWorld } from "./canary-world.ts";

const no = { isPassed: false, text: "Halt podinfo.apps advancement success rate 50.00% < 99%" } as const;

function hook(type: string, name = "gate", more: JsonObject = {}): JsonObject {
  return { name, type, url: "http://hook.test", ...more };
}

function analysis(...webhooks: readonly JsonObject[]): JsonObject {
  return { analysis: { interval: "10s", threshold: 2, stepWeight: 50, webhooks: [...webhooks] } };
}

/** What is said in one step, without what every release says. */
async function told(world: ReturnType<typeof canaryWorld>): Promise<readonly string[]> {
  await world.tick();
  return world.news();
}

describe("failed checks of a Canary", () => {
  test("canary/43, 44, 57: at the threshold roll back one step later, and the primary stays as it is", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    world.news();
    world.state.checks = [no, no];
    expect(await told(world)).toEqual(["metrics", `Warning: ${no.text}`]);
    expect(world.now()).toBe("Progressing w25 f1 75/25");
    await world.tick();
    expect(world.now()).toBe("Progressing w25 f2 75/25");
    world.news();
    const { dueInMs } = await world.tick();
    expect(world.now()).toBe("Failed 100/0");
    expect(world.said).toEqual([
      "Warning: Rolling back podinfo.apps failed checks threshold reached 2",
      "alert error: Failed checks threshold reached 2",
      "Warning: Canary failed! Scaling down podinfo.apps",
    ]);
    expect(world.writes).toEqual(["routes 100/0", "scale to zero", "status"]);
    expect(world.status().conditions).toMatchObject([
      { status: "False", reason: "Failed", message: "Canary analysis failed, Deployment scaled to zero." },
    ]);
    expect(world.state.primary?.template).toBe("one");
    expect(dueInMs).toBeUndefined();
  });

  test("of a metric that flaps add up to the threshold: a passed check does not clear the failed ones", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    for (const expected of ["Progressing w25 f1 75/25", "Progressing w50 f1 50/50", "Progressing w50 f2 50/50"]) {
      world.state.checks = expected.includes("w50 f1") ? [] : [no];
      await world.tick();
      expect(world.now()).toBe(expected);
    }
    await world.tick();
    expect(world.now()).toBe("Failed 100/0");
  });

  test("canary/45: a failing rollout hook is a failed check and ends the step", async () => {
    const world = canaryWorld(analysis(hook("rollout", "load"), hook("", "untyped")));
    await world.begun();
    await world.tick();
    world.news();
    world.state.refusals.set("load", "no traffic");
    expect(await told(world)).toEqual([
      "hook load Progressing",
      "Warning: Halt podinfo.apps advancement external check load failed no traffic",
    ]);
    expect(world.now()).toBe("Progressing w50 f1 50/50");
    world.state.refusals.clear();
    expect((await told(world)).slice(0, 3)).toEqual(["hook load Progressing", "hook untyped Progressing", "metrics"]);
  });

  test("canary/50: pre-rollout hooks run once before traffic is shifted, and again while they fail", async () => {
    const world = canaryWorld(analysis(hook("pre-rollout", "pre")));
    await world.begun();
    world.state.refusals.set("pre", "not yet");
    const starting = "Normal: Starting canary analysis for podinfo.apps";
    expect(await told(world)).toEqual([
      starting,
      "hook pre Progressing",
      "Warning: Halt podinfo.apps advancement pre-rollout check pre failed not yet",
    ]);
    world.state.refusals.clear();
    expect(await told(world)).toEqual([
      starting,
      "hook pre Progressing",
      "Normal: Pre-rollout check pre passed",
      "Normal: Advance podinfo.apps canary weight 50",
    ]);
    expect(await told(world)).not.toContain("hook pre Progressing");
  });
});

describe("gates of a Canary", () => {
  test("canary/51, 55: a closed confirm-rollout holds the run with the target at zero, and sends one event; muteAlert mutes the alert", async () => {
    for (const muteAlert of [false, true]) {
      const world = canaryWorld(analysis(hook("confirm-rollout", "gate", { muteAlert })));
      await world.initialised();
      world.state.refusals.set("gate", "closed");
      world.state.target.template = "two";
      await world.run({ isRequested: true });
      expect(world.news()).toEqual([
        "hook gate Initialized",
        "Warning: Halt podinfo.apps advancement waiting for approval gate",
        ...(muteAlert ? [] : ["alert warn: Canary is waiting for approval."]),
      ]);
      expect(world.now()).toBe("Waiting 100/0");
      expect(world.state.target.replicas).toBe(0);
      expect(await told(world)).toEqual(["hook gate Waiting"]);
      world.state.refusals.clear();
      expect((await told(world)).slice(0, 2)).toEqual([
        "hook gate Waiting",
        "Normal: Confirm-rollout check gate passed",
      ]);
      expect(world.now()).toBe("Progressing 100/0");
    }
  });

  test("canary/52: a closed confirm-promotion waits, while checks go on and may fail the run", async () => {
    const world = canaryWorld(analysis(hook("confirm-promotion")));
    await world.begun();
    world.state.refusals.set("gate", "closed");
    await world.tick();
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("WaitingPromotion i-1 0/100");
    expect(world.said.filter((text) => text.includes("promotion"))).toEqual([
      "Warning: Halt podinfo.apps advancement waiting for promotion approval gate",
      "alert warn: Canary promotion is waiting for approval.",
    ]);
    world.news();
    expect(await told(world)).toEqual(["metrics", "hook gate Progressing"]);
    world.state.checks = [no, no];
    await world.tick();
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("Failed 100/0");
  });

  test("an open confirm-promotion promotes from WaitingPromotion, whose weight is reported as 0", async () => {
    const world = canaryWorld(analysis(hook("confirm-promotion")));
    await world.begun();
    world.state.refusals.set("gate", "closed");
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    world.state.refusals.clear();
    await world.tick();
    expect(world.now()).toBe("Promoting i-1 0/100");
  });

  test("canary/53: a closed confirm-traffic-increase keeps the weight, counts no failure and sends an event in every step", async () => {
    const world = canaryWorld(analysis(hook("confirm-traffic-increase")));
    await world.begun();
    await world.tick();
    world.state.refusals.set("gate", "closed");
    world.news();
    for (let ticks = 0; ticks < 2; ticks++) {
      expect(await told(world)).toEqual([
        "metrics",
        "hook gate Progressing",
        "Warning: Halt podinfo.apps advancement waiting for traffic increase approval gate",
        "alert warn: Canary traffic increase is waiting for approval.",
      ]);
      expect(world.now()).toBe("Progressing w50 50/50");
    }
  });

  test("canary/54: an open rollback hook rolls back manually", async () => {
    const world = canaryWorld(analysis(hook("rollback", "back")));
    await world.begun();
    world.state.refusals.set("back", "closed");
    expect(await told(world)).toContain("Normal: Rollback hook back not signaling a rollback");
    world.state.refusals.clear();
    expect(await told(world)).toEqual([
      "hook back Progressing",
      "Warning: Rollback check back passed",
      "Warning: Rolling back podinfo.apps manual webhook invoked",
      "alert warn: Rolling back manual webhook invoked",
      "Warning: Canary failed! Scaling down podinfo.apps",
    ]);
    expect(world.now()).toBe("Failed 100/0");
  });

  test("canary/58: post-rollout hooks get success or failure, and the first that fails stops the rest", async () => {
    const world = canaryWorld(analysis(hook("post-rollout", "first"), hook("post-rollout", "second")));
    await world.begun();
    for (let ticks = 0; ticks < 4; ticks++) await world.tick();
    world.news();
    expect(await told(world)).toEqual([
      "hook first Succeeded",
      "Normal: Post-rollout check first passed",
      "hook second Succeeded",
      "Normal: Post-rollout check second passed",
      "Normal: Promotion completed! Scaling down podinfo.apps",
      "alert info: Canary analysis completed successfully, promotion finished.",
    ]);
    world.state.target.template = "three";
    await world.run({ isRequested: true });
    await world.tick();
    world.state.checks = [no, no];
    await world.tick();
    await world.tick();
    world.state.refusals.set("first", "nothing to clean");
    world.news();
    expect((await told(world)).slice(-2)).toEqual([
      "hook first Failed",
      "Warning: Post-rollout hook first failed nothing to clean",
    ]);
    expect(world.now()).toBe("Failed 100/0");
  });
});

describe("annotations that promote or roll back by hand", () => {
  const gates = analysis(hook("confirm-rollout"), hook("confirm-promotion"));

  test("the annotation of a promotion opens the gates of the run that it names, and of no other", async () => {
    const world = canaryWorld(gates);
    await world.begun();
    world.state.refusals.set("gate", "closed");
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    world.change({ metadata: { annotations: { "sluice.dev/promote": "another" } } });
    await world.tick();
    expect(world.now()).toBe("WaitingPromotion i-1 0/100");
    world.change({ metadata: { annotations: { "sluice.dev/promote": "two" } } });
    world.news();
    await world.tick();
    expect(world.said).toContain("Normal: Confirm-promotion check sluice.dev/promote passed");
    expect(world.said).not.toContain("hook gate Progressing");
    expect(world.now()).toBe("Promoting i-1 0/100");
  });

  test("an annotation with a time opens the gates of the current run once, and not those of the next run", async () => {
    const world = canaryWorld(gates);
    await world.initialised();
    world.state.refusals.set("gate", "closed");
    world.state.target.template = "two";
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Waiting 100/0");
    const at = new Date(world.clock.now()).toISOString();
    world.change({ metadata: { annotations: { "sluice.dev/promote": at } } });
    for (let ticks = 0; ticks < 6; ticks++) await world.tick();
    expect(world.now()).toBe("Succeeded 100/0");
    world.state.target.template = "three";
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Waiting 100/0");
  });

  test("a promotion that names a gate opens no later gate of the run", async () => {
    const world = canaryWorld(gates);
    await world.initialised();
    world.state.refusals.set("gate", "closed");
    world.state.target.template = "two";
    await world.run({ isRequested: true });
    const at = new Date(world.clock.now()).toISOString();
    world.change({ metadata: { annotations: { "sluice.dev/promote": `${at} confirm-rollout` } } });
    for (let ticks = 0; ticks < 4; ticks++) await world.tick();
    expect(world.now()).toBe("WaitingPromotion i-1 0/100");
    world.change({ metadata: { annotations: { "sluice.dev/promote": `${at} confirm-promotion` } } });
    await world.tick();
    expect(world.now()).toBe("Promoting i-1 0/100");
  });

  test("a promotion that names a weight allows one increase", async () => {
    const world = canaryWorld(analysis(hook("confirm-traffic-increase")));
    await world.begun();
    world.state.refusals.set("gate", "closed");
    await world.tick();
    expect(world.now()).toBe("Progressing 100/0");
    const at = new Date(world.clock.now()).toISOString();
    world.change({ metadata: { annotations: { "sluice.dev/promote": `${at} confirm-traffic-increase 0` } } });
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("Progressing w50 50/50");
  });

  test("an annotation that is too long for a revision or a time is ignored, and the work item does not store it", async () => {
    const world = canaryWorld();
    const template = "two".repeat(100);
    await world.begun(template);
    world.change({ metadata: { annotations: { "sluice.dev/rollback": template } } });
    await world.tick();
    expect(world.now()).toBe("Progressing w25 75/25");
    world.change({ metadata: { annotations: { "sluice.dev/promote": "x".repeat(100_000) } } });
    for (let ticks = 0; ticks < 4; ticks++) await world.tick();
    expect(world.now()).toBe("Succeeded 100/0");
    expect(JSON.stringify(world.state.carried).length).toBeLessThan(1_000);
  });

  test("the annotation of a rollback ends the run at once, even if the canary does not serve, and does not end the next run", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    // Users ask for it above all then.
    world.state.target.isReady = false;
    world.change({ metadata: { annotations: { "sluice.dev/rollback": "two" } } });
    world.news();
    world.clock.pass(2_000);
    await world.run({ isRequested: true });
    expect(world.now()).toBe("Failed 100/0");
    expect(world.said.slice(0, 2)).toEqual([
      "Warning: Rollback check sluice.dev/rollback passed",
      "Warning: Rolling back podinfo.apps manual webhook invoked",
    ]);
    world.state.target.template = "three";
    await world.run({ isRequested: true });
    await world.tick();
    expect(world.now()).toBe("Progressing w25 75/25");
  });
});

describe("webhooks that hang in one step", () => {
  /** Calls hooks at a server that answers none of them in time. */
  function hanging(...webhooks: readonly JsonObject[]) {
    const world = canaryWorld(analysis(...webhooks));
    const asked: number[] = [];
    world.replaced.hooks = (canary, deps) =>
      hooksOf(canary, {
        ...deps,
        sleep: async (ms) => world.clock.pass(ms),
        http: {
          async send({ method, url, timeoutMs }) {
            asked.push(timeoutMs);
            world.clock.pass(timeoutMs);
            throw new HttpError("timeout", `${method} ${url}: no answer within ${timeoutMs} ms`);
          },
        },
      });
    return { world, asked };
  }

  test("share ten minutes; then the step ends, the rest fail without a call, and the next step calls them", async () => {
    const { world, asked } = hanging(
      hook("rollback", "slow", { timeout: "8m" }),
      hook("rollback", "slower", { timeout: "8m" }),
      hook("rollout", "load"),
    );
    await world.begun();
    await world.tick();
    world.news();
    asked.splice(0);
    const result = await world.tick();
    expect(asked).toEqual([480_000, maxHookMs - 480_000]);
    expect(world.said.at(-1)).toBe(`Warning: Halt podinfo.apps advancement external check load failed ${noHookTime}`);
    expect(world.now()).toBe("Progressing w50 f1 50/50");
    expect(result).toMatchObject({ outcome: "progressing", dueInMs: 0 });
    asked.splice(0);
    await world.tick();
    expect([asked.length, world.now()]).toEqual([2, "Progressing w50 f2 50/50"]);
  });

  test("close the gates after them, with a message that says why", async () => {
    const { world } = hanging(hook("rollback", "slow", { timeout: "15m" }), hook("confirm-traffic-increase"));
    await world.begun();
    expect((await told(world)).slice(-3)).toEqual([
      `Warning: webhook gate of podinfo.apps: ${noHookTime}`,
      "Warning: Halt podinfo.apps advancement waiting for traffic increase approval gate",
      "alert warn: Canary traffic increase is waiting for approval.",
    ]);
    expect(world.now()).toBe("Progressing 100/0");
  });
});
