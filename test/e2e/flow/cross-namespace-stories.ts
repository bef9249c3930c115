import { describe, expect, test } from "vitest";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const repoIn = (namespace: string, kind = "OCIRepository") => ({ sourceRef: { kind, name: "repo", namespace } });

const blocked = (kind: string, namespace: string) =>
  `can't access '${kind}/${namespace}/repo', cross-namespace references have been blocked`;

/** A Kustomization in a namespace of its own, which names the source of the world's namespace. */
async function neighbour(world: World, name: string, path: string): Promise<string> {
  const namespace = `${world.namespace}-neighbour`;
  const { signal, cluster } = world;
  const manager = "test";
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, { manager }, signal);
  const spec = { interval: "10m", prune: true, targetNamespace: world.namespace, path, ...repoIn(world.namespace) };
  const manifest = {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name, namespace },
    spec,
  };
  await cluster.apply(manifest, { manager, force: true }, signal);
  return namespace;
}

/** The setting `no-cross-namespace-refs`: Kustomizations of one tenant do not read the sources of another. */
export function crossNamespaceStories(name: string, newWorld: () => Promise<World>): void {
  const newLocked = async () => {
    const world = await newWorld();
    world.noCrossNamespaceRefs = true;
    return world;
  };

  describe(`sources of other namespaces, which the installation forbids, on ${name}`, () => {
    test.each(["OCIRepository", "GitRepository", "Bucket"])(
      "a Kustomization of a %s in another namespace is stalled, reported once and not retried (17)",
      async (kind) => {
        const world = await newLocked();
        const within = `${world.namespace}-sources`;
        await world.publish("v1", [configMap("a")], { within });
        await world.kustomization("app", repoIn(within, kind));
        expect(await world.run("app")).toMatchObject({ outcome: "stalled", dueInMs: undefined });
        const message = blocked(kind, within);
        const said = { reason: "AccessDenied", message };
        expect(await world.status("app")).toMatchObject({
          observedGeneration: -1,
          conditions: [
            { type: "Stalled", status: "True", ...said },
            { type: "Ready", status: "False", ...said },
          ],
        });
        expect(await world.events("app")).toEqual([`Warning AccessDenied: ${message}`]);
        expect(await world.get("ConfigMap", "a")).toBeUndefined();
        expect(await world.inventory("app")).toEqual([]);
      },
    );

    test("a Kustomization that may not read its source is not woken by it", async () => {
      const world = await newLocked();
      const within = `${world.namespace}-sources`;
      await world.publish("v1", [configMap("a")], { within });
      await world.kustomization("app", { ...repoIn(within), dependsOn: [{ name: "root" }] });
      await world.run("app");
      expect(world.subscriptionsOf("app")).toEqual([]);
    });

    test("objects that it applied before stay, and are deleted with it", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-sources`;
      await world.publish("v1", [configMap("a")], { within });
      await world.kustomization("app", repoIn(within));
      await world.run("app");
      world.noCrossNamespaceRefs = true;
      await world.run("app");
      expect(await world.ready("app")).toBe(`False AccessDenied: ${blocked("OCIRepository", within)}`);
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      expect(await world.inventory("app")).toHaveLength(1);
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
    });

    test("a source of the same namespace may be written with the namespace", async () => {
      const world = await newLocked();
      const revision = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", repoIn(world.namespace));
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
    });

    test("a dependency in another namespace is still waited for (33)", async () => {
      const world = await newLocked();
      await world.publish("v1", [configMap("a")]);
      const namespace = await neighbour(world, "root", ".");
      await world.kustomization("app", { dependsOn: [{ name: "root", namespace }] });
      await world.run("app");
      expect(await world.ready("app")).toBe(`False DependencyNotReady: dependency '${namespace}/root' is not ready`);
    });

    test.each([
      { noCrossNamespaceRefs: false, what: "keeps an object that another Kustomization is about to have", kept: true },
      {
        noCrossNamespaceRefs: true,
        what: "keeps nothing for a Kustomization that may not read the source",
        kept: false,
      },
    ])("a prune $what", async ({ noCrossNamespaceRefs, kept }) => {
      const world = await newWorld();
      world.noCrossNamespaceRefs = noCrossNamespaceRefs;
      await world.publish("v1", [], { folders: { "./own": [configMap("a")], "./theirs": [] } });
      await world.kustomization("app", { path: "./own" });
      await world.run("app");
      await world.publish("v2", [], { folders: { "./own": [], "./theirs": [configMap("a")] } });
      await neighbour(world, "moved", "./theirs");
      await world.run("app");
      expect((await world.get("ConfigMap", "a")) !== undefined).toBe(kept);
    });
  });
}
