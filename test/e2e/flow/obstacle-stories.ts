import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { configMap, configMapRef } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const error = (code: number, reason: string, message: string) => new ApiError({ code, reason, message });

/** What an API server may answer in place of what is asked for. */
const faults = [
  { answer: "429", error: error(429, "TooManyRequests", "too many requests, please try again later") },
  { answer: "500", error: error(500, "InternalError", "etcdserver: request timed out") },
  { answer: "a dropped connection", error: error(0, "Unreachable", "socket hang up") },
];

/** Where a run asks it, by the call of the cluster and how often that was made before. */
const steps = [
  { step: "the load", call: "cluster.get", after: 0 },
  { step: "the list of the plan", call: "cluster.listMetadata", after: 0 },
  { step: "the dry run", call: "cluster.apply", after: 0 },
  { step: "the apply", call: "cluster.apply", after: 1 },
  { step: "the prune", call: "cluster.delete", after: 0 },
  { step: "the report", call: "cluster.patch", after: 1 },
];

/** The inventory is what exists, with its uids, and nothing else of ours exists. */
async function expectInventoryIsWhatExists(world: World, names: readonly string[]): Promise<void> {
  const { cluster, namespace, signal } = world;
  const labelSelector = "kustomize.toolkit.fluxcd.io/name=app";
  const live = await cluster.list({ group: "", version: "v1", kind: "ConfigMap", namespace, labelSelector }, signal);
  expect(live.map(({ metadata: { name } }) => name).toSorted()).toEqual(names);
  const inventory = await world.inventory("app");
  expect(inventory.map(({ state, uid }) => ({ state, uid })).toSorted(byUid)).toEqual(
    live.map(({ metadata: { uid } }) => ({ state: "live", uid })).toSorted(byUid),
  );
}

function byUid(a: { readonly uid?: string | undefined }, b: { readonly uid?: string | undefined }): number {
  return (a.uid ?? "") < (b.uid ?? "") ? -1 : 1;
}

/** What stands in the way of an apply: an API server that fails, webhooks that deny, and others who write meanwhile. */
export function obstacleStories(where: string, newWorld: () => Promise<World>): void {
  describe(`a Kustomization that meets an obstacle on ${where}`, () => {
    /** A revision is applied, and the next one adds an object and drops one. */
    const moving = async () => {
      const world = await newWorld();
      const before = await world.publish("v1", [configMap("a"), configMap("stays")]);
      await world.kustomization("app", { wait: true });
      await world.run("app");
      const revision = await world.publish("v2", [configMap("b"), configMap("stays")]);
      return { world, before, revision };
    };

    test.each(faults.flatMap((fault) => steps.map((step) => ({ ...fault, ...step }))))(
      "an API server that answers $answer for a minute in $step: it recovers by itself",
      async ({ error: thrown, call, after }) => {
        const { world, revision } = await moving();
        const deleted: string[] = [];
        let calls = 0;
        let failed = 0;
        world.fault = (made) => {
          if (made === "cluster.delete done") deleted.push(made);
          if (made !== call) return;
          calls += 1;
          if (calls <= after) return;
          failed += 1;
          throw thrown;
        };
        // Where even the report fails, the queue tries the whole run again.
        const ended = await world.outlast("app", 60_000).catch((reason: unknown) => reason);
        expect(ended === thrown || !(ended instanceof Error)).toBe(true);
        expect(failed).toBeGreaterThan(0);
        world.fault = (made) => void (made === "cluster.delete done" && deleted.push(made));
        await world.outlast("app", 3_600_000);
        expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
        await expectInventoryIsWhatExists(world, ["b", "stays"]);
        expect(deleted.length).toBeLessThanOrEqual(1);
      },
    );

    test.each([
      {
        answer: "is denied by a webhook",
        thrown: error(400, "", 'admission webhook "policy.example.com" denied the request: no'),
        says: 'apply failed: admission webhook "policy.example.com" denied the request: no',
      },
      {
        answer: "times out on a webhook",
        thrown: error(
          500,
          "InternalError",
          'Internal error occurred: failed calling webhook "w.example.com": context deadline exceeded',
        ),
        says: 'apply failed: Internal error occurred: failed calling webhook "w.example.com": context deadline exceeded',
      },
    ])("an apply that $answer after its dry run was allowed: nothing is lost or pruned", async ({ thrown, says }) => {
      const { world, revision } = await moving();
      let applies = 0;
      world.fault = (made) => {
        if (made === "cluster.apply" && ++applies === 2) throw thrown;
      };
      await world.run("app");
      world.fault = () => {};
      expect(await world.ready("app")).toBe(`False ReconciliationFailed: ConfigMap/${world.namespace}/b ${says}\n`);
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      await expectInventoryIsWhatExists(world, ["b", "stays"]);
    });

    /** Deletes ConfigMap `a` and creates it as another client, with the labels that it had. */
    const recreate = async ({ cluster, namespace, signal }: World): Promise<string> => {
      const ref = configMapRef(namespace, "a");
      const labels = (await cluster.get(ref, signal))?.metadata.labels ?? {};
      await cluster.delete(ref, { propagation: "Background" }, signal);
      const theirs = { ...configMap("a", { theirs: "1" }), metadata: { name: "a", namespace, labels } };
      return (await cluster.create(theirs, { manager: "another-client" }, signal)).metadata.uid;
    };

    test.each([
      { moment: "between the list and the dry run", nth: 1 },
      { moment: "between the dry run and the apply", nth: 2 },
    ])("an object that another client recreates $moment is applied in its new state", async ({ nth }) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      await world.publish("v2", [configMap("a", { k: "2" })]);
      let uid: string | undefined;
      let applies = 0;
      world.fault = async (made) => {
        if (made === "cluster.apply" && ++applies === nth) uid = await recreate(world);
      };
      await world.run("app");
      world.fault = () => {};
      expect(await world.ready("app")).toMatch(/^True/);
      const live = await world.get("ConfigMap", "a");
      expect([live?.metadata.uid, live?.["data"]]).toEqual([uid, { theirs: "1", k: "2" }]);
      await expectInventoryIsWhatExists(world, ["a"]);
    });

    test("an object that another client recreates right before its delete stays, and is removed from the inventory", async () => {
      const { world, revision } = await moving();
      let uid: string | undefined;
      world.fault = async (made) => {
        if (made === "cluster.delete" && uid === undefined) uid = await recreate(world);
      };
      await world.run("app");
      world.fault = () => {};
      expect(uid).toBeDefined();
      expect((await world.get("ConfigMap", "a"))?.metadata.uid).toBe(uid);
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect((await world.inventory("app")).map(({ id }) => id)).toEqual([
        `${world.namespace}_b__ConfigMap`,
        `${world.namespace}_stays__ConfigMap`,
      ]);
    });

    test("an object of 1.4 MB is refused by name and size, and one of 1 MB is applied", async () => {
      const { world } = await moving();
      await world.publish("v3", [configMap("big", { k: "x".repeat(1_400_000) }), configMap("stays", { k: "2" })]);
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: ConfigMap/${world.namespace}/big dry-run failed (Invalid): ConfigMap "big" is invalid: []: Too long: may not be more than 1048576 bytes\n`,
      );
      await expectInventoryIsWhatExists(world, ["a", "stays"]);
      await world.publish("v4", [configMap("big", { k: "x".repeat(1_000_000) }), configMap("stays")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      await expectInventoryIsWhatExists(world, ["big", "stays"]);
    });
  });
}
