import { describe, expect, test } from "vitest";
import { helmGroup, kustomizeGroup } from "../../../lib/api/names.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { widgetDefinition } from "../../contract/cluster/widget-definition.ts";
import { configMap, namespaceNamed, placed, service, widget } from "./sample-manifests.ts";
import { elsewhere, isGoing, pruneRefused, settle } from "./taking-along.ts";
import type { World } from "./world.ts";

/** Makes a HelmRelease that shows this object as its own. */
async function helmRelease(world: World, name: string, id: string): Promise<void> {
  const { cluster, namespace, signal } = world;
  const spec = { interval: "1h", chartRef: { kind: "OCIRepository", name: "chart" } };
  const apiVersion = `${helmGroup}/v2`;
  const release = { apiVersion, kind: "HelmRelease", metadata: { name, namespace }, spec };
  await cluster.apply(release, { manager: "test", force: true }, signal);
  const body = { status: { inventory: { entries: [{ id, v: "v1" }] } } };
  const ref = { group: helmGroup, version: "v2", kind: "HelmRelease", namespace, name };
  await cluster.patch(ref, { type: "merge", body }, { manager: "helm-controller", subresource: "status" }, signal);
}

async function removeHelmRelease({ cluster, namespace, signal }: World, name: string): Promise<void> {
  const ref = { group: helmGroup, version: "v2", kind: "HelmRelease", namespace, name };
  await cluster.delete(ref, { propagation: "Background" }, signal);
}

