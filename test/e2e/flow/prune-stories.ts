import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { configMap, configMapRef } from "./sample-manifests.ts";
import { withKept } from "./with-kept.ts";
import type { World } from "./world.ts";

/** Without how long a push took. */
function measuredObjects({ measured }: World): World["measured"] {
  return measured.filter(([, measures]) => measures.PushToApplied === undefined);
}

/** What a Kustomization deletes, hands over and leaves alone. */
export function pruneStories(name: string, newWorld: () => Promise<World>): void {
  describe(`pruning by a Kustomization on ${name}`, () => {
    test("deletes objects that the artifact no longer contains after the new ones are applied (96)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app");
      await world.run("app");
      await world.publish("v2", [configMap("b"), configMap("c")]);
      await world.run("app");
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      const { namespace } = world;
      expect((await world.events("app")).slice(2, 4)).toEqual([
        `Normal Progressing: ConfigMap/${namespace}/c created`,
        `Normal Progressing: ConfigMap/${namespace}/a deleted`,
      ]);
      expect((await world.inventory("app")).map(({ id }) => id)).toEqual([
        `${namespace}_b__ConfigMap`,
        `${namespace}_c__ConfigMap`,
      ]);
      expect(measuredObjects(world).map(([, measures]) => measures)).toEqual([
        { ObjectsApplied: 2 },
        { ObjectsApplied: 1 },
        { ObjectsPruned: 1 },
      ]);
    });

    test("lists the Kustomizations and reads the claims twice if there is something to prune, and otherwise not at all", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app");
      await world.run("app");
      const asked: string[] = [];
      world.fault = (call) => void (/^(cluster\.list|ledger\.claims)$/.test(call) && asked.push(call));
      await world.publish("v2", [configMap("a")]);
      await world.run("app");
      expect(asked).toEqual(["cluster.list", "ledger.claims", "cluster.list", "ledger.claims"]);
      asked.length = 0;
      await world.publish("v3", [configMap("a", { k: "new" })]);
      await world.run("app");
      expect(asked).toEqual([]);
    });

    test("an empty artifact empties the inventory, with an event before (39)", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const former = await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app");
      await world.run("app");
      await world.publish("v2", []);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect((await world.status("app"))["inventory"]).toEqual({ entries: [] });
      expect(await world.get("ConfigMap", "b")).toBeUndefined();
      expect((await world.events("app")).slice(2, 4)).toEqual([
        `Warning PruningAll: no objects in this revision: pruning all that there are, ConfigMap/${namespace}/a, ConfigMap/${namespace}/b; if that is not meant, publish ${former} again`,
        `Normal Progressing: ConfigMap/${namespace}/b deleted\nConfigMap/${namespace}/a deleted`,
      ]);
      await world.run("app");
      expect((await world.events("app")).filter((event) => event.startsWith("Warning"))).toHaveLength(1);
    });

    test("if the same revision no longer has objects, the message names no revision to restore them", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      // As by another path or a patch.
      for (const digest of world.stored.keys()) world.stored.set(digest, []);
      await world.run("app");
      expect(await world.events("app")).toContain(
        `Warning PruningAll: no objects in this revision: pruning all that there are, ConfigMap/${world.namespace}/a`,
      );
    });

    test.each([
      {
        title: "protected by an annotation (97)",
        body: { metadata: { annotations: { [`${kustomizeGroup}/prune`]: "disabled" } } },
        left: ["retained"],
      },
      {
        title: "marked reconcile: disabled (101)",
        body: { metadata: { labels: { [`${kustomizeGroup}/reconcile`]: "Disabled" } } },
        left: ["retained"],
      },
      {
        title: "labelled as another owner's (98)",
        body: { metadata: { labels: { [`${kustomizeGroup}/name`]: "other" } } },
        left: [],
      },
    ])("keeps an object that is $title, also when that is over", async ({ body, left }) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const ref = configMapRef(world.namespace, "a");
      await world.cluster.patch(ref, { type: "merge", body }, { manager: "another-client" }, world.signal);
      await world.publish("v2", []);
      await world.run("app");
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      expect((await world.events("app")).at(-2)).toBe(`Normal Progressing: ConfigMap/${world.namespace}/a skipped`);
      expect((await world.inventory("app")).map(({ state }) => state)).toEqual(left);
      expect((await world.status("app"))["inventory"]).toEqual({ entries: [] });

      const marks = { [`${kustomizeGroup}/prune`]: null, [`${kustomizeGroup}/reconcile`]: null };
      const unmarked = { metadata: { annotations: marks, labels: { ...marks, [`${kustomizeGroup}/name`]: "app" } } };
      await world.cluster.patch(ref, { type: "merge", body: unmarked }, { manager: "another-client" }, world.signal);
      await world.run("app");
      expect(await world.get("ConfigMap", "a")).toBeDefined();
    });

    test("does not delete an object that another client recreated under the same name, even with our labels on it", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const ref = configMapRef(world.namespace, "a");
      const { labels = {} } = (await world.get("ConfigMap", "a"))?.metadata ?? {};
      await world.cluster.delete(ref, { propagation: "Background" }, world.signal);
      const theirs = {
        ...configMap("a", { theirs: "1" }),
        metadata: { name: "a", namespace: world.namespace, labels },
      };
      await world.cluster.create(theirs, { manager: "another-client" }, world.signal);
      await world.publish("v2", []);
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ theirs: "1" });
    });

    test("prune: false keeps the object and drops it from the status (100)", async () => {
      const world = await withKept(newWorld);
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      expect((await world.status("app"))["inventory"]).toEqual({ entries: [] });
      expect(await world.inventory("app")).toMatchObject([{ state: "retained" }]);
      await world.kustomization("app", { prune: true });
      await world.run("app");
      expect(await world.get("ConfigMap", "a")).toBeDefined();
    });

    test.each([
      {
        what: "drops it",
        end: async (world: World) => void (await world.publish("v4", [], { folders: { a: [], b: [] } })),
      },
      { what: "is deleted", end: (world: World) => world.remove("b") },
    ])(
      "an object released by prune: false belongs only to its next owner: it is deleted when that $what",
      async ({ end }) => {
        const world = await newWorld();
        await world.publish("v1", [], { folders: { a: [configMap("x")], b: [] } });
        await world.kustomization("a", { path: "a", prune: false });
        await world.kustomization("b", { path: "b" });
        await world.run("a");
        await world.publish("v2", [], { folders: { a: [], b: [] } });
        await world.run("a");
        await world.publish("v3", [], { folders: { a: [], b: [configMap("x")] } });
        await world.run("b");
        expect(await world.get("ConfigMap", "x")).toBeDefined();
        await end(world);
        await world.run("b");
        expect(await world.get("ConfigMap", "x")).toBeUndefined();
      },
    );

    test("a delete that a finalizer blocks succeeds and is reported once (99)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { k: "v" }, { finalizers: ["example.com/hold"] })]);
      await world.kustomization("app");
      await world.run("app");
      await world.publish("v2", []);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.inventory("app")).toMatchObject([{ state: "deleting" }]);
      await world.run("app");
      const told = (await world.events("app")).filter((event) => event.includes("deleted"));
      expect(told).toHaveLength(1);
      const ref = configMapRef(world.namespace, "a");
      await world.cluster.patch(
        ref,
        { type: "merge", body: { metadata: { finalizers: null } } },
        { manager: "x" },
        world.signal,
      );
      await world.run("app");
      expect(await world.inventory("app")).toEqual([]);
      expect(measuredObjects(world).slice(1)).toEqual([[`Kustomization/${world.namespace}/app`, { ObjectsPruned: 1 }]]);
    });

    test("hands over an object that moves to another Kustomization, and never deletes it in between", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("old");
      await world.run("old");
      const uid = (await world.get("ConfigMap", "a"))?.metadata.uid;
      await world.kustomization("new");
      await world.run("new");
      await world.publish("v2", []);
      const ref = configMapRef(world.namespace, "a");
      // As if the labels had not moved yet: the ledger alone must protect it.
      await world.cluster.patch(
        ref,
        { type: "merge", body: { metadata: { labels: { [`${kustomizeGroup}/name`]: "old" } } } },
        { manager: "x" },
        world.signal,
      );
      await world.run("old");
      expect((await world.get("ConfigMap", "a"))?.metadata.uid).toBe(uid);
    });

    test("prunes nothing if only the API version changes, and updates the version (102)", async () => {
      const world = await newWorld();
      const hpa = (version: string) => ({
        apiVersion: `autoscaling/${version}`,
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "h" },
        spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
      });
      await world.publish("v1", [hpa("v1")]);
      await world.kustomization("app");
      await world.run("app");
      await world.publish("v2", [hpa("v2")]);
      await world.run("app");
      const status = await world.status("app");
      expect(status["inventory"]).toEqual({
        entries: [{ id: `${world.namespace}_h_autoscaling_HorizontalPodAutoscaler`, v: "v2" }],
      });
      expect((await world.events("app")).join()).not.toContain("deleted");
    });

    test("adopts objects that Flux applied from its status and prunes them", async () => {
      const world = await newWorld();
      const { namespace } = world;
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      const labels = { [`${kustomizeGroup}/name`]: "app", [`${kustomizeGroup}/namespace`]: namespace };
      for (const name of ["a", "b"]) {
        const flux = { ...configMap(name), metadata: { name, namespace, labels } };
        await world.cluster.apply(flux, { manager: "kustomize-controller", force: true }, world.signal);
      }
      const entries = ["a", "b"].map((name) => ({ id: `${namespace}_${name}__ConfigMap`, v: "v1" }));
      const body = { status: { inventory: { entries } } };
      await world.patch("app", body, { manager: "flux", subresource: "status" });
      const before = await world.get("ConfigMap", "a");
      await world.run("app");
      expect(await world.get("ConfigMap", "a")).toEqual(before);
      expect(await world.get("ConfigMap", "b")).toBeUndefined();
    });
  });
}
