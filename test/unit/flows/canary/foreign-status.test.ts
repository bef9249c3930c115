import { describe, expect, test } from "vitest";
import { kubernetesTime } from "../../../../lib/core/kubernetes-time.ts";
import { canaryWorld } from "./canary-world.ts";

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

describe("a status of a Canary that another program or a user has written", () => {
  const promoted = { type: "Promoted", status: "Unknown", lastTransitionTime: "2026-11-22T12:00:00Z" };

  test("without conditions continues the run and gets its conditions back; unknown fields are kept", async () => {
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
    { what: "a counter that is not an integer", status: { iterations: 1.5 } },
  ])("keeps its other fields with $what: the run continues, and one event says so", async ({ status }) => {
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

  test("with an unknown phase stops the Canary until the phase is corrected", async () => {
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
