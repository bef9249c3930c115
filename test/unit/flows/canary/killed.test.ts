import { describe, expect, test } from "vitest";
import type { CheckResult } from "../../../../lib/canary/metrics/checks.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { canaryWorld, Killed } from "./canary-world.ts";

type World = ReturnType<typeof canaryWorld>;

/**
 * Runs the Canary as its queue does, until nothing is due: after `writes` writes the process ends once, and another one goes on a second
 * later.
 */
async function toRest(world: World, writes: number, disturb?: (world: World) => void): Promise<void> {
  world.state.writesLeft = writes;
  let dueInMs: number | undefined = 0;
  for (let runs = 0; dueInMs !== undefined; runs++) {
    if (runs > 100) throw new Error(`the Canary does not come to rest: ${world.now()}`);
    world.clock.pass(dueInMs);
    world.settle();
    disturb?.(world);
    try {
      ({ dueInMs } = await world.run({ isRequested: runs === 0 }));
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      world.state.writesLeft = Number.POSITIVE_INFINITY;
      world.state.isRetry = true;
      dueInMs = 1_000;
    }
  }
}

interface Story {
  readonly name: string;
  readonly spec?: JsonObject;
  readonly checks?: readonly CheckResult[];
  /** Set once before the story. */
  readonly prepare?: (world: World) => void;
  /** What happens to the world before each run, by its state alone. */
  readonly disturb?: (world: World) => void;
  readonly end: string;
}

const no = { isPassed: false, text: "no" } as const;
const iterations = { interval: "10s", iterations: 2 };
const header = [{ headers: { "x-canary": { exact: "always" } } }];

const stories: readonly Story[] = [
  { name: "a release by weights", end: "Succeeded 100/0" },
  {
    name: "a release whose traffic moves back in steps",
    spec: { analysis: { interval: "10s", stepWeights: [10, 80], stepWeightPromotion: 50 } },
    end: "Succeeded 100/0",
  },
  { name: "blue/green", spec: { analysis: iterations }, end: "Succeeded 100/0" },
  { name: "mirrored blue/green", spec: { analysis: { ...iterations, mirror: true } }, end: "Succeeded 100/0" },
  { name: "A/B", spec: { analysis: { ...iterations, match: header } }, end: "Succeeded 100/0" },
  {
    name: "a release of provider kubernetes",
    spec: { provider: "kubernetes", analysis: iterations },
    end: "Succeeded",
  },
  { name: "a release without analysis", spec: { skipAnalysis: true }, end: "Succeeded 100/0" },
  {
    name: "a release with an autoscaler",
    spec: { autoscalerRef: { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name: "podinfo" } },
    end: "Succeeded 100/0",
  },
  { name: "a rollback", checks: [no, no, no, no], end: "Failed 100/0" },
  {
    name: "a rollback of a canary that does not come up",
    prepare: ({ state }) => void (state.target.isStuck = true),
    end: "Failed 100/0",
  },
  {
    name: "a release whose canary stops serving once",
    disturb: (world) => {
      const { canaryWeight = 0, failedChecks = 0 } = world.status();
      if (canaryWeight === 25 && failedChecks === 0) world.state.target.isReady = false;
    },
    end: "Succeeded f1 100/0",
  },
  {
    name: "a release whose primary is deleted once",
    disturb: (world) => {
      const { primary } = world.state;
      if (world.status().canaryWeight === 25 && primary?.replicas === 5) world.state.primary = undefined;
    },
    prepare: ({ state }) => {
      if (state.primary !== undefined) state.primary.replicas = 5;
    },
    end: "Succeeded 100/0",
  },
  {
    name: "a release whose primary is missing for good",
    prepare: ({ state }) => {
      state.primary = undefined;
      state.isPromotedKept = false;
    },
    end: "Initialized 100/0",
  },
];

async function play({ spec, checks = [], disturb, prepare }: Story, writes: number): Promise<World> {
  const world = canaryWorld(spec);
  await world.initialised();
  world.state.target.template = "two";
  world.state.checks = [...checks];
  prepare?.(world);
  await toRest(world, writes, disturb);
  return world;
}

/** What has to be the same however often the process has ended. */
function endOf(world: World) {
  const { primary, routes, target } = world.state;
  const { lastAppliedSpec, lastPromotedSpec } = world.status();
  return {
    now: world.now().replace(/ f\d+/, ""),
    primary: primary?.template,
    replicas: target.replicas,
    ...{ routes, lastAppliedSpec, lastPromotedSpec },
  };
}

describe("a Canary whose process is killed between two writes", () => {
  test.each(stories)(
    "$name: ends the same after any of its writes, and no traffic goes to pods that are not ready",
    async (story) => {
      const whole = await play(story, Number.POSITIVE_INFINITY);
      expect(whole.now()).toBe(story.end);
      const ends = endOf(whole);
      const total = whole.writes.length;
      expect(total).toBeGreaterThan(2);
      for (let writes = 0; writes < total; writes++) {
        const cut = await play(story, writes);
        expect({ writes, ...endOf(cut) }).toEqual({ writes, ...ends });
        expect({ writes, harm: cut.harm }).toEqual({ writes, harm: [] });
      }
    },
  );

  test("ends its initialisation the same after any of its writes", async () => {
    const story = async (writes: number): Promise<World> => {
      const world = canaryWorld();
      await toRest(world, writes);
      return world;
    };
    const whole = await story(Number.POSITIVE_INFINITY);
    expect(whole.now()).toBe("Initialized 100/0");
    for (let writes = 0; writes < whole.writes.length; writes++) {
      const cut = await story(writes);
      expect({ writes, ...endOf(cut) }).toEqual({ writes, ...endOf(whole) });
      expect({ writes, harm: cut.harm }).toEqual({ writes, harm: [] });
    }
  });

  test("raises the weight once per interval, also in the run after a killed one", async () => {
    const world = canaryWorld();
    await world.begun();
    world.state.writesLeft = 1;
    await expect(world.tick()).rejects.toThrow(Killed);
    expect(world.now()).toBe("Progressing 75/25");
    world.state.writesLeft = Number.POSITIVE_INFINITY;
    world.state.isRetry = true;
    const { dueInMs } = await world.tick(1_000);
    expect(world.now()).toBe("Progressing w25 75/25");
    expect(dueInMs).toBe(10_000);
  });

  test("continues a copy that was cut off as a promotion, whatever later checks say", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    await world.tick();
    world.state.writesLeft = 1;
    await expect(world.tick()).rejects.toThrow(Killed);
    world.state.writesLeft = Number.POSITIVE_INFINITY;
    world.state.isRetry = true;
    world.state.checks = [no, no, no, no];
    await world.tick(1_000);
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    expect(world.now()).toBe("Succeeded 100/0");
    expect(world.state.primary?.template).toBe("two");
  });

  test("continues a copy that was cut off as a promotion; if that fails, the traffic stays on the canary", async () => {
    const world = canaryWorld();
    await world.begun();
    await world.tick();
    await world.tick();
    world.state.writesLeft = 1;
    await expect(world.tick()).rejects.toThrow(Killed);
    world.state.writesLeft = Number.POSITIVE_INFINITY;
    world.state.isRetry = true;
    if (world.state.primary !== undefined) world.state.primary.isStuck = true;
    await world.tick(1_000);
    expect(world.now()).toBe("Failed w100 0/100");
    expect(world.harm).toEqual([]);
  });
});
