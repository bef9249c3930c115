import { describe, expect, test, vi } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { isJsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { VersionedRef } from "../../../lib/core/object-ref.ts";
import { widgetDefinition } from "../../contract/cluster/widget-definition.ts";
import { withinDeadline } from "../../deadline.ts";
import { configMap, configMapRef } from "./sample-manifests.ts";
import { settle } from "./taking-along.ts";
import type { World } from "./world.ts";

const refOfA = ({ namespace }: World) => configMapRef(namespace, "a");

/** Another client adds a finalizer to it, or removes it. */
async function setFinalizers(world: World, ref: VersionedRef, finalizers: readonly string[]): Promise<void> {
  const body = { metadata: { finalizers } };
  await world.cluster.patch(ref, { type: "merge", body }, { manager: "another-client" }, world.signal);
}

/** Another client deletes it while a finalizer blocks that. */
async function beginDeletion(world: World, ref: VersionedRef): Promise<void> {
  await setFinalizers(world, ref, ["example.com/hold"]);
  expect(await world.cluster.delete(ref, { propagation: "Background" }, world.signal)).toBe("deleting");
}

async function reconciling(world: World): Promise<unknown> {
  const { conditions } = await world.status("app");
  const all = Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
  return all.find(({ type }) => type === "Reconciling")?.["message"];
}

const definitionOf = (group: string): VersionedRef => ({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  namespace: "",
  name: `widgets.${group}`,
});

/** A definition that takes the kind of {@link widgetDefinition} away from it: that one is never established beside it. */
function rivalOf(group: string): Manifest {
  const definition = widgetDefinition(group);
  const spec = isJsonObject(definition["spec"]) ? definition["spec"] : {};
  const names = { plural: "gadgets", singular: "gadget", kind: "Widget", listKind: "WidgetList" };
  return { ...definition, metadata: { name: `gadgets.${group}` }, spec: { ...spec, names } };
}

/** What becomes of an object that is being deleted although it is wanted. */
export function terminationStories(name: string, newWorld: () => Promise<World>): void {
  describe(`a wanted object that is terminating on ${name}`, () => {
    const waits = "still wanted but being deleted, to be created again once gone: ";

    const deleted = async (spec = {}, metadata = {}) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { k: "v" }, metadata), configMap("b")]);
      await world.kustomization("app", spec);
      await world.run("app");
      await beginDeletion(world, refOfA(world));
      return { world, held: `ConfigMap/${world.namespace}/a (held by example.com/hold)` };
    };

    test("keeps Ready from True, the rest is applied and pruned, and the object is recreated as soon as possible", async () => {
      const { world, held } = await deleted();
      const uid = (await world.get("ConfigMap", "a"))?.metadata.uid;
      const revision = await world.publish("v2", [configMap("a"), configMap("c")]);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 1_000 });
      expect(await world.ready("app")).toBe("Unknown Progressing: Reconciliation in progress");
      expect(await reconciling(world)).toBe(`${waits}${held}`);
      expect(await world.get("ConfigMap", "b")).toBeUndefined();
      expect(await world.get("ConfigMap", "c")).toBeDefined();

      const writes: string[] = [];
      world.fault = (call) => void (/^cluster\.(apply|create|patch|delete)$/.test(call) && writes.push(call));
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
      world.fault = () => {};
      // The dry run alone.
      expect(writes).toEqual(["cluster.apply"]);

      await setFinalizers(world, refOfA(world), []);
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      const live = await world.get("ConfigMap", "a");
      expect(live?.metadata.deletionTimestamp).toBeUndefined();
      expect(live?.metadata.uid).not.toBe(uid);
    });

    test("is checked less and less often, and after the timeout Ready is False", async () => {
      const { world, held } = await deleted({ timeout: "5m" });
      const dueInMs: unknown[] = [];
      for (let looks = 0; looks < 9; looks++) dueInMs.push((await world.run("app")).dueInMs);
      const minute = 60_000;
      expect(dueInMs).toEqual([1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 40_000, minute, minute]);
      world.clock.advance(5 * minute);
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 600_000 });
      expect(await world.ready("app")).toBe(`False ReconciliationFailed: ${waits}${held}\n`);
      expect((await world.events("app")).at(-1)).toBe(`Warning ReconciliationFailed: ${waits}${held}\n`);
    });

    test("still gets changes in the artifact, because they may remove its finalizer", async () => {
      const { world } = await deleted();
      await world.publish("v2", [configMap("a", { k: "let go" }), configMap("b")]);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "let go" });
    });

    test("is not healthy with wait, with Flux's text, and is recreated as well", async () => {
      const { world } = await deleted({ wait: true });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 1_000 });
      world.clock.advance(600_000);
      await world.run("app");
      const text = `timeout waiting for: [ConfigMap/${world.namespace}/a status: 'Terminating']`;
      expect(await world.ready("app")).toContain(text);
      await setFinalizers(world, refOfA(world), []);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "a")).toBeDefined();
    });

    test("and is created only once is recreated", async () => {
      const { world } = await deleted({}, { annotations: { [`${kustomizeGroup}/ssa`]: "IfNotPresent" } });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await setFinalizers(world, refOfA(world), []);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "a")).toBeDefined();
    });

    test("and has to be skipped is skipped", async () => {
      const { world } = await deleted();
      const body = { metadata: { annotations: { [`${kustomizeGroup}/reconcile`]: "disabled" } } };
      await world.cluster.patch(refOfA(world), { type: "merge", body }, { manager: "another-client" }, world.signal);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    const finalizers = ["example.com/one", "example.com/two"];
    /** An object with two finalizers is being deleted, and the first has been removed. */
    const withoutItsFirst = async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { k: "v" }, { finalizers })]);
      await world.kustomization("app");
      await world.run("app");
      await world.cluster.delete(refOfA(world), { propagation: "Background" }, world.signal);
      await setFinalizers(world, refOfA(world), ["example.com/two"]);
      return world;
    };

    test("does not fail the run because it can no longer get finalizers", async () => {
      const world = await withoutItsFirst();
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      expect(await reconciling(world)).toBe(`${waits}ConfigMap/${world.namespace}/a (held by example.com/two)`);
    });

    test("shows its other errors next to finalizers that it can no longer get", async () => {
      const world = await withoutItsFirst();
      await world.publish("v2", [configMap("a", { "bad key": "v" }, { finalizers })]);
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.ready("app")).toContain("bad key");
    });

    /** Deletes the namespace or definition of another object of the artifact, and removes its finalizer after a run that has to wait. */
    const comeBack = async (world: World, container: VersionedRef, content: VersionedRef) => {
      await settle(world, "app");
      await beginDeletion(world, container);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      expect(await reconciling(world)).toContain(`${waits}${container.kind}/${container.name} (held by `);
      await setFinalizers(world, container, []);
      await expect.poll(() => world.cluster.get(container, world.signal)).toBeUndefined();
      const isBack = async () => {
        await world.outlast("app", 1_000);
        expect(await world.ready("app")).toMatch(/^True/);
      };
      await vi.waitFor(isBack, withinDeadline);
      return world.cluster.get(content, world.signal);
    };

    test("and is a namespace is recreated with all its objects", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-back`;
      const content: Manifest = { ...configMap("a"), metadata: { name: "a", namespace: within } };
      await world.publish("v1", [{ apiVersion: "v1", kind: "Namespace", metadata: { name: within } }, content]);
      await world.kustomization("app", { targetNamespace: undefined });
      const namespace = { group: "", version: "v1", kind: "Namespace", namespace: "", name: within };
      expect(await comeBack(world, namespace, { ...refOfA(world), namespace: within })).toBeDefined();
    });

    test("and is a definition is recreated with all its objects", async () => {
      const world = await newWorld();
      const group = `back.${world.namespace}.example.com`;
      const widget = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "w" } };
      await world.publish("v1", [widgetDefinition(group), widget]);
      await world.kustomization("app");
      const object = { group, version: "v1", kind: "Widget", namespace: world.namespace, name: "w" };
      expect(await comeBack(world, definitionOf(group), object)).toBeDefined();
      await world.publish("v2", []);
      await world.run("app");
    });

    /** Flux has applied a definition and a ConfigMap, which we have not seen; then the definition is deleted. */
    const fromFlux = async (world: World, group: string) => {
      const { cluster, namespace, signal } = world;
      await world.publish("v1", [widgetDefinition(group), configMap("a")]);
      await world.kustomization("app");
      const labels = { [`${kustomizeGroup}/name`]: "app", [`${kustomizeGroup}/namespace`]: namespace };
      const definition = widgetDefinition(group);
      for (const { metadata, ...rest } of [definition, { ...configMap("a"), metadata: { name: "a", namespace } }]) {
        const manifest = { ...rest, metadata: { ...metadata, labels } };
        await cluster.apply(manifest, { manager: "kustomize-controller", force: true }, signal);
      }
      const ids = [`_widgets.${group}_apiextensions.k8s.io_CustomResourceDefinition`, `${namespace}_a__ConfigMap`];
      const inventory = { entries: ids.map((id) => ({ id, v: "v1" })) };
      await world.patch("app", { status: { inventory } }, { manager: "flux", subresource: "status" });
      await beginDeletion(world, definitionOf(group));
      return inventory;
    };

    test("the status keeps what Flux has applied while a definition is awaited", async () => {
      const world = await newWorld();
      const group = `flux.${world.namespace}.example.com`;
      const inventory = await fromFlux(world, group);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      expect((await world.status("app"))["inventory"]).toEqual(inventory);
      await setFinalizers(world, definitionOf(group), []);
      await world.publish("v2", []);
      await world.run("app");
    });

    test("a stage has its full time to become ready after a deletion that was awaited", async () => {
      const world = await newWorld();
      const group = `slow.${world.namespace}.example.com`;
      await world.publish("v1", [widgetDefinition(group)]);
      await world.kustomization("app");
      await settle(world, "app");
      await beginDeletion(world, definitionOf(group));
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      world.clock.advance(90_000);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await setFinalizers(world, definitionOf(group), []);
      const gone = () => world.cluster.get(definitionOf(group), world.signal);
      await expect.poll(gone).toBeUndefined();
      await world.cluster.apply(rivalOf(group), { manager: "another-client", force: true }, world.signal);
      const rival = () => world.cluster.get({ ...definitionOf(group), name: `gadgets.${group}` }, world.signal);
      const established = expect.arrayContaining([expect.objectContaining({ type: "Established", status: "True" })]);
      await expect.poll(rival).toMatchObject({ status: { conditions: established } });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 1_000 });
      expect(await reconciling(world)).toContain(`widgets.${group}`);
      for (const plural of ["gadgets", "widgets"]) {
        const ref = { ...definitionOf(group), name: `${plural}.${group}` };
        await world.cluster.delete(ref, { propagation: "Background" }, world.signal);
      }
    });
  });
}
