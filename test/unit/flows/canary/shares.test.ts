import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { canaryWorld, Killed } from "./canary-world.ts";

type World = ReturnType<typeof canaryWorld>;
const to = (canary: number) => ({ primary: 100 - canary, canary, isMirrored: false });
const gate = { name: "gate", type: "confirm-promotion", url: "http://gate.test" };
const put = (from: number, back: number) =>
  `Warning: podinfo.apps has canary weight ${from} in its route, putting it back to ${back}`;

/** A run by weights with 25 % on the canary. */
async function at25(analysis: JsonObject = {}): Promise<World> {
  const world = canaryWorld({ analysis: { interval: "10s", stepWeight: 25, maxWeight: 75, ...analysis } });
  await world.begun();
  await world.tick();
  expect(world.now()).toBe("Progressing w25 75/25");
  world.news();
  return world;
}

describe("a route whose weights another client changes during a run", () => {
  test.each([90, 0])("is set back from %i, announced, and the run continues from its own weight", async (given) => {
    const world = await at25();
    world.state.routes = to(given);
    await world.tick();
    expect(world.writes).toEqual(["routes 75/25", "routes 50/50", "status"]);
    expect(world.said[0]).toBe(put(given, 25));
    expect(world.now()).toBe("Progressing w50 50/50");
    expect(world.harm).toEqual([]);
  });

  test("loses foreign weight before the run waits for the canary, and regains lost weight only once the canary serves", async () => {
    const world = await at25();
    // Its pods are being replaced.
    world.state.isLost = false;
    world.state.routes = to(90);
    world.state.target.isReady = false;
    world.clock.pass(10_000);
    await world.run();
    expect(world.now()).toBe("Progressing w25 75/25");
    world.state.routes = to(0);
    world.clock.pass(10_000);
    await world.run();
    expect(world.now()).toBe("Progressing w25 100/0");
    await world.tick();
    expect(world.now()).toBe("Progressing w50 50/50");
    expect(world.harm).toEqual([]);
  });

  test("to the weight of the next step keeps that weight only if the checks pass", async () => {
    const world = await at25({ threshold: 3 });
    world.state.routes = to(50);
    world.state.checks = [{ isPassed: false, text: "no" }];
    await world.tick();
    expect(world.now()).toBe("Progressing w25 f1 75/25");
    world.state.routes = to(50);
    await world.tick();
    expect(world.now()).toBe("Progressing w50 f1 50/50");
  });

  test("is not restored for a canary that is rolled back", async () => {
    const world = await at25({ threshold: 1 });
    world.state.checks = [{ isPassed: false, text: "no" }];
    await world.tick();
    world.state.routes = to(0);
    world.news();
    await world.tick();
    expect(world.now()).toBe("Failed 100/0");
    expect(world.writes).toEqual(["scale to zero", "status"]);
  });

  test("keeps the last weight of the analysis while a promotion waits", async () => {
    const world = await at25({ maxWeight: 40, webhooks: [gate] });
    world.state.refusals.set("gate", "closed");
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("WaitingPromotion i-1 50/50");
    world.state.routes = to(10);
    await world.tick();
    expect(world.now()).toBe("WaitingPromotion i-1 50/50");
    world.state.refusals.clear();
    await world.tick();
    expect(world.now()).toBe("Promoting i-1 50/50");
  });

  test("gets a last weight that the spec has raised, while a promotion waits, only if the checks pass", async () => {
    const world = await at25({ maxWeight: 40, threshold: 5, webhooks: [gate] });
    world.state.refusals.set("gate", "closed");
    await world.tick();
    await world.tick();
    expect(world.now()).toBe("WaitingPromotion i-1 50/50");
    world.change({ spec: { analysis: { maxWeight: 100 } } });
    world.state.checks = [{ isPassed: false, text: "no" }];
    await world.tick();
    expect(world.state.routes).toEqual(to(50));
  });

  test("continues from its own weight in a promotion by steps", async () => {
    const world = await at25({ maxWeight: 75, stepWeightPromotion: 25 });
    for (let ticks = 0; ticks < 4; ticks++) await world.tick();
    expect(world.now()).toBe("Promoting w50 50/50");
    world.state.routes = to(100);
    await world.tick();
    expect(world.now()).toBe("Promoting w25 75/25");
  });

  test.each([
    ["A/B", { match: [{ headers: { x: { exact: "y" } } }] }, 100],
    ["blue/green", {}, 0],
  ])("%s: has all requests or none on the canary", async (_, analysis, own) => {
    const world = canaryWorld({ analysis: { interval: "10s", iterations: 3, threshold: 3, ...analysis } });
    await world.begun();
    await world.tick();
    world.state.routes = to(40);
    world.state.checks = [{ isPassed: false, text: "no" }];
    await world.tick();
    expect(world.state.routes).toEqual(to(own));
    expect(world.harm).toEqual([]);
  });
});

test("after a killed step repeats it: a failed check takes the step's weight back", async () => {
  const world = await at25({ threshold: 3 });
  world.state.writesLeft = 1;
  await expect(world.tick()).rejects.toThrow(Killed);
  expect(world.now()).toBe("Progressing w25 50/50");
  world.state.writesLeft = Number.POSITIVE_INFINITY;
  world.state.isRetry = true;
  world.state.checks = [{ isPassed: false, text: "no" }];
  await world.tick(1_000);
  expect(world.now()).toBe("Progressing w25 f1 75/25");
});

test("a route sends no requests to the canary between two runs", async () => {
  const world = canaryWorld();
  await world.initialised();
  world.state.routes = to(50);
  world.clock.pass(10_000);
  await world.run({ isRequested: true });
  expect(world.now()).toBe("Initialized 100/0");
});
