import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomization = (world: World, name: string) => ({
  group: kustomizeGroup,
  version: "v1",
  kind: "Kustomization",
  namespace: world.namespace,
  name,
});

async function uidOf(world: World, kind: string, name: string): Promise<string | undefined> {
  return (await world.get(kind, name))?.metadata.uid;
}

/** Two Kustomizations of one source, each with a folder of its own; an object of one moves to the other. */
async function twoFolders(world: World, more: Readonly<Record<string, readonly Manifest[]>> = {}): Promise<void> {
  await world.publish("v1", [], {
    folders: { a: [configMap("x"), configMap("stale")], b: [configMap("own")], ...more },
  });
  await world.kustomization("a", { path: "a" });
  await world.kustomization("b", { path: "b" });
  await world.run("a");
  await world.run("b");
}

/** One push that takes an object from one Kustomization and gives it to another of the same source. */
export function movingStories(name: string, newWorld: () => Promise<World>): void {
  describe(`an object that one push moves to another Kustomization on ${name}`, () => {
    test("is the same object afterwards if its previous owner runs first, and unwanted objects are pruned", async () => {
      const world = await newWorld();
      await twoFolders(world);
      const before = await uidOf(world, "ConfigMap", "x");
      await world.publish("v2", [], { folders: { a: [], b: [configMap("own"), configMap("x")] } });
      await world.run("a");
      expect(await world.ready("a")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "stale")).toBeUndefined();
      const why = `Kustomization/${world.namespace}/b is about to apply it`;
      expect(world.logged).toContainEqual(
        expect.objectContaining({
          message: "objects not pruned",
          objects: [{ object: `ConfigMap/${world.namespace}/x`, why }],
        }),
      );
      expect((await world.inventory("a")).map(({ id }) => id)).toEqual([`${world.namespace}_x__ConfigMap`]);

      await world.run("b");
      await world.run("a");
      expect(before).toBeDefined();
      expect(await uidOf(world, "ConfigMap", "x")).toBe(before);
      expect(await world.inventory("a")).toEqual([]);
      expect((await world.inventory("b")).map(({ id }) => id)).toContain(`${world.namespace}_x__ConfigMap`);
    });

    test("is the same object also if an edit of both moves it: the other is ready, and at this revision", async () => {
      const world = await newWorld();
      await twoFolders(world, { without: [configMap("stale")], with: [configMap("own"), configMap("x")] });
      const before = await uidOf(world, "ConfigMap", "x");
      await world.kustomization("a", { path: "without" });
      await world.kustomization("b", { path: "with" });
      for (const name of ["a", "b", "a"]) await world.run(name);
      expect(before).toBeDefined();
      expect(await uidOf(world, "ConfigMap", "x")).toBe(before);
      expect((await world.inventory("b")).map(({ id }) => id)).toContain(`${world.namespace}_x__ConfigMap`);
    });

    test("stays while the other cannot apply it, and is pruned when the other no longer wants it", async () => {
      const world = await newWorld();
      await twoFolders(world);
      const bad: Manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "Not A Name" } };
      await world.publish("v2", [], { folders: { a: [], b: [configMap("x"), bad] } });
      await world.run("b");
      expect(await world.ready("b")).toMatch(/^False/);
      await world.run("a");
      expect(await world.ready("a")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "x")).toBeDefined();

      await world.publish("v3", [], { folders: { a: [], b: [bad] } });
      await world.run("a");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
    });

    test("stays while the other waits for a dependency that is the previous owner itself", async () => {
      const world = await newWorld();
      await twoFolders(world);
      const before = await uidOf(world, "ConfigMap", "x");
      await world.kustomization("b", { path: "b", dependsOn: [{ name: "a" }] });
      await world.publish("v2", [], { folders: { a: [], b: [configMap("x")] } });
      await world.run("b");
      expect(await world.ready("b")).toMatch(/^False DependencyNotReady/);
      await world.run("a");
      await world.run("b");
      expect(await world.ready("b")).toMatch(/^True/);
      expect(await uidOf(world, "ConfigMap", "x")).toBe(before);
    });

    test("stays while the other is suspended, also after a failure, and then belongs to the other with the same uid", async () => {
      const world = await newWorld();
      await twoFolders(world);
      const before = await uidOf(world, "ConfigMap", "x");
      const bad: Manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "Not A Name" } };
      await world.publish("v2", [], { folders: { a: [], b: [configMap("x"), bad] } });
      await world.run("b");
      expect(await world.ready("b")).toMatch(/^False/);
      await world.kustomization("b", { path: "b", suspend: true });
      await world.run("b");
      await world.run("a");
      expect(await world.ready("a")).toMatch(/^True/);
      await world.publish("v3", [], { folders: { a: [], b: [configMap("x")] } });
      await world.run("a");
      await world.kustomization("b", { path: "b", suspend: false });
      await world.run("b");
      expect(await world.ready("b")).toMatch(/^True/);
      expect(await uidOf(world, "ConfigMap", "x")).toBe(before);
    });

    test("is pruned if the other is suspended and no longer wants it", async () => {
      const world = await newWorld();
      await twoFolders(world);
      await world.kustomization("b", { path: "b", suspend: true });
      await world.publish("v2", [], { folders: { a: [], b: [configMap("x")] } });
      await world.run("a");
      expect(await world.get("ConfigMap", "x")).toBeDefined();
      await world.publish("v3", [], { folders: { a: [], b: [] } });
      await world.run("a");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
    });

    test.each([
      ["must not decrypt as it asks", { path: "b", decryption: { provider: "sops", serviceAccountName: "x" } }],
      ["has another source", { path: "b", sourceRef: { kind: "OCIRepository", name: "other" } }],
    ])("is pruned if the other %s, because the other then applies nothing", async (_what, spec) => {
      const world = await newWorld();
      await twoFolders(world);
      await world.kustomization("b", spec);
      await world.publish("v2", [], { folders: { a: [], b: [configMap("x")] } });
      await world.run("a");
      expect(await world.ready("a")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
    });

    test("is pruned if the other does not build, because its objects are unknown", async () => {
      const world = await newWorld();
      await twoFolders(world);
      await world.publish("v2", [], { folders: { a: [] } });
      await world.run("a");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
      expect(world.logged).toContainEqual(expect.objectContaining({ other: `Kustomization/${world.namespace}/b` }));
    });

    test("stays in a namespace that leaves the artifact, which is not pruned before the object has left it", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-left`;
      const namespace: Manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: within } };
      const placed = { ...configMap("x"), metadata: { name: "x", namespace: within } };
      await world.publish("v1", [], { folders: { a: [namespace], b: [] } });
      await world.kustomization("a", { path: "a", targetNamespace: undefined });
      await world.kustomization("b", { path: "b", targetNamespace: undefined });
      await world.run("a");
      await world.run("b");
      await world.publish("v2", [], { folders: { a: [], b: [placed] } });
      await world.run("a");
      expect(await world.ready("a")).toContain(
        `Namespace/${within} prune refused: it would also delete objects that are still wanted: ` +
          `ConfigMap/${within}/x of Kustomization/${world.namespace}/b; `,
      );
    });

    test("may be a namespace with all its objects", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-moved`;
      const namespace: Manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: within } };
      const placed = { ...configMap("x"), metadata: { name: "x", namespace: within } };
      await world.publish("v1", [], { folders: { a: [namespace, placed], b: [] } });
      await world.kustomization("a", { path: "a", targetNamespace: undefined });
      await world.kustomization("b", { path: "b", targetNamespace: undefined });
      await world.run("a");
      await world.run("b");
      await world.run("a");
      await world.publish("v2", [], { folders: { a: [], b: [namespace, placed] } });
      await world.run("a");
      expect(await world.ready("a")).toMatch(/^True/);
      await world.run("b");
      await world.run("a");
      expect(await world.ready("b")).toMatch(/^True/);
      const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: within };
      const live = await world.cluster.get(ref, world.signal);
      expect(live).toBeDefined();
      expect(live?.metadata.deletionTimestamp).toBeUndefined();
      expect(await world.inventory("a")).toEqual([]);
    });

    test("stays if its previous owner is deleted, as when a Kustomization is renamed", async () => {
      const world = await newWorld();
      await world.publish("v1", [], { folders: { apps: [configMap("x")] } });
      await world.kustomization("former", { path: "apps" });
      await world.run("former");
      const before = await uidOf(world, "ConfigMap", "x");
      await world.kustomization("latter", { path: "apps" });
      await world.remove("former");
      expect(await world.run("former")).toMatchObject({ outcome: "deleted" });
      expect(await world.events("former")).toContain(
        `Normal HandingOver: ConfigMap/${world.namespace}/x not deleted: Kustomization/${world.namespace}/latter is about to apply it`,
      );
      expect(await world.events("latter")).toEqual([
        `Normal HandingOver: ConfigMap/${world.namespace}/x of Kustomization/${world.namespace}/former, which is deleted, is not deleted ` +
          "with it, since this Kustomization is about to apply it. If it never does, delete it by hand",
      ]);
      await world.run("latter");
      expect(await world.ready("latter")).toMatch(/^True/);
      expect(before).toBeDefined();
      expect(await uidOf(world, "ConfigMap", "x")).toBe(before);
      expect(await world.cluster.get(kustomization(world, "former"), world.signal)).toBeUndefined();
    });

    test("is pruned by its previous owner if the new owner's source cannot be read", async () => {
      const world = await newWorld();
      await twoFolders(world);
      const source = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository", name: "repo" };
      await world.cluster.delete(
        { ...source, namespace: world.namespace },
        { propagation: "Background" },
        world.signal,
      );
      await world.remove("a");
      expect(await world.run("a")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
    });
  });
}
