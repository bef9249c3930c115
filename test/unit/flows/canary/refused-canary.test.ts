import { describe, expect, test } from "vitest";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { canaryWorld } from "./canary-world.ts";

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

  test("the older of two with the same target continues", async () => {
    const world = canaryWorld();
    const live = world.live();
    if (live === undefined) throw new Error("there is a Canary");
    const metadata = { ...live.metadata, name: "a", uid: "canary-2", creationTimestamp: "2026-12-01T00:00:00Z" };
    world.state.others = [{ ...live, metadata }];
    await world.run();
    expect(world.status().phase).toBe("Initializing");
  });

  test("canary/41: equal cookie names fail the run, without status or event", async () => {
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
    expect(await blocked.run()).toMatchObject({ failure: { message } });
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

describe("a Canary whose writes the API server refuses", () => {
  const why = 'Canary.flagger.app "podinfo" is invalid: spec.service.port: Invalid value: 0: must be above 0';
  const invalid = new ApiError({ code: 422, reason: "Invalid", message: why });

  test("reports once which field is refused, and continues when the Canary has changed", async () => {
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

  test("during a run keeps its routes intact, and the run continues from there", async () => {
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
