import { describe, expect, test } from "vitest";
import { kustomizeGroup, ownerLabels } from "../../../lib/api/names.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { World } from "./world.ts";

/** A Secret named `s` whose data can only be changed by recreating it. */
const secret = (value: string, metadata: JsonObject = {}): Manifest => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { ...metadata, name: "s" },
  immutable: true,
  data: { k: Buffer.from(value).toString("base64") },
});

const forced = { force: true, path: "./forced" };

/** The next artifact has this Secret in the folder that the Kustomizations with force apply. */
async function publish(world: World, tag: string, manifest: Manifest): Promise<void> {
  await world.publish(tag, [], { folders: { "./plain": [secret("one")], "./forced": [manifest] } });
}

async function uidOf(world: World): Promise<string | undefined> {
  return (await world.get("Secret", "s"))?.metadata.uid;
}

async function relabel(world: World, labels: JsonObject): Promise<void> {
  const ref = { group: "", version: "v1", kind: "Secret", namespace: world.namespace, name: "s" };
  const body = { metadata: { labels } };
  await world.cluster.patch(ref, { type: "merge", body }, { manager: "another-client" }, world.signal);
}

/** The Secret as another program made it. */
async function foreign(world: World, metadata: JsonObject = {}): Promise<void> {
  const object = secret("theirs", { ...metadata, namespace: world.namespace });
  await world.cluster.apply(object, { manager: "another-client", force: true }, world.signal);
}

const labels = (world: World, name: string) => ownerLabels({ name, namespace: world.namespace });

const refusal = (world: World, why: string) =>
  `False ReconciliationFailed: Secret/${world.namespace}/s immutable field detected, failed to delete object: ${why}; delete it by hand if it is to be recreated\n`;

const notOurs = "it was not applied by this Kustomization and does not carry its labels";

/** Which objects `force` may delete to recreate them. */
export function forceStories(name: string, newWorld: () => Promise<World>): void {
  describe(`with force on ${name}`, () => {
    /** A world in which the Kustomization `first` has the Secret, and a push makes `second` want it otherwise. */
    const contested = async () => {
      const world = await newWorld();
      await publish(world, "v1", secret("one"));
      await world.kustomization("first", { path: "./plain" });
      await world.run("first");
      await publish(world, "v2", secret("two"));
      return { world, uid: await uidOf(world) };
    };

    test("an object with the labels of another Kustomization stays, and the message names it", async () => {
      const { world, uid } = await contested();
      await world.kustomization("second", forced);
      await world.run("second");
      const why = `it belongs to Kustomization/${world.namespace}/first by its labels`;
      expect(await world.ready("second")).toBe(refusal(world, why));
      expect(await uidOf(world)).toBe(uid);
    });

    test("an object that another Kustomization claims stays, whatever its labels are", async () => {
      const { world, uid } = await contested();
      await relabel(world, labels(world, "second"));
      await world.kustomization("second", forced);
      await world.run("second");
      expect(await world.ready("second")).toBe(refusal(world, `Kustomization/${world.namespace}/first claims it too`));
      expect(await uidOf(world)).toBe(uid);
    });

    test("a claim of a deleted Kustomization protects nothing", async () => {
      const { world, uid } = await contested();
      await relabel(world, labels(world, "second"));
      await world.patch("first", { metadata: { finalizers: null } }, { manager: "another-client" });
      await world.remove("first");
      await world.kustomization("second", forced);
      await world.run("second");
      expect(await world.ready("second")).toMatch(/^True/);
      expect(await uidOf(world)).not.toBe(uid);
    });

    test.each([
      { by: "spec.force", spec: forced, metadata: {} },
      {
        by: "an annotation of the manifest",
        spec: { path: "./forced" },
        metadata: { annotations: { [`${kustomizeGroup}/force`]: "enabled" } },
      },
    ])("an object that another program created stays, with force by $by", async ({ spec, metadata }) => {
      const world = await newWorld();
      await foreign(world);
      const uid = await uidOf(world);
      await publish(world, "v1", secret("one", metadata));
      await world.kustomization("app", spec);
      await world.run("app");
      expect(await world.ready("app")).toBe(refusal(world, notOurs));
      expect(await uidOf(world)).toBe(uid);
    });

    test("an object that was always skipped stays, even if the inventory lists it", async () => {
      const world = await newWorld();
      await foreign(world);
      const uid = await uidOf(world);
      await publish(world, "v1", secret("one", { annotations: { [`${kustomizeGroup}/ssa`]: "IfNotPresent" } }));
      await world.kustomization("app", forced);
      await world.run("app");
      expect(await world.inventory("app")).toMatchObject([{ uid }]);
      await publish(world, "v2", secret("one"));
      await world.run("app");
      expect(await world.ready("app")).toBe(refusal(world, notOurs));
      expect(await uidOf(world)).toBe(uid);
    });

    test("an object that lost its labels is recreated if we have applied it", async () => {
      const world = await newWorld();
      await publish(world, "v1", secret("one"));
      await world.kustomization("app", forced);
      await world.run("app");
      const uid = await uidOf(world);
      const gone = Object.keys(labels(world, "app")).map((key) => [key, null] as const);
      await relabel(world, Object.fromEntries(gone));
      await publish(world, "v2", secret("two"));
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await uidOf(world)).not.toBe(uid);
    });

    test("an object that another owner takes over right before the delete stays", async () => {
      const world = await newWorld();
      await publish(world, "v1", secret("one"));
      await world.kustomization("app", forced);
      await world.run("app");
      const uid = await uidOf(world);
      await publish(world, "v2", secret("two"));
      let isTaken = false;
      world.fault = async (call) => {
        if (call !== "cluster.delete" || isTaken) return;
        isTaken = true;
        await relabel(world, labels(world, "thief"));
      };
      await world.run("app");
      expect(isTaken).toBe(true);
      const why = `it belongs to Kustomization/${world.namespace}/thief by its labels`;
      expect(await world.ready("app")).toBe(refusal(world, why));
      expect(await uidOf(world)).toBe(uid);
    });

    test("an ignored field that is immutable is refused, and with force the object is recreated, as in Flux", async () => {
      const world = await newWorld();
      const spec = { path: "./forced", ignore: [{ paths: ["/data/k"] }] };
      await publish(world, "v1", secret("one"));
      await world.kustomization("app", spec);
      await world.run("app");
      const uid = await uidOf(world);
      await publish(world, "v2", secret("two"));
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^False ReconciliationFailed: .*dry-run failed \(Invalid\).*immutable/);
      expect(await uidOf(world)).toBe(uid);
      await world.kustomization("app", { ...spec, force: true });
      await world.run("app");
      expect(await uidOf(world)).not.toBe(uid);
      const data = (await world.get("Secret", "s"))?.["data"];
      expect(data).toMatchObject({ k: Buffer.from("two").toString("base64") });
    });
  });
}
