import { describe, expect, test } from "vitest";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

/** What a Kustomization refers to by names that are empty or that nothing can have, as templates of Helm write them. */
export function referenceStories(name: string, newWorld: () => Promise<World>): void {
  describe(`empty or invalid names on ${name}`, () => {
    test.each([false, true])(
      "an empty namespace counts as unset: the object's own is used (locked: %s)",
      async (isLocked) => {
        const world = await newWorld();
        world.noCrossNamespaceRefs = isLocked;
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("root", {
          targetNamespace: world.namespace,
          commonMetadata: { labels: { of: "root" } },
        });
        await world.kustomization("app", {
          targetNamespace: world.namespace,
          sourceRef: { kind: "OCIRepository", name: "repo", namespace: "" },
          dependsOn: [{ name: "root", namespace: "" }],
        });
        await world.run("app");
        expect(await world.ready("app")).toBe(
          `False DependencyNotReady: dependency '${world.namespace}/root' is not ready`,
        );
        await world.run("root");
        expect(world.requested).toContain("Kustomization/app");
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^True /);
      },
    );

    test.each([
      ["spec.serviceAccount: is a field of former API versions", { serviceAccount: { name: "a", namespace: "b" } }],
      ["spec.sourceRef.name: is empty", { sourceRef: { kind: "OCIRepository", name: "" } }],
      ["spec.sourceRef.name: is not a valid name", { sourceRef: { kind: "OCIRepository", name: "a/b" } }],
      [
        "spec.sourceRef.namespace: is not a valid namespace",
        { sourceRef: { kind: "OCIRepository", name: "repo", namespace: "a/b" } },
      ],
      ["spec.dependsOn[1].name: is empty", { dependsOn: [{ name: "root" }, { name: "" }] }],
      ["spec.healthChecks[0].name: is empty", { healthChecks: [{ kind: "Deployment", name: "" }] }],
      ["spec.healthChecks[0].kind: is empty", { healthChecks: [{ kind: "", name: "web" }] }],
      [
        "spec.healthChecks[0].apiVersion: must be like v1 or apps/v1",
        { healthChecks: [{ apiVersion: "a/b/c", kind: "Deployment", name: "web" }] },
      ],
    ])("%s: is reported once, and not retried", async (fault, spec) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", spec);
      expect(await world.run("app")).toMatchObject({ outcome: "stalled", dueInMs: undefined });
      const said = { reason: "InvalidSpec", message: expect.stringContaining(`is invalid: ${fault}`) };
      expect(await world.status("app")).toMatchObject({
        observedGeneration: 1,
        conditions: [
          { type: "Stalled", status: "True", ...said },
          { type: "Ready", status: "False", ...said },
        ],
      });
      expect(await world.events("app")).toHaveLength(1);
      expect(await world.inventory("app")).toEqual([]);
      expect(world.subscriptionsOf("app")).toEqual([]);
      await world.kustomization("app", { targetNamespace: world.namespace });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True /);
    });

    test("do not prevent the deletion of a Kustomization", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { targetNamespace: world.namespace });
      await world.run("app");
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      const sourceRef = { kind: "OCIRepository", name: "" };
      await world.kustomization("app", { sourceRef, dependsOn: [{ name: "" }] });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled" });
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
    });

    test("health checks that wait overrides are not checked", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      const healthChecks = [{ kind: "", name: "" }];
      await world.kustomization("app", { targetNamespace: world.namespace, wait: true, healthChecks });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True /);
    });

    test.each([
      ["that has an empty name in its own references", { dependsOn: [{ name: "" }] }],
      ["whose spec cannot be parsed", { timeout: "2562048h" }],
    ])("a dependency %s is not ready", async (_, spec) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("root", spec);
      await world.kustomization("app", { dependsOn: [{ name: "root" }] });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
      expect(await world.ready("app")).toBe(
        `False DependencyNotReady: dependency '${world.namespace}/root' is not ready`,
      );
    });
  });
}
