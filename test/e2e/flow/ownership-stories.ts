import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { configMap, configMapRef } from "./sample-manifests.ts";
import type { World } from "./world.ts";

/** Another client changes the ConfigMap `a`. */
async function edit(world: World, body: JsonObject, manager = "another-client"): Promise<void> {
  const ref = configMapRef(world.namespace, "a");
  await world.cluster.patch(ref, { type: "merge", body }, { manager }, world.signal);
}

async function dataOf(world: World): Promise<unknown> {
  return (await world.get("ConfigMap", "a"))?.["data"];
}

/** What labels, annotations and the API server keep a Kustomization from. */
export function ownershipStories(name: string, newWorld: () => Promise<World>): void {
  describe(`the limits of a Kustomization on ${name}`, () => {
    test("ssa Merge keeps what kubectl adds, and enforces the manifest (77)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { k: "v" }, { annotations: { [`${kustomizeGroup}/ssa`]: "Merge" } })]);
      await world.kustomization("app");
      await world.run("app");
      await edit(world, { data: { k: "changed", added: "by kubectl" } }, "kubectl-edit");
      await world.run("app");
      expect(await dataOf(world)).toEqual({ k: "v", added: "by kubectl" });
    });

    test("drift of an object with reconciliation disabled is kept until it is enabled again (80)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const annotated = (value: string) => ({ metadata: { annotations: { [`${kustomizeGroup}/reconcile`]: value } } });
      await edit(world, { ...annotated("disabled"), data: { k: "drifted" } });
      await world.run("app");
      expect(await dataOf(world)).toEqual({ k: "drifted" });
      expect(await world.ready("app")).toMatch(/^True/);
      await edit(world, annotated("enabled"));
      await world.run("app");
      expect(await dataOf(world)).toEqual({ k: "v" });
    });

    test("skipped objects are logged with the reason, in a line for each apply and each prune", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const marked = (name: string, key: string, value: string) =>
        configMap(name, { k: "v" }, { annotations: { [`${kustomizeGroup}/${key}`]: value } });
      const kept = [marked("once", "ssa", "IfNotPresent"), marked("never", "ssa", "ignore")];
      await world.publish("v1", [...kept, configMap("a"), marked("stays", "prune", "Disabled")]);
      await world.kustomization("app");
      await world.run("app");
      await edit(world, { metadata: { annotations: { [`${kustomizeGroup}/reconcile`]: "disabled" } } });
      await world.publish("v2", [...kept, configMap("a")]);
      const before = world.logged.length;
      await world.run("app");
      const name = (object: string) => `ConfigMap/${namespace}/${object}`;
      expect(
        world.logged.slice(before).filter(({ message }) => String(message).startsWith("objects not")),
      ).toMatchObject([
        {
          message: "objects not applied",
          name: "app",
          count: 3,
          objects: [
            { object: name("a"), why: `${kustomizeGroup}/reconcile: disabled on the object in the cluster` },
            { object: name("never"), why: `${kustomizeGroup}/ssa: Ignore in the manifest` },
            { object: name("once"), why: `${kustomizeGroup}/ssa: IfNotPresent in the manifest` },
          ],
        },
        {
          message: "objects not pruned",
          count: 1,
          objects: [{ object: name("stays"), why: `${kustomizeGroup}/prune: disabled on the object in the cluster` }],
        },
      ]);
    });

    test.each(["labels", "annotations"])(
      "objects that their %s protect from prune stay when the Kustomization is deleted (97)",
      async (place) => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a"), configMap("b")]);
        await world.kustomization("app");
        await world.run("app");
        await edit(world, { metadata: { [place]: { [`${kustomizeGroup}/prune`]: "disabled" } } });
        const { namespace } = world;
        await world.remove("app");
        expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
        expect(await dataOf(world)).toEqual({ k: "v" });
        expect(await world.get("ConfigMap", "b")).toBeUndefined();
        expect((await world.events("app")).slice(2, 3)).toEqual([
          `Normal ReconciliationSucceeded: ConfigMap/${namespace}/b deleted\nConfigMap/${namespace}/a skipped`,
        ]);
      },
    );

    test("a refused delete fails the run, and a later run retries it (99)", async () => {
      const world = await newWorld();
      const { namespace } = world;
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app");
      await world.run("app");
      await world.publish("v2", [configMap("b")]);
      world.fault = (call) => {
        if (call !== "cluster.delete") return;
        throw new ApiError({ code: 403, reason: "Forbidden", message: "admission webhook denied the request" });
      };
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 600_000 });
      const message = `delete failed, errors: ConfigMap/${namespace}/a delete failed: admission webhook denied the request;`;
      expect(await world.ready("app")).toBe(`False PruneFailed: ${message}`);
      expect((await world.events("app")).at(-1)).toBe(`Warning PruneFailed: ${message}`);
      // As in Flux's status, wanted objects come first, and then those that could not be deleted.
      const ids = [`${namespace}_b__ConfigMap`, `${namespace}_a__ConfigMap`];
      expect((await world.inventory("app")).map(({ id }) => id)).toEqual(ids);
      expect((await world.status("app"))["inventory"]).toEqual({ entries: ids.map((id) => ({ id, v: "v1" })) });
      expect(await world.status("app")).toMatchObject({ history: [{ lastReconciledStatus: "PruneFailed" }, {}] });

      world.fault = () => {};
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect((await world.inventory("app")).map(({ id }) => id)).toEqual([`${namespace}_b__ConfigMap`]);
    });

    const shared = async (spec = {}) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      for (const name of ["first", "second"]) {
        await world.kustomization(name, spec);
        await world.run(name);
      }
      return world;
    };

    test("an object of two owners belongs to the other when one is deleted, and is deleted with the other", async () => {
      const world = await shared();
      await world.remove("second");
      await world.run("second");
      expect(await dataOf(world)).toEqual({ k: "v" });
      expect(world.requested.at(-1)).toBe("Kustomization/first");
      await world.run("first");
      const labels = (await world.get("ConfigMap", "a"))?.metadata.labels;
      expect(labels).toMatchObject({ [`${kustomizeGroup}/name`]: "first" });
      await world.remove("first");
      await world.run("first");
      expect(await dataOf(world)).toBeUndefined();
    });

    test.each([
      ["first", "second"],
      ["second", "first"],
    ])("an object of two owners is deleted if both are deleted at once and %s ends before %s", async (one, other) => {
      const world = await shared();
      await world.remove(one);
      await world.remove(other);
      await world.run(one);
      await world.run(other);
      expect(await dataOf(world)).toBeUndefined();
    });

    test("an object of two owners, one of which orphans its objects, stays even if both are deleted", async () => {
      const world = await shared({ deletionPolicy: "Orphan" });
      await world.kustomization("second", { deletionPolicy: "Delete" });
      await world.remove("first");
      await world.remove("second");
      await world.run("second");
      await world.run("first");
      expect(await dataOf(world)).toEqual({ k: "v" });
    });
  });
}
