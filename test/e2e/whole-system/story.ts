import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { deadlineMs } from "../../deadline.ts";
import { writes } from "./audit-log.ts";
import { configMaps, exampleFiles, without } from "./manifests.ts";
import type { Files } from "./push.ts";
import type { World } from "./world.ts";

const service = { kind: "Service", name: "oddy-test-service" };
const deployment = { kind: "Deployment", name: "oddy-test-deployment" };
const autoscaler = { kind: "HorizontalPodAutoscaler", name: "oddy-test-hpa" };
const budget = { kind: "PodDisruptionBudget", name: "oddy-test-pdb" };
const kept = [service, deployment, autoscaler];
const manyObjects = 200;

/** The fields that must stay the same on an unchanged object. */
function marks({ metadata }: LiveObject) {
  const { uid, generation, managedFields } = metadata;
  return { uid, generation, ours: managedFields?.find(({ manager }) => manager === "kustomize-controller") };
}

/** The story of `npm run demo`, scene by scene; each starts from the end of the one before. */
export function story(open: () => Promise<World>): void {
  describe("the demo's story", () => {
    const opened = new AsyncDisposableStack();
    let world: World;
    let all: Files;
    beforeAll(async () => {
      world = opened.use(await open());
      all = await exampleFiles(world.namespace);
      await world.follow();
    });
    afterAll(() => opened.disposeAsync());

    const live = (of: readonly { kind: string; name: string }[]) =>
      Promise.all(of.map(({ kind, name }) => world.get(kind, name)));
    const marksOf = async () => (await live(kept)).map((object) => object && marks(object));
    const isThere = async ({ kind, name }: { kind: string; name: string }) =>
      (await world.get(kind, name)) !== undefined;

    test("a team pushes v1 of its manifests with crane: four objects, Ready, an inventory of four", async () => {
      const requests = await world.watchRequests();
      await world.applied(await world.push(all, "crane"));
      for (const object of [...kept, budget]) expect(await isThere(object)).toBe(true);
      expect((await world.app()).status.inventory?.entries).toHaveLength(4);
      // By the token that the authenticator took for a session of the role.
      expect(writes(await requests()).map(({ objectRef }) => objectRef?.name)).toContain(deployment.name);
    });

    test("the same tag is pushed again with oras, without the PodDisruptionBudget: it is pruned, the others untouched", async () => {
      const before = await marksOf();
      await world.applied(await world.push(without(all, "pdb.yaml"), "oras"));
      expect(await isThere(budget)).toBe(false);
      expect(await marksOf()).toEqual(before);
      expect(await world.events()).toContain(`PodDisruptionBudget/${world.namespace}/oddy-test-pdb deleted`);
    });

    test("reconcile again: nothing has changed, and only the status and an event are written", async () => {
      const before = await marksOf();
      const requests = await world.watchRequests();
      await world.reconcile();
      const written = async () =>
        writes(await requests())
          .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource} ${objectRef?.subresource ?? ""}`.trim())
          .toSorted();
      await world.soon(written, (seen) => expect(seen).toEqual(["create events", "patch kustomizations status"]));
      expect(await marksOf()).toEqual(before);
    });

    test("a push with a kustomization file is built by the engine in the function", async () => {
      const files = without(all, "pdb.yaml");
      const kustomization = JSON.stringify({
        resources: Object.keys(files),
        namespace: world.namespace,
        configMapGenerator: [
          { name: "generated", literals: ["by=kustomize"], options: { disableNameSuffixHash: true } },
        ],
      });
      await world.applied(await world.push({ ...files, "kustomization.yaml": kustomization }));
      expect((await world.get("ConfigMap", "generated"))?.["data"]).toEqual({ by: "kustomize" });
      await world.applied(await world.push(files));
      expect(await isThere({ kind: "ConfigMap", name: "generated" })).toBe(false);
    });

    test("the Deployment is scaled by hand and the Service is deleted: both are healed", async () => {
      const { cluster, namespace, signal } = world;
      const ref = { version: "v1", namespace };
      // Between the autoscaler's bounds of 2 and 4: it would change a larger number itself, at any moment.
      const body = { spec: { replicas: 3 } };
      const scaled = { ...ref, ...deployment, group: "apps" };
      await cluster.patch(scaled, { type: "merge", body }, { manager: "kubectl-scale" }, signal);
      await cluster.delete({ ...ref, ...service, group: "" }, { propagation: "Background" }, signal);
      await world.reconcile();
      expect((await world.get(deployment.kind, deployment.name))?.["spec"]).toMatchObject({ replicas: 2 });
      expect(await isThere(service)).toBe(true);
    });

    test("a push whose second object is invalid: Ready=False names it, the cluster is as before", async () => {
      const before = await marksOf();
      const files = without(all, "pdb.yaml");
      const invalid = (files["service.yaml"] ?? "").replace("port: 80\n", "port: 800000\n");
      const more = configMaps(world.namespace, ["never"], "1");
      await world.push({ ...files, "service.yaml": invalid, ...more });
      const named = `False ReconciliationFailed: Service/${world.namespace}/oddy-test-service dry-run failed (Invalid)`;
      await world.soon(world.ready, (seen) => expect(seen).toContain(named));
      expect(await marksOf()).toEqual(before);
      expect(await isThere({ kind: "ConfigMap", name: "never" })).toBe(false);
    });

    test(`the function is killed in the middle of applying ${manyObjects} objects: another continues`, async () => {
      const files = without(all, "pdb.yaml");
      /** Answers whether a run was cut short. */
      const rollOut = async (round: number): Promise<boolean> => {
        const names = Array.from({ length: manyObjects }, (_, at) => `m${round}-${String(at).padStart(3, "0")}`);
        const done = async () => (await world.made()).filter(({ metadata }) => names.includes(metadata.name)).length;
        const revision = await world.push({ ...files, ...configMaps(world.namespace, names, "1") });
        const begun = async () => expect(await done()).toBeGreaterThan(manyObjects / 10);
        await vi.waitFor(begun, { timeout: deadlineMs, interval: 10 });
        const isCutShort = world.functions.killReconcilers() > 0 && (await done()) < manyObjects;
        await world.applied(revision);
        expect((await world.made()).map(({ metadata }) => metadata.name).toSorted()).toEqual(names);
        expect((await world.app()).status.inventory?.entries).toHaveLength(manyObjects + kept.length);
        return isCutShort;
      };
      // A run may be over before this process comes to kill it: then the next one is cut short.
      let round = 1;
      while (!(await rollOut(round))) expect(++round).toBeLessThanOrEqual(5);
      await world.applied(await world.push(files));
      expect(await world.made()).toEqual([]);
    });

    test("the Kustomization is deleted: all its objects are gone, and nothing else", async () => {
      const { appRef, cluster, namespace, signal } = world;
      const bystander = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "not-ours", namespace } };
      await cluster.apply(bystander, { manager: "kubectl", force: true }, signal);
      await cluster.delete(appRef, { propagation: "Background" }, signal);
      await world.soon(
        () => cluster.get(appRef, signal),
        (seen) => expect(seen).toBeUndefined(),
      );
      expect(await live(kept)).toEqual([undefined, undefined, undefined]);
      expect(await isThere({ kind: "ConfigMap", name: "not-ours" })).toBe(true);
      expect(await isThere({ kind: "Secret", name: "bystander" })).toBe(true);
    });
  });
}
