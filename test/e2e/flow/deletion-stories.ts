import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { widgetDefinition } from "../../contract/cluster/widget-definition.ts";
import { service } from "./service.ts";
import { configMap, type World } from "./world.ts";

const namespaceNamed = (name: string): Manifest => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const placed = (namespace: string, manifest: Manifest): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, namespace },
});
const widget = (group: string): Manifest => ({ apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "w" } });

/** Runs it until a stage that needs a moment is over. */
async function settle(world: World, name: string): Promise<void> {
  for (let runs = 0; runs < 5 && !(await world.ready(name)).startsWith("True"); runs++) await world.run(name);
  expect(await world.ready(name)).toMatch(/^True/);
}

function clusterWide(world: World, kind: "CustomResourceDefinition" | "Namespace", name: string) {
  const group = kind === "Namespace" ? "" : "apiextensions.k8s.io";
  return world.cluster.get({ group, version: "v1", kind, namespace: "", name }, world.signal);
}

async function isGoing(world: World, namespace: string): Promise<boolean> {
  const live = await clusterWide(world, "Namespace", namespace);
  return live === undefined || live.metadata.deletionTimestamp !== undefined;
}

/** What a prune may take along, and what it may not. */
export function deletionStories(name: string, newWorld: () => Promise<World>): void {
  describe(`what a prune would take along on ${name}`, () => {
    const elsewhere = { targetNamespace: undefined };
    /** What takes things along is gone only when they are. */
    const patient = { timeout: 20_000 };
    const keep = `it would take along what is still wanted: `;
    const mend = `put it back, take that out too, or annotate it with ${kustomizeGroup}/prune: disabled to keep it`;

    test("a namespace that leaves the artifact stays while the artifact has objects in it, and nothing is written", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-within`;
      const contents = ["a", "b", "c", "d", "e"].map((each) => placed(within, configMap(each)));
      await world.publish("v1", [namespaceNamed(within), ...contents]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      const before = await world.inventory("app");
      await world.publish("v2", [...contents, placed(world.namespace, configMap("new"))]);
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 750 });

      const named = ["a", "b", "c"].map((each) => `ConfigMap/${within}/${each}`).join(", ");
      const refusal = `Namespace/${within} prune refused: ${keep}${named} and 2 more; ${mend}\n`;
      expect(await world.ready("app")).toBe(`False ReconciliationFailed: ${refusal}`);
      expect((await world.events("app")).at(-1)).toBe(`Warning ReconciliationFailed: ${refusal}`);
      expect(await isGoing(world, within)).toBe(false);
      expect(await world.get("ConfigMap", "new")).toBeUndefined();
      expect(await world.inventory("app")).toEqual(before);

      await world.publish("v3", [namespaceNamed(within), ...contents]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test("a definition that leaves the artifact stays while the artifact has objects of it", async () => {
      const world = await newWorld();
      const group = `left.${world.namespace}.example.com`;
      await world.publish("v1", [widgetDefinition(group), widget(group)]);
      await world.kustomization("app");
      await settle(world, "app");
      await world.publish("v2", [widget(group)]);
      await world.run("app");
      const refusal = `CustomResourceDefinition/widgets.${group} prune refused: ${keep}Widget/${world.namespace}/w; ${mend}`;
      expect(await world.ready("app")).toBe(`False ReconciliationFailed: ${refusal}\n`);
      expect(await world.get("Widget", "w", `${group}/v1`)).toBeDefined();

      await world.publish("v3", []);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      const gone = () => clusterWide(world, "CustomResourceDefinition", `widgets.${group}`);
      await expect.poll(gone, patient).toBeUndefined();
    });

    test("a namespace goes with all that leaves the artifact together with it", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-whole`;
      await world.publish("v1", [namespaceNamed(within), placed(within, configMap("a"))]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      await world.publish("v2", []);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await isGoing(world, within)).toBe(true);
    });

    test("a namespace that is annotated, or that nothing is to prune, leaves the artifact and stays", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-kept`;
      const contents = placed(within, configMap("a"));
      await world.publish("v1", [namespaceNamed(within), contents]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      await world.publish("v2", [contents]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^False/);
      const body = { metadata: { annotations: { [`${kustomizeGroup}/prune`]: "disabled" } } };
      const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: within };
      await world.cluster.patch(ref, { type: "merge", body }, { manager: "kubectl" }, world.signal);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect((await world.inventory("app")).map(({ id }) => id)).toEqual([`${within}_a__ConfigMap`]);
      expect(await isGoing(world, within)).toBe(false);
    });

    test("a namespace stays while an object is in it that an annotation protects", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-protected`;
      const annotations = { [`${kustomizeGroup}/prune`]: "disabled" };
      const contents = [configMap("data", { k: "v" }, { annotations }), configMap("plain")];
      await world.publish("v1", [namespaceNamed(within), ...contents.map((each) => placed(within, each))]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      await world.publish("v2", []);
      await world.run("app");
      const why = `${kustomizeGroup}/prune: disabled on the object in the cluster`;
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: Namespace/${within} prune refused: ${keep}ConfigMap/${within}/data (${why}); ${mend}\n`,
      );
      expect(await isGoing(world, within)).toBe(false);

      const body = { metadata: { annotations: { [`${kustomizeGroup}/prune`]: null } } };
      const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: within, name: "data" };
      await world.cluster.patch(ref, { type: "merge", body }, { manager: "kubectl" }, world.signal);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await isGoing(world, within)).toBe(true);
    });

    test("a namespace stays while an object is in it that carries our labels no more", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-released`;
      await world.publish("v1", [namespaceNamed(within), placed(within, configMap("data"))]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      const body = { metadata: { labels: { [`${kustomizeGroup}/name`]: null } } };
      const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: within, name: "data" };
      await world.cluster.patch(ref, { type: "merge", body }, { manager: "kubectl" }, world.signal);
      await world.publish("v2", []);
      await world.run("app");
      expect(await world.ready("app")).toContain(`ConfigMap/${within}/data (its owner labels name another owner)`);
      expect(await isGoing(world, within)).toBe(false);
    });

    test("a namespace stays while an object is in it that prune: false has kept", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-retained`;
      await world.publish("v1", [namespaceNamed(within), placed(within, configMap("data"))]);
      await world.kustomization("app", { ...elsewhere, prune: false });
      await settle(world, "app");
      await world.publish("v2", [namespaceNamed(within)]);
      await world.run("app");
      await world.kustomization("app", { ...elsewhere, prune: true });
      await world.publish("v3", []);
      await world.run("app");
      expect(await world.ready("app")).toContain(`ConfigMap/${within}/data (kept by prune: false); `);
      expect(await isGoing(world, within)).toBe(false);

      const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: within, name: "data" };
      await world.cluster.delete(ref, { propagation: "Background" }, world.signal);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await isGoing(world, within)).toBe(true);
    });

    test("a namespace that moves to another Kustomization is handed over, what stays behind in the first stays", async () => {
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
        `False ReconciliationFailed: Namespace/${within} prune refused: ${keep}${theirs}; ${mend}\n`,
      );
      await world.remove("tenant");
      await world.run("platform");
      expect(await world.ready("platform")).toMatch(/^True/);
      expect(await world.run("tenant")).toMatchObject({ outcome: "deleted" });
    });

    test("a namespace stays in which another Kustomization puts something while the rest is applied", async () => {
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
      expect(await world.ready("platform")).toBe(
        `False PruneFailed: Namespace/${within} prune refused: ${keep}${theirs}; ${mend}\n`,
      );
      expect(await world.events("platform")).toContain(`Normal Progressing: ConfigMap/${world.namespace}/a created`);
      expect(world.remembered.at(-1)).toMatchObject({ outcome: "PruneFailed", created: 1 });
      const entries = [`${world.namespace}_a__ConfigMap`, `_${within}__Namespace`].map((id) => ({ id, v: "v1" }));
      expect((await world.status("platform"))["inventory"]).toEqual({ entries });
      expect(await isGoing(world, within)).toBe(false);
    });

    test("a namespace stays while an object is in it of another Kustomization whose apply has failed", async () => {
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
      expect(await world.ready("platform")).toContain(`Namespace/${within} prune refused: ${keep}${theirs}; ${mend}`);
      expect(await isGoing(world, within)).toBe(false);
    });

    test("a definition stays while another Kustomization has objects of it, until that one wants them no more", async () => {
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
      expect(await world.ready("platform")).toContain(`widgets.${group} prune refused: ${keep}${theirs}; ${mend}`);
      expect(await world.get("Widget", "w", `${group}/v1`)).toBeDefined();
      await world.run("tenant");
      await world.run("platform");
      expect(await world.ready("platform")).toMatch(/^True/);
    });

    test("a namespace stays while a Kustomization has objects in it that has moved to another parent", async () => {
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
      expect(await world.ready("old")).toContain(`Namespace/${within} prune refused: ${keep}${theirs}; `);
      expect(await isGoing(world, within)).toBe(false);
      expect((await world.get("Kustomization", "child", `${kustomizeGroup}/v1`))?.metadata.deletionTimestamp).toBe(
        undefined,
      );
    });

    test("a namespace stays that another Kustomization shows as its own, as Flux does without a claim of ours", async () => {
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
      expect(await world.ready("platform")).toContain(`Namespace/${within} prune refused: ${keep}${theirs}; `);
      expect(await isGoing(world, within)).toBe(false);
      await world.remove("flux");
      await world.run("platform");
      expect(await world.ready("platform")).toMatch(/^True/);
    });

    test("a namespace in which a Kustomization lives stays, its own as well, and goes where both leave together", async () => {
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
        `Namespace/${world.namespace} prune refused: ${keep}Kustomization/${world.namespace}/app; `,
      );
      await world.publish("v3", [namespaceNamed(world.namespace)]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await isGoing(world, within)).toBe(true);
    });

    test("deleting the Kustomization itself takes its namespaces and what is in them, as before", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-last`;
      await world.publish("v1", [namespaceNamed(within), placed(within, configMap("a"))]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: within, name: "a" };
      await expect.poll(() => world.cluster.get(ref, world.signal), patient).toBeUndefined();
    });
  });
}
