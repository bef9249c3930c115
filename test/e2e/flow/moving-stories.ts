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

/** Two Kustomizations of one source, each with a folder of its own, and what one has the other is given. */
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
    test("is the same object afterwards, where the giver runs first, and what nobody wants is pruned", async () => {
      const world = await newWorld();
      await twoFolders(world);
      const before = await uidOf(world, "ConfigMap", "x");
      await world.publish("v2", [], { folders: { a: [], b: [configMap("own"), configMap("x")] } });
      await world.run("a");
      expect(await world.ready("a")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "stale")).toBeUndefined();
      const why = `Kustomization/${world.namespace}/b is about to have it`;
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

    test("stays while the other cannot apply it, and goes when that wants it no more", async () => {
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

    test("stays while the other waits for a dependency, the giver itself", async () => {
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

    test("stays while the other is suspended, also after it has failed, and is that one's with the same uid in the end", async () => {
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

    test("goes where the other is suspended and no longer wants it", async () => {
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
      ["asks for what is not supported", { path: "b", decryption: { provider: "sops" } }],
      ["is of another source", { path: "b", sourceRef: { kind: "OCIRepository", name: "other" } }],
    ])("goes where the other %s: that applies nothing", async (_what, spec) => {
      const world = await newWorld();
      await twoFolders(world);
      await world.kustomization("b", spec);
      await world.publish("v2", [], { folders: { a: [], b: [configMap("x")] } });
      await world.run("a");
      expect(await world.ready("a")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
    });

    test("goes where the other does not build: what that wants is not known", async () => {
      const world = await newWorld();
      await twoFolders(world);
      await world.publish("v2", [], { folders: { a: [] } });
      await world.run("a");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
      expect(world.logged).toContainEqual(expect.objectContaining({ other: `Kustomization/${world.namespace}/b` }));
    });

    test("stays in a namespace that leaves, which is refused until it is out of there", async () => {
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
        `Namespace/${within} prune refused: it would take along what is still wanted: ` +
          `ConfigMap/${within}/x of Kustomization/${world.namespace}/b; `,
      );
    });

    test("may be a namespace with all that is in it", async () => {
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

    test("stays where the giver is deleted, as when a Kustomization gets another name", async () => {
      const world = await newWorld();
      await world.publish("v1", [], { folders: { apps: [configMap("x")] } });
      await world.kustomization("former", { path: "apps" });
      await world.run("former");
      const before = await uidOf(world, "ConfigMap", "x");
      await world.kustomization("latter", { path: "apps" });
      await world.remove("former");
      expect(await world.run("former")).toMatchObject({ outcome: "deleted" });
      await world.run("latter");
      expect(await world.ready("latter")).toMatch(/^True/);
      expect(before).toBeDefined();
      expect(await uidOf(world, "ConfigMap", "x")).toBe(before);
      expect(await world.cluster.get(kustomization(world, "former"), world.signal)).toBeUndefined();
    });

    test("goes with the giver where nobody can read the source", async () => {
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
