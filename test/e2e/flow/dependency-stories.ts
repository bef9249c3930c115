import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { maxChain } from "../../../lib/flows/kustomization/check-dependencies.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;

/** What a Kustomization waits for. */
export function dependencyStories(name: string, newWorld: () => Promise<World>): void {
  describe(`what a Kustomization waits for on ${name}`, () => {
    test("a source that is not there, and one without an artifact (15, 16)", async () => {
      const world = await newWorld();
      await world.kustomization("app");
      expect(await world.run("app")).toMatchObject({ dueInMs: 30_000 });
      expect(await world.ready("app")).toBe("False ArtifactFailed: Source artifact not found, retrying in 30s");
      await world.kustomization("lost", { sourceRef: { kind: "OCIRepository", name: "x" } });
      expect(await world.run("lost")).toMatchObject({ dueInMs: 600_000 });
      expect(await world.ready("lost")).toBe(
        'False ArtifactFailed: OCIRepository.source.toolkit.fluxcd.io "x" not found',
      );
      expect(await world.events("lost")).toEqual([]);
    });

    test("dependencies: missing, not ready, on an older revision, ready (27, 28, 29)", async () => {
      const world = await newWorld();
      const revision = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { dependsOn: [{ name: "root" }], targetNamespace: world.namespace });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
      const id = `${world.namespace}/root`;
      expect(await world.ready("app")).toBe(
        `False DependencyNotReady: dependency '${id}' not found: kustomizations.kustomize.toolkit.fluxcd.io "root" not found`,
      );
      expect(await world.events("app")).toEqual([
        "Normal DependencyNotReady: Dependencies do not meet ready condition, retrying in 30s",
      ]);
      const { conditions, ...status } = await world.status("app");
      expect(status).toEqual({ observedGeneration: -1 });
      expect(conditions).toHaveLength(1);
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      await world.kustomization("root", { namePrefix: "root-" });
      await world.run("app");
      expect(await world.ready("app")).toBe(`False DependencyNotReady: dependency '${id}' is not ready`);
      await world.run("root");
      expect(world.requested).toContain("Kustomization/app");
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      await world.publish("v2", [configMap("b")]);
      await world.run("app");
      expect(await world.ready("app")).toBe(`False DependencyNotReady: dependency '${id}' revision is not up to date`);
    });

    test("a dependency whose new generation nobody has looked at is not ready, though it says that it is (28)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("root");
      await world.run("root");
      await world.kustomization("root", { interval: "5m" });
      expect(await world.ready("root")).toMatch(/^True/);
      await world.kustomization("app", { dependsOn: [{ name: "root" }] });
      const notReady = `False DependencyNotReady: dependency '${world.namespace}/root' is not ready`;
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
      expect(await world.ready("app")).toBe(notReady);
      await world.run("root");
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test("a dependency that has failed is not ready, though its generation was looked at (28)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("root");
      await world.run("root");
      const { generation = 0 } = (await world.get("Kustomization", "root", kustomize))?.metadata ?? {};
      const failed = { type: "Ready", status: "False", reason: "PruneFailed", message: "" };
      const conditions = [{ ...failed, lastTransitionTime: "2026-01-01T00:00:00Z" }];
      const status = { observedGeneration: generation, conditions };
      await world.patch("root", { status }, { manager: "test", subresource: "status" });
      await world.kustomization("app", { dependsOn: [{ name: "root" }] });
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False DependencyNotReady: dependency '${world.namespace}/root' is not ready`,
      );
    });

    test("a circle of dependencies, and an object that depends on itself, are named", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("one", { dependsOn: [{ name: "two" }] });
      await world.kustomization("two", { dependsOn: [{ name: "one" }] });
      await world.kustomization("self", { dependsOn: [{ name: "self" }] });
      await world.run("one");
      await world.run("self");
      const at = (name: string) => `${world.namespace}/${name}`;
      expect(await world.ready("one")).toBe(
        `False DependencyNotReady: dependency '${at("two")}' is not ready: circular dependency detected: ${at("one")} -> ${at("two")} -> ${at("one")}`,
      );
      expect(await world.ready("self")).toContain(`circular dependency detected: ${at("self")} -> ${at("self")}`);
    });

    test("a circle is looked for up to a limit of objects", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      const name = (index: number, size: number) => `o${size}-${index % size}`;
      const isNamed = async (size: number) => {
        for (let index = 0; index < size; index++) {
          await world.kustomization(name(index, size), { dependsOn: [{ name: name(index + 1, size) }] });
        }
        await world.run(name(0, size));
        return (await world.ready(name(0, size))).includes("circular dependency detected");
      };
      expect([await isNamed(maxChain - 1), await isNamed(maxChain), await isNamed(maxChain + 1)]).toEqual([
        true,
        true,
        false,
      ]);
    });
  });
}
