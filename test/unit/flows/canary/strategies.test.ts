import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { canaryWorld } from "./canary-world.ts";

/** What each step leaves, and what it says of routes, iterations and copies. */
async function stepsOf(spec: JsonObject, ticks: number, closed = 0): Promise<readonly string[]> {
  const world = canaryWorld(spec);
  await world.begun();
  const steps: string[] = [];
  for (let tick = 0; tick < ticks; tick++) {
    if (closed > 0 && tick === closed) world.state.refusals.clear();
    await world.tick();
    const told = world.news().filter((text) => /Advance|Routing|Copying|mirroring|not supported|Setting/.test(text));
    steps.push([world.now(), ...told.map((text) => text.replace(/^\w+: /, ""))].join(" | "));
  }
  expect(world.harm).toEqual([]);
  return steps;
}

const iterations = (more: JsonObject = {}): JsonObject => ({
  analysis: { interval: "10s", threshold: 2, iterations: 2, ...more },
});
const header = { match: [{ headers: { "x-canary": { exact: "always" } } }] };

describe("the strategies of a Canary", () => {
  test("canary/33, 35: blue/green routes all traffic to the canary after its iterations, before the copy", async () => {
    expect(await stepsOf(iterations(), 6)).toEqual([
      "Progressing i1 100/0 | Advance podinfo.apps canary iteration 1/2",
      "Progressing i2 100/0 | Advance podinfo.apps canary iteration 2/2",
      "Progressing i3 0/100 | Routing all traffic to canary",
      "Promoting i3 0/100 | Copying podinfo.apps template spec to podinfo-primary.apps",
      "Finalising 100/0 | Routing all traffic to primary",
      "Succeeded 100/0",
    ]);
  });

  test("blue/green with a mirror copies requests to the canary, and stops when the canary gets all traffic", async () => {
    const steps = await stepsOf(iterations({ mirror: true }), 3);
    expect(steps.at(-1)).toBe("Progressing i3 0/100 | Stop traffic mirroring and route all traffic to canary");
  });

  test("canary/34: A/B routes the matching requests to the canary in each iteration", async () => {
    expect(await stepsOf(iterations(header), 5)).toEqual([
      "Progressing i1 0/100 | Advance podinfo.apps canary iteration 1/2",
      "Progressing i2 0/100 | Advance podinfo.apps canary iteration 2/2",
      "Promoting i2 0/100 | Copying podinfo.apps template spec to podinfo-primary.apps",
      "Finalising 100/0 | Routing all traffic to primary",
      "Succeeded 100/0",
    ]);
  });

  test("canary/31: provider kubernetes routes nothing", async () => {
    expect(await stepsOf({ provider: "kubernetes", ...iterations() }, 6)).toEqual([
      "Progressing i1 | Advance podinfo.apps canary iteration 1/2",
      "Progressing i2 | Advance podinfo.apps canary iteration 2/2",
      "Progressing i3",
      "Promoting i3 | Copying podinfo.apps template spec to podinfo-primary.apps",
      "Finalising",
      "Succeeded",
    ]);
  });

  test("canary/32: provider kubernetes without iterations runs ten, and warns in each step", async () => {
    const spec = { provider: "kubernetes", analysis: { interval: "10s", stepWeight: 100, match: header.match } };
    const steps = await stepsOf(spec, 13);
    expect(steps[0]).toBe(
      [
        "Progressing i1",
        "A/B testing is not supported when using the kubernetes provider",
        "Progressive traffic is not supported when using the kubernetes provider",
        "Setting canaryAnalysis.iterations: 10",
        "Advance podinfo.apps canary iteration 1/10",
      ].join(" | "),
    );
    expect(steps[9]).toMatch(/^Progressing i10 .*Advance podinfo\.apps canary iteration 10\/10$/);
    expect(steps[11]).toMatch(/^Promoting i11 /);
  });

  test("blue/green with a single iteration repeats it in each step while its promotion waits", async () => {
    const world = canaryWorld(
      iterations({ webhooks: [{ name: "gate", type: "confirm-promotion", url: "http://hook.test" }] }),
    );
    world.state.refusals.set("gate", "closed");
    await world.begun();
    const steps: string[] = [];
    for (let ticks = 0; ticks < 5; ticks++) {
      await world.tick();
      steps.push(world.now());
    }
    expect(steps).toEqual([
      "Progressing i1 100/0",
      "Progressing i2 100/0",
      "WaitingPromotion i1 100/0",
      "WaitingPromotion i2 100/0",
      "WaitingPromotion i1 100/0",
    ]);
  });

  test("weights with a mirror start with one step of copied requests before the first weight", async () => {
    const analysis = { interval: "10s", stepWeight: 50, mirror: true };
    const steps = await stepsOf({ provider: "istio", analysis }, 2);
    expect(steps).toEqual([
      "Progressing 100/0 | Advance podinfo.apps canary weight 0",
      "Progressing w50 50/50 | Advance podinfo.apps canary weight 50",
    ]);
  });
});
