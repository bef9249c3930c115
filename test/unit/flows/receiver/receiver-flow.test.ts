import { describe, expect, test } from "vitest";
import { configTopic } from "../../../../lib/core/topics.ts";
import { namespace, receiverWorld, token } from "../../receiver/receiver-world.ts";
import { never, path, ready, topicOfShop } from "./ready-receiver.ts";

describe("a Receiver", () => {
  test("1: gets a path made of token, name and namespace, and another path with another token", async () => {
    const world = await ready();
    expect(world.status()).toMatchObject({ webhookPath: path, observedGeneration: 1 });
    expect(await world.receivers.find(path, never)).toMatchObject([{ key: world.keyOf("shop-hook") }]);
    world.secret({ token: "another" });
    await world.run();
    expect(world.path()).not.toBe(path);
    expect(await world.receivers.find(path, never)).toEqual([]);
    expect(await world.receivers.find(world.path(), never)).toHaveLength(1);
  });

  test("that is ready has Flux's message, one event and the finalizer", async () => {
    const world = await ready();
    expect(world.get()?.metadata.finalizers).toEqual(["finalizers.fluxcd.io"]);
    expect(world.conditions()).toEqual(["Ready=True Succeeded"]);
    expect(world.messageOf("Ready")).toBe(`Receiver initialized for path: ${path}`);
    expect(world.told()).toEqual(["Normal Succeeded Reconciliation finished, next run in 10m0s"]);
  });

  test("runs at its interval, sends an event each time, and writes only changes", async () => {
    const world = await ready({ interval: "1h" });
    const writes = world.writes.length;
    world.state.isRequested = false;
    expect(await world.run()).toMatchObject({ dueInMs: 3_600_000, isQuiet: true });
    expect(world.writes.slice(writes)).toMatchObject([{ verb: "create", body: { kind: "Event" } }]);
  });

  test("that was woken without need writes nothing and sends nothing", async () => {
    const world = await ready();
    const writes = world.writes.length;
    expect(await world.run()).toMatchObject({ outcome: "initialized", isQuiet: true });
    expect(world.writes).toHaveLength(writes);
  });

  test("keeps finalizers of other controllers when it adds its own, and when it is deleted", async () => {
    const world = await ready();
    const finalizersOf = () => world.get()?.metadata.finalizers;
    const set = (finalizers: readonly string[]) => {
      const live = world.get();
      if (live === undefined) throw new Error("the Receiver is gone");
      world.objects.set("Receiver/retail/shop-hook", { ...live, metadata: { ...live.metadata, finalizers } });
    };
    set(["example.com/before", "example.com/finalizers.fluxcd.io"]);
    await world.run();
    expect(finalizersOf()).toEqual(["example.com/before", "example.com/finalizers.fluxcd.io", "finalizers.fluxcd.io"]);
    world.delete("Receiver", "shop-hook");
    await world.run();
    expect(finalizersOf()).toEqual(["example.com/before", "example.com/finalizers.fluxcd.io"]);
    await world.run();
    expect(finalizersOf()).toEqual(["example.com/before", "example.com/finalizers.fluxcd.io"]);
  });

  test("that keeps failing waits twice as long each time, up to 15 minutes, and starts again after a success", async () => {
    const world = receiverWorld();
    world.receiver({});
    const waits: unknown[] = [];
    for (let run = 0; run < 13; run++) waits.push((await world.run()).dueInMs);
    expect(waits).toEqual([...Array.from({ length: 11 }, (_, failures) => 750 * 2 ** failures), 900_000, 900_000]);
    world.secret({ token });
    await world.run();
    world.delete("Secret", "token");
    expect((await world.run()).dueInMs).toBe(750);
  });

  const ends = {
    ready: { spec: {}, conditions: ["Ready=True Succeeded"] },
    failed: {
      spec: { secretRef: { name: "missing" } },
      conditions: ["Ready=False TokenNotFound", "Reconciling=True ProgressingWithRetry"],
    },
    stalled: {
      spec: { secretRef: null },
      conditions: ["Ready=False ValidationFailed", "Stalled=True ValidationFailed"],
    },
  };
  const named = Object.entries(ends);
  const pairs = named.flatMap(([before, first]) =>
    named.map(([after, second]) => ({ before, after, runs: [first, second] })),
  );
  test.each(pairs)("that was $before and is $after has only the conditions of the latest result", async ({ runs }) => {
    const world = receiverWorld();
    world.secret({ token });
    for (const { spec, conditions } of runs) {
      world.receiver(spec);
      await world.run();
      expect(world.conditions().toSorted()).toEqual(conditions);
      expect(world.status().conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual(
        conditions.map(() => world.get()?.metadata.generation),
      );
    }
  });

  test("that is suspended still follows its Secret", async () => {
    const world = await ready({ suspend: true });
    const secret = configTopic({ cluster: "here", kind: "Secret", namespace, name: "token" });
    expect(await world.subscribers(secret)).toEqual(["shop-hook"]);
  });

  test.each([
    { end: "ready", spec: {} },
    { end: "suspended", spec: { suspend: true } },
    { end: "stalled", spec: { secretRef: null } },
    { end: "failed", spec: { secretRef: { name: "missing" } } },
  ])("that ends $end has handled every request made until then", async ({ spec }) => {
    const world = await ready();
    const request = async (at: string) => {
      world.receiver(spec);
      const live = world.get();
      if (live === undefined) throw new Error("the Receiver is gone");
      const annotations = { "reconcile.fluxcd.io/requestedAt": at };
      world.objects.set("Receiver/retail/shop-hook", { ...live, metadata: { ...live.metadata, annotations } });
      await world.run();
      return world.status().lastHandledReconcileAt;
    };
    expect([await request("noon"), await request("one"), await request("two")]).toEqual(["noon", "one", "two"]);
  });

  test("records the handled request in its status", async () => {
    const world = await ready();
    const live = world.get();
    if (live === undefined) throw new Error("the Receiver is gone");
    const annotations = { "reconcile.fluxcd.io/requestedAt": "noon" };
    world.objects.set("Receiver/retail/shop-hook", { ...live, metadata: { ...live.metadata, annotations } });
    await world.run();
    expect(world.status().lastHandledReconcileAt).toBe("noon");
    expect(world.told()).toHaveLength(2);
  });

  test("loses its index entry and subscriptions when it is deleted, also if the object is already gone", async () => {
    for (const isGone of [false, true]) {
      const world = await ready();
      if (isGone) world.objects.delete("Receiver/retail/shop-hook");
      else world.delete("Receiver", "shop-hook");
      expect(await world.run()).toEqual({ outcome: isGone ? "absent" : "deleted", dueInMs: undefined });
      expect(world.get()).toBeUndefined();
      // As in Flux its last run ends like any other.
      const finished = "Normal Succeeded Reconciliation finished, next run in 10m0s";
      expect(world.told()).toEqual(isGone ? [finished] : [finished, finished]);
      expect(await world.receivers.find(path, never)).toEqual([]);
      expect(await world.subscribers(topicOfShop)).toEqual([]);
    }
  });

  test("that is suspended keeps its conditions, records its generation and sends an event; its index entry says suspended", async () => {
    const world = await ready();
    world.receiver({ suspend: true });
    world.lists.length = 0;
    expect(await world.run()).toMatchObject({ outcome: "suspended", dueInMs: undefined });
    expect(world.lists).toEqual([]);
    const conditions = [expect.objectContaining({ type: "Ready", status: "True", observedGeneration: 1 })];
    expect(world.status()).toMatchObject({ observedGeneration: 2, webhookPath: path, conditions });
    expect(world.told()[1]).toBe("Normal Succeeded Reconciliation finished, next run in 10m0s");
    expect(await world.receivers.find(path, never)).toMatchObject([{ entry: { state: "suspended", resources: [] } }]);
    world.receiver({ suspend: false });
    await world.run();
    expect(await world.receivers.find(path, never)).toMatchObject([{ entry: { state: "ready" } }]);
  });

  test("that had failed and is suspended changes only Reconciling, and is deleted without an event", async () => {
    const world = receiverWorld();
    world.receiver({});
    await world.run();
    const told = [...world.told()];
    world.receiver({ suspend: true });
    await world.run();
    expect(world.status()).toMatchObject({
      observedGeneration: -1,
      conditions: [
        { type: "Reconciling", reason: "ProgressingWithRetry", observedGeneration: 2 },
        { type: "Ready", reason: "TokenNotFound", observedGeneration: 1 },
      ],
    });
    world.delete("Receiver", "shop-hook");
    await world.run();
    expect([world.get(), world.told()]).toEqual([undefined, told]);
  });

  test("that was never ready is suspended without an event", async () => {
    const world = receiverWorld();
    world.receiver({ suspend: true });
    await world.run();
    expect([world.told(), world.status()]).toEqual([[], { observedGeneration: -1 }]);
  });
});