/** What a prune may take along where other Kustomizations have something in it. */
export function foreignDeletionStories(name: string, newWorld: () => Promise<World>): void {
  describe(`objects of other Kustomizations that a prune would delete along on ${name}`, () => {
    test("a namespace that moves to another Kustomization is handed over, and the first one's objects in it stay", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-moved`;
      const contents = placed(within, configMap("a"));
      await world.publish("v1", [namespaceNamed(within), contents]);
      await world.kustomization("old", elsewhere);
      await settle(world, "old");
      await world.publish("v2", [contents]);
      await world.run("old");
      expect(await world.ready("old")).toMatch(/^False/);
      await world.publish("v3", [namespaceNamed(within)]);
      await world.kustomization("new", elsewhere);
      await settle(world, "new");
      await world.publish("v4", [contents]);
      await world.run("old");
      expect(await world.ready("old")).toMatch(/^True/);
      expect(await isGoing(world, within)).toBe(false);
    });

    test("a namespace stays while another Kustomization has objects in it, until that one is deleted", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-shared`;
      await world.publish("v1", [namespaceNamed(within)]);
      await world.kustomization("platform", elsewhere);
      await settle(world, "platform");
      await world.publish("v2", [configMap("a")]);
      await world.kustomization("tenant", { targetNamespace: within });
      await settle(world, "tenant");
      await world.publish("v3", []);
      await world.run("platform");
      const theirs = `ConfigMap/${within}/a of Kustomization/${world.namespace}/tenant`;
      expect(await world.ready("platform")).toBe(
        `False ReconciliationFailed: ${pruneRefused(`Namespace/${within}`, theirs)}\n`,
      );
      await world.remove("tenant");
      await world.run("platform");
      expect(await world.ready("platform")).toMatch(/^True/);
      expect(await world.run("tenant")).toMatchObject({ outcome: "deleted" });
    });

    test("a namespace stays if another Kustomization puts an object into it during the apply", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-late`;
      await world.publish("v1", [namespaceNamed(within)]);
      await world.kustomization("platform", elsewhere);
      await settle(world, "platform");
      await world.kustomization("tenant", { targetNamespace: within });
      await world.publish("v2", [placed(world.namespace, configMap("a"))]);
      let writes = 0;
      world.fault = async (call) => {
        if (call !== "inventories.save" || ++writes > 1) return;
        await world.publish("v3", [configMap("late")]);
        await world.run("tenant");
      };
      await world.run("platform");
      world.fault = () => {};
      const theirs = `ConfigMap/${within}/late of Kustomization/${world.namespace}/tenant`;
      expect(await world.ready("platform")).toBe(`False PruneFailed: ${pruneRefused(`Namespace/${within}`, theirs)}\n`);
      expect(await world.events("platform")).toContain(`Normal Progressing: ConfigMap/${world.namespace}/a created`);
      expect(world.remembered.at(-1)).toMatchObject({ outcome: "PruneFailed", created: 1 });
      const entries = [`${world.namespace}_a__ConfigMap`, `_${within}__Namespace`].map((id) => ({ id, v: "v1" }));
      expect((await world.status("platform"))["inventory"]).toEqual({ entries });
      expect(await isGoing(world, within)).toBe(false);
    });

    test("a namespace stays while it contains an object of another Kustomization whose apply has failed", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-halfway`;
      await world.publish("v1", [namespaceNamed(within)]);
      await world.kustomization("platform", elsewhere);
      await settle(world, "platform");
      await world.publish("v2", [configMap("a"), service(80)]);
      await world.kustomization("tenant", { targetNamespace: within });
      let applies = 0;
      world.fault = (call) => {
        // Two dry runs come first, then the ConfigMap: the Service is the last.
        if (call === "cluster.apply" && ++applies === 4)
          throw new ApiError({ code: 403, reason: "Forbidden", message: "over quota" });
      };
      await world.run("tenant");
      world.fault = () => {};
      expect(await world.ready("tenant")).toContain("over quota");
      expect((await world.status("tenant"))["inventory"]).toEqual({
        entries: [{ id: `${within}_a__ConfigMap`, v: "v1" }],
      });
      await world.publish("v3", []);
      await world.run("platform");
      const theirs = `ConfigMap/${within}/a of Kustomization/${world.namespace}/tenant`;
      expect(await world.ready("platform")).toContain(pruneRefused(`Namespace/${within}`, theirs));
      expect(await isGoing(world, within)).toBe(false);
    });

    test("a definition stays while another Kustomization has objects of it, until that one no longer wants them", async () => {
      const world = await newWorld();
      const group = `shared.${world.namespace}.example.com`;
      await world.publish("v1", [widgetDefinition(group)]);
      await world.kustomization("platform", elsewhere);
      await settle(world, "platform");
      await world.publish("v2", [widget(group)]);
      await world.kustomization("tenant");
      await settle(world, "tenant");
      await world.publish("v3", []);
      await world.run("platform");
      const theirs = `Widget/${world.namespace}/w of Kustomization/${world.namespace}/tenant`;
      expect(await world.ready("platform")).toContain(
        pruneRefused(`CustomResourceDefinition/widgets.${group}`, theirs),
      );
      expect(await world.get("Widget", "w", `${group}/v1`)).toBeDefined();
      await world.run("tenant");
      await world.run("platform");
      expect(await world.ready("platform")).toMatch(/^True/);
    });

    test("a namespace stays while a HelmRelease has objects in it", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-charted`;
      await world.publish("v1", [namespaceNamed(within)]);
      await world.kustomization("platform", elsewhere);
      await settle(world, "platform");
      await helmRelease(world, "web", `${within}_web__ConfigMap`);
      await world.publish("v2", []);
      await world.run("platform");
      const theirs = `ConfigMap/${within}/web of HelmRelease/${world.namespace}/web`;
      expect(await world.ready("platform")).toBe(
        `False ReconciliationFailed: ${pruneRefused(`Namespace/${within}`, theirs)}\n`,
      );
      expect(await isGoing(world, within)).toBe(false);
      await removeHelmRelease(world, "web");
      await world.run("platform");
      expect(await world.ready("platform")).toMatch(/^True/);
    });

    test("a definition stays while a HelmRelease has objects of it", async () => {
      const world = await newWorld();
      const group = `charted.${world.namespace}.example.com`;
      await world.publish("v1", [widgetDefinition(group)]);
      await world.kustomization("platform", elsewhere);
      await settle(world, "platform");
      await helmRelease(world, "web", `${world.namespace}_w_${group}_Widget`);
      await world.publish("v2", []);
      await world.run("platform");
      const theirs = `Widget/${world.namespace}/w of HelmRelease/${world.namespace}/web`;
      expect(await world.ready("platform")).toContain(
        pruneRefused(`CustomResourceDefinition/widgets.${group}`, theirs),
      );
      await removeHelmRelease(world, "web");
      await world.run("platform");
      expect(await world.ready("platform")).toMatch(/^True/);
    });

    test("a namespace stays while a Kustomization that has moved to another parent has objects in it", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-adopted`;
      const child: Manifest = {
        apiVersion: `${kustomizeGroup}/v1`,
        kind: "Kustomization",
        metadata: { name: "child", namespace: world.namespace },
        spec: {
          interval: "1h",
          prune: true,
          targetNamespace: within,
          sourceRef: { kind: "OCIRepository", name: "repo", namespace: world.namespace },
        },
      };
      await world.publish("v1", [namespaceNamed(within), child]);
      await world.kustomization("old", elsewhere);
      await settle(world, "old");
      await world.publish("v2", [configMap("db")]);
      await settle(world, "child");
      await world.publish("v3", [child]);
      await world.kustomization("new", elsewhere);
      await settle(world, "new");
      await world.publish("v4", []);
      await world.run("old");
      const theirs = `ConfigMap/${within}/db of Kustomization/${world.namespace}/child`;
      expect(await world.ready("old")).toContain(pruneRefused(`Namespace/${within}`, theirs));
      expect(await isGoing(world, within)).toBe(false);
      expect((await world.get("Kustomization", "child", `${kustomizeGroup}/v1`))?.metadata.deletionTimestamp).toBe(
        undefined,
      );
    });

    test("a namespace stays that another Kustomization lists in its status, as Flux does without a claim of ours", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-fluxs`;
      await world.publish("v1", [namespaceNamed(within)]);
      await world.kustomization("platform", elsewhere);
      await settle(world, "platform");
      await world.kustomization("flux", elsewhere);
      const inventory = { entries: [{ id: `_${within}__Namespace`, v: "v1" }] };
      await world.patch("flux", { status: { inventory } }, { manager: "flux", subresource: "status" });
      await world.publish("v2", []);
      await world.run("platform");
      const theirs = `Namespace/${within} of Kustomization/${world.namespace}/flux`;
      expect(await world.ready("platform")).toContain(pruneRefused(`Namespace/${within}`, theirs));
      expect(await isGoing(world, within)).toBe(false);
      await world.remove("flux");
      await world.run("platform");
      expect(await world.ready("platform")).toMatch(/^True/);
    });

    test("a namespace with a Kustomization in it stays, even our own, and is deleted if both leave together", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-home`;
      const sourceRef = { kind: "OCIRepository", name: "repo", namespace: world.namespace };
      const child: Manifest = {
        apiVersion: `${kustomizeGroup}/v1`,
        kind: "Kustomization",
        metadata: { name: "child", namespace: within },
        spec: { interval: "1h", prune: true, sourceRef },
      };
      await world.publish("v1", [namespaceNamed(within), namespaceNamed(world.namespace), child]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      await world.publish("v2", [namespaceNamed(within), child]);
      await world.run("app");
      expect(await world.ready("app")).toContain(
        pruneRefused(`Namespace/${world.namespace}`, `Kustomization/${world.namespace}/app`),
      );
      await world.publish("v3", [namespaceNamed(world.namespace)]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await isGoing(world, within)).toBe(true);
    });
  });
}
