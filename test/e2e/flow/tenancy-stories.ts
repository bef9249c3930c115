import { describe, expect, test } from "vitest";
import { formatEntryId } from "../../../lib/apply/set/entry-id.ts";
import type { ObjectRef } from "../../../lib/core/object-ref.ts";
import { configMap, configMapRef, namespaceNamed, placed } from "./sample-manifests.ts";
import { settle } from "./taking-along.ts";
import type { World } from "./world.ts";

/** What a tenant who writes a Kustomization, or pushes its artifact, can and cannot do to others: docs/threat-model.md. */
export function tenancyStories(name: string, newWorld: () => Promise<World>): void {
  describe(`the boundary between tenants on ${name}`, () => {
    test("there is no limit for an apply: any namespace and any kind, with Sluice's own rights", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      const elsewhere = `${namespace}-elsewhere`;
      const role = {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: namespace },
        rules: [],
      };
      await world.publish("v1", [role, namespaceNamed(elsewhere), placed(elsewhere, configMap("a"))]);
      await world.kustomization("app", { targetNamespace: undefined });
      await settle(world, "app");
      expect(await cluster.get(configMapRef(elsewhere, "a"), signal)).toBeDefined();
      const clusterRole = { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole", namespace: "" };
      expect(await cluster.get({ ...clusterRole, name: namespace }, signal)).toBeDefined();
      await world.remove("app");
      await world.run("app");
    });

    test("an apply takes over objects of other owners, as in Flux, and a prune leaves them to their other claimant", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { k: "theirs" })]);
      await world.kustomization("first");
      await world.run("first");
      await world.publish("v2", [configMap("a", { k: "ours" })]);
      await world.kustomization("second");
      await world.run("second");
      expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "ours" });
      await world.publish("v3", []);
      await world.run("second");
      expect(await world.get("ConfigMap", "a")).toBeDefined();
    });

    test("a manipulated inventory that lists objects of other owners deletes none of them", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      await world.publish("v1", [configMap("theirs")]);
      await world.kustomization("other");
      await world.run("other");
      const foreign = { ...configMap("foreign"), metadata: { name: "foreign", namespace } };
      await cluster.create(foreign, { manager: "another-client" }, signal);
      await world.publish("v2", []);
      await world.kustomization("app");
      const refs: ObjectRef[] = ["theirs", "foreign"].map((each) => configMapRef(namespace, each));
      const found = await Promise.all(
        refs.map(async (ref) => ({ ref, live: await cluster.get({ ...ref, version: "v1" }, signal) })),
      );
      await world.restoreInventory(
        "app",
        found.map(({ ref, live }) => ({
          id: formatEntryId(ref),
          version: "v1",
          state: "live",
          uid: live?.metadata.uid ?? "",
          desired: "sha256:0",
          fingerprint: "sha256:0",
        })),
      );
      await world.run("app");
      expect(await world.get("ConfigMap", "theirs")).toBeDefined();
      expect(await world.get("ConfigMap", "foreign")).toBeDefined();
    });
  });
}
