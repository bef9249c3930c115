import { describe, expect, test } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { configMap, configMapRef, namespaceNamed } from "./sample-manifests.ts";
import type { World } from "./world.ts";

/** A world whose Kustomizations apply to another cluster than the one that they live in. */
export interface TwoClusters {
  /** With `target` set. */
  readonly world: World;
  readonly target: Cluster;
  /** The paths that each server was asked for since the world began. */
  readonly asked: () => Promise<{ readonly home: readonly string[]; readonly target: readonly string[] }>;
}

const folders = (a: readonly string[], b: readonly string[]) => ({
  folders: { a: a.map((name) => configMap(name)), b: b.map((name) => configMap(name)), c: [configMap("c")] },
});

/** What only the home cluster may be asked for. */
const ofHome = /\/(kustomizations|ocirepositories|events)\b/;
/** What only the target may be asked for. */
const ofTarget = /\/configmaps\b/;

/** Owners live in one cluster and their objects in another. */
export function twoClustersStories(name: string, begin: () => Promise<TwoClusters>): void {
  describe(`a Kustomization that applies to another cluster, on ${name}`, () => {
    test("keeps an object that another Kustomization has too, and prunes it once neither wants it", async () => {
      const { world, target, asked } = await begin();
      const { cluster: home, namespace, signal } = world;
      const there = (object: string) => target.get(configMapRef(namespace, object), signal);
      await target.create(namespaceNamed(namespace), { manager: "test" }, signal);
      // An object of the same name at home is none of ours.
      await home.create(
        { ...configMap("shared", { at: "home" }), metadata: { name: "shared", namespace } },
        { manager: "test" },
        signal,
      );
      const askedOfTest = await asked();

      await world.publish("v1", [], folders(["shared", "a"], ["shared", "b"]));
      await world.kustomization("a", { path: "a" });
      await world.kustomization("b", { path: "b" });
      await world.kustomization("c", { path: "c", dependsOn: [{ name: "b" }], wait: true });
      for (const owner of ["a", "b", "c"]) {
        await world.run(owner);
        expect(await world.ready(owner)).toMatch(/^True ReconciliationSucceeded/);
      }
      expect((await there("shared"))?.["data"]).toEqual({ k: "v" });

      await world.publish("v2", [], folders(["a"], ["shared", "b"]));
      await world.run("a");
      expect(await there("shared")).toBeDefined();
      await world.remove("a");
      await world.run("a");
      expect(await world.get("Kustomization", "a", "kustomize.toolkit.fluxcd.io/v1")).toBe(undefined);
      expect(await there("a")).toBe(undefined);
      expect(await there("shared")).toBeDefined();

      await world.publish("v3", [], folders([], ["b"]));
      await world.run("b");
      expect(await there("shared")).toBe(undefined);
      expect(await there("b")).toBeDefined();

      const { home: atHome, target: atTarget } = await asked();
      expect(atTarget.slice(askedOfTest.target.length).filter((path) => ofHome.test(path))).toEqual([]);
      expect(atHome.slice(askedOfTest.home.length).filter((path) => ofTarget.test(path))).toEqual([]);
      expect((await world.get("ConfigMap", "shared"))?.["data"]).toEqual({ at: "home" });
    });
  });
}
