import { describe, expect, test } from "vitest";
import { canaryWorld } from "./canary-world.ts";

const deletion = { metadata: { deletionTimestamp: "2026-11-22T12:00:00Z" } };
const ours = "finalizer.flagger.app";

describe("the deletion of a Canary", () => {
  test("canary/64: without revertOnDeletion writes nothing and leaves target and routes as they are", async () => {
    const world = canaryWorld();
    await world.initialised();
    world.change({ metadata: { ...deletion.metadata, finalizers: ["other"] } });
    expect(await world.run({ isRequested: true })).toEqual({ outcome: "deleted", dueInMs: undefined });
    expect([...world.writes, ...world.said]).toEqual([]);
    expect(world.state.target.replicas).toBe(0);
    expect(world.subscribed.at(-1)).toEqual([]);
  });

  test("canary/65: with revertOnDeletion the target serves again before the finalizer is removed", async () => {
    const world = canaryWorld({ revertOnDeletion: true });
    await world.run();
    expect(world.live()?.metadata.finalizers).toEqual([ours]);
    await world.tick();
    world.news();
    world.change(deletion);
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "deleting", dueInMs: 3_000 });
    expect(world.status().phase).toBe("Terminating");
    expect(world.writes).toEqual(["status", "scale back"]);
    expect(world.said).toEqual(["Normal: Terminating canary podinfo.apps"]);
    world.news();
    expect(await world.tick(3_000)).toEqual({ outcome: "deleted", dueInMs: undefined });
    expect(world.writes).toEqual(["apex given back", "route given back", "canary"]);
    expect(world.said).toEqual(["Normal: Terminated canary podinfo.apps"]);
    expect(world.live()).toBeUndefined();
    expect(world.state.target.replicas).toBe(2);
  });

  test("a target that does not become ready is checked less and less often, but at least once per interval", async () => {
    const world = canaryWorld({ revertOnDeletion: true });
    await world.initialised();
    world.change(deletion);
    const waits: (number | undefined)[] = [];
    for (let runs = 0; runs < 4; runs++) waits.push((await world.run({ isRequested: runs === 0 })).dueInMs);
    expect(waits).toEqual([3_000, 6_000, 10_000, 10_000]);
  });

  test("an obstacle to the deletion is reported in a Warning, and retried after the interval", async () => {
    const world = canaryWorld({ revertOnDeletion: true });
    await world.initialised();
    world.change(deletion);
    await world.run({ isRequested: true });
    world.news();
    world.state.fault = 'service podinfo.apps get query error: services "podinfo" not found';
    const failure = { reason: "ReconciliationFailed", message: world.state.fault };
    expect(await world.tick()).toEqual({ outcome: "failed", failure, dueInMs: 10_000 });
    expect(world.said).toEqual([`Warning: ${world.state.fault}`]);
    world.state.fault = undefined;
    expect(await world.tick()).toEqual({ outcome: "deleted", dueInMs: undefined });
    expect(world.live()).toBeUndefined();
  });

  test("setting revertOnDeletion to false removes the finalizer", async () => {
    const world = canaryWorld({ revertOnDeletion: true });
    await world.initialised();
    world.change({ spec: { revertOnDeletion: false } });
    await world.run({ isRequested: true });
    expect(world.live()?.metadata.finalizers).toEqual([]);
  });

  test("a Canary whose target is missing can be deleted at once", async () => {
    const world = canaryWorld({ revertOnDeletion: true });
    await world.initialised();
    world.state.isTargetThere = false;
    world.change(deletion);
    await world.run({ isRequested: true });
    expect(world.live()).toBeUndefined();
  });
});
