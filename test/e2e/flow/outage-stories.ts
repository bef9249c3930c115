import { describe, expect, test } from "vitest";
import { kustomizeGroup, requestedAtAnnotation } from "../../../lib/api/names.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const unavailable = new ApiError({ code: 503, reason: "ServiceUnavailable", message: "the server is overloaded" });
const unreachable = new ApiError({ code: 0, reason: "Unreachable", message: "no answer within 10s" });

/** From now on this call fails, as long as the story says so. */
function fail(world: World, call: string, error: Error): void {
  world.fault = (made) => {
    if (made === call) throw error;
  };
}

function request(world: World, value: string | null): Promise<void> {
  const body = { metadata: { annotations: { [requestedAtAnnotation]: value } } };
  return world.patch("app", body, { manager: "flux" });
}

/** What a Kustomization says while something that it needs does not answer. */
export function outageStories(name: string, newWorld: () => Promise<World>): void {
  describe(`an outage that affects a Kustomization on ${name}`, () => {
    const applied = async () => {
      const world = await newWorld();
      const revision = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      return { world, ready: `True ReconciliationSucceeded: Applied revision: ${revision}` };
    };
    const warnings = async (world: World) => (await world.events("app")).filter((text) => text.startsWith("Warning"));

    test.each([
      {
        what: "an API server that answers 503 to its lists",
        call: "cluster.listMetadata",
        error: unavailable,
        said: "ReconciliationFailed: the server is overloaded",
      },
      {
        what: "a store of artifacts that does not answer",
        call: "artifacts.get",
        error: new Error("connect ECONNREFUSED 127.0.0.1:9000"),
        said: "ArtifactFailed: failed to download archive: connect ECONNREFUSED 127.0.0.1:9000",
      },
      {
        what: "a state table that does not answer",
        call: "inventories.load",
        error: new Error("dynamodb:BatchGetItem on table sluice: AWS throttles it"),
        said: "ReconciliationFailed: Sluice's own state is out of reach: dynamodb:BatchGetItem on table sluice: AWS throttles it",
      },
    ])("$what: the object reports it with one event, and recovers by itself", async ({ call, error, said }) => {
      const { world, ready } = await applied();
      fail(world, call, error);
      await world.outlast("app", 10_000);
      expect(await world.ready("app")).toBe(ready);
      await world.outlast("app", 35_000);
      expect(await world.ready("app")).toBe(`False ${said}`);
      expect(await world.status("app")).toMatchObject({
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: "Reconciling", status: "True", reason: "ProgressingWithRetry" }),
        ]),
      });
      await world.outlast("app", 7_200_000);
      expect(await warnings(world)).toEqual([`Warning ${said}`]);

      world.fault = () => {};
      expect(await world.outlast("app", 1)).toMatchObject({ outcome: "applied" });
      expect(await world.ready("app")).toBe(ready);
      const { conditions } = await world.status("app");
      expect(conditions).toHaveLength(1);
    });

    test.each(["subscriptions.subscribe", "inventories.save", "ledger.claim"])(
      "a state store whose %s fails parks nothing, and requests are handled when it is back",
      async (call) => {
        const { world } = await applied();
        const revision = await world.publish("v2", [configMap("a"), configMap("b")]);
        fail(world, call, new Error("AWS throttles it"));
        expect(await world.outlast("app", 86_400_000)).toMatchObject({ outcome: "unreachable", dueInMs: 900_000 });
        expect(await world.get("ConfigMap", "b")).toBeUndefined();
        world.fault = () => {};
        expect(await world.outlast("app", 1)).toMatchObject({ outcome: "applied" });
        expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
        expect((await world.inventory("app")).map(({ state }) => state)).toEqual(["live", "live"]);
      },
    );

    test("a failing write of the history delays nothing", async () => {
      const { world, ready } = await applied();
      fail(world, "history.append", new Error("AWS throttles it"));
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      expect(await world.ready("app")).toBe(ready);
    });

    test("ends a request that is made meanwhile, with a separate event", async () => {
      const { world } = await applied();
      fail(world, "cluster.listMetadata", unavailable);
      await world.outlast("app", 60_000);
      await request(world, "now");
      await world.outlast("app", 1);
      expect(await world.status("app")).toMatchObject({ lastHandledReconcileAt: "now" });
      await world.outlast("app", 3_600_000);
      expect(await warnings(world)).toHaveLength(2);
    });

    test("is reported when the cluster can be written again, if the cluster itself was down", async () => {
      const { world, ready } = await applied();
      let isDown = true;
      world.fault = (call) => {
        if (isDown ? call.startsWith("cluster.") : call === "cluster.listMetadata") throw unreachable;
      };
      await world.outlast("app", 300_000);
      expect(await world.ready("app")).toBe(ready);
      isDown = false;
      await world.outlast("app", 1);
      expect(await world.ready("app")).toBe("False ReconciliationFailed: no answer within 10s");
      expect(await warnings(world)).toHaveLength(1);
    });

    test("is reported for an object that is being deleted, and the object is deleted in the end", async () => {
      const { world } = await applied();
      fail(world, "cluster.listMetadata", unavailable);
      await world.remove("app");
      await world.outlast("app", 60_000);
      expect(await world.ready("app")).toBe("False ReconciliationFailed: the server is overloaded");
      world.fault = () => {};
      await world.outlast("app", 1);
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect(await world.get("Kustomization", "app", `${kustomizeGroup}/v1`)).toBeUndefined();
    });

    test("is reported once, also if a request was handled before and its annotation was removed", async () => {
      const { world } = await applied();
      await request(world, "now");
      await world.run("app");
      await request(world, null);
      fail(world, "cluster.listMetadata", unavailable);
      await world.outlast("app", 3_600_000);
      expect(await warnings(world)).toHaveLength(1);
    });
  });
}
