import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { widgetDefinition } from "./widget-definition.ts";
import { configMap, type World } from "./world.ts";

const kustomize = "kustomize.toolkit.fluxcd.io/v1";
const domain = "kustomize.toolkit.fluxcd.io";
const service = (port: number) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "s" },
  spec: { selector: { app: "x" }, ports: [{ port }] },
});

function statusOf(live: LiveObject | undefined): JsonObject {
  const status: unknown = live?.["status"];
  return isJsonObject(status) ? status : {};
}

function kustomizationRef(world: World, name: string) {
  return { group: domain, version: "v1", kind: "Kustomization", namespace: world.namespace, name };
}

async function remove(world: World, name: string): Promise<void> {
  await world.cluster.delete(kustomizationRef(world, name), { propagation: "Background" }, world.signal);
}

/** What a Kustomization does to a cluster, told once and run on the embedded API and on a real control plane. */
export function kustomizationStories(name: string, newWorld: () => Promise<World>): void {
  describe(`a Kustomization on ${name}`, () => {
    describe("life cycle", () => {
      test("the first run adds the finalizer, applies everything and says so (6, 7, 72, 94)", async () => {
        const world = await newWorld();
        const revision = await world.publish("v1", [configMap("a"), service(80)]);
        await world.kustomization("app");
        await world.run("app");

        expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
        const live = await world.get("Kustomization", "app", kustomize);
        expect(live?.metadata.finalizers).toEqual(["finalizers.fluxcd.io"]);
        const status = statusOf(live);
        expect(status).toMatchObject({
          observedGeneration: live?.metadata.generation,
          lastAppliedRevision: revision,
          lastAttemptedRevision: revision,
          inventory: {
            entries: [
              { id: `${world.namespace}_a__ConfigMap`, v: "v1" },
              { id: `${world.namespace}_s__Service`, v: "v1" },
            ],
          },
          history: [
            { lastReconciledStatus: "ReconciliationSucceeded", totalReconciliations: 1, metadata: { revision } },
          ],
        });
        expect(status["conditions"]).toHaveLength(1);
        const applied = await world.get("ConfigMap", "a");
        expect(applied?.metadata.labels).toEqual({
          [`${domain}/name`]: "app",
          [`${domain}/namespace`]: world.namespace,
        });
        expect(applied?.metadata.managedFields).toMatchObject([
          { manager: "kustomize-controller", operation: "Apply" },
        ]);
        expect(await world.events("app")).toEqual([
          `Normal Progressing: ConfigMap/${world.namespace}/a created\nService/${world.namespace}/s created`,
          expect.stringMatching(/^Normal ReconciliationSucceeded: Reconciliation finished in \S+, next run in 10m0s$/),
        ]);
      });

      test("a second run writes to no object: one status write, one event, Ready never leaves True (73, 116)", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a"), service(80)]);
        await world.kustomization("app");
        await world.run("app");
        const before = [await world.get("ConfigMap", "a"), await world.get("Service", "s")];
        const calls: string[] = [];
        world.fault = (call) => void calls.push(call);
        await world.run("app");
        world.fault = () => {};

        const writes = calls.filter((call) => /^cluster\.(apply|create|patch|delete)$/.test(call));
        expect(writes).toEqual(["cluster.patch", "cluster.create"]);
        expect(calls.filter((call) => call === "cluster.listMetadata")).toHaveLength(2);
        expect([await world.get("ConfigMap", "a"), await world.get("Service", "s")]).toEqual(before);
        expect(await world.events("app")).toHaveLength(3);
        expect(statusOf(await world.get("Kustomization", "app", kustomize))["history"]).toMatchObject([
          { totalReconciliations: 2 },
        ]);
      });

      test("suspended: nothing is applied, the request is handled, an object that is Ready is observed (9, 10, 11)", async () => {
        const world = await newWorld();
        const first = await world.publish("v1", [configMap("a")]);
        await world.kustomization("app");
        await world.run("app");
        await world.publish("v2", [configMap("a", { k: "new" })]);
        await world.kustomization("app", { suspend: true });
        const annotations = { "reconcile.fluxcd.io/requestedAt": "now" };
        const body = { metadata: { annotations } };
        await world.cluster.patch(
          kustomizationRef(world, "app"),
          { type: "merge", body },
          { manager: "flux" },
          world.signal,
        );
        expect(await world.run("app")).toMatchObject({ outcome: "suspended", dueInMs: undefined });

        expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v" });
        expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${first}`);
        const live = await world.get("Kustomization", "app", kustomize);
        expect(statusOf(live)).toMatchObject({
          lastHandledReconcileAt: "now",
          observedGeneration: live?.metadata.generation,
        });
      });

      test.each([
        { deletionPolicy: "MirrorPrune", prune: true, stays: false },
        { deletionPolicy: "MirrorPrune", prune: false, stays: true },
        { deletionPolicy: "Delete", prune: false, stays: false },
        { deletionPolicy: "WaitForTermination", prune: false, stays: false },
        { deletionPolicy: "Orphan", prune: true, stays: true },
      ])("deleted with policy $deletionPolicy and prune $prune: its objects stay $stays (118)", async (row) => {
        const world = await newWorld();
        const { stays, ...spec } = row;
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app", spec);
        await world.run("app");
        await remove(world, "app");
        expect(await world.run("app")).toMatchObject({ outcome: "deleted" });

        expect((await world.get("ConfigMap", "a")) !== undefined).toBe(stays);
        expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
        expect(await world.run("app")).toMatchObject({ outcome: "absent" });
      });

      test("deleted while suspended: the objects stay (119)", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app");
        await world.run("app");
        await world.kustomization("app", { suspend: true });
        await remove(world, "app");
        await world.run("app");
        expect(await world.get("ConfigMap", "a")).toBeDefined();
        expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
      });

      test("WaitForTermination gives up after the timeout and says so (120)", async () => {
        const world = await newWorld();
        const finalizers = ["example.com/hold"];
        await world.publish("v1", [configMap("a", { k: "v" }, { finalizers })]);
        await world.kustomization("app", { deletionPolicy: "WaitForTermination", timeout: "30s" });
        await world.run("app");
        await remove(world, "app");
        expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
        world.clock.advance(31_000);
        expect(await world.run("app")).toMatchObject({ outcome: "deleted" });

        expect(await world.events("app")).toContainEqual(
          "Warning ReconciliationSucceeded: failed to wait for resources termination",
        );
        expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
      });

      test("a field that is not built yet is refused by name, never ignored", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app", { serviceAccountName: "tenant" });
        expect(await world.run("app")).toMatchObject({ outcome: "stalled", dueInMs: undefined });
        expect(await world.ready("app")).toMatch(/^False UnsupportedField: spec\.serviceAccountName not supported yet/);
        expect(await world.get("ConfigMap", "a")).toBeUndefined();
      });
    });

    describe("sources and dependencies", () => {
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
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app", { dependsOn: [{ name: "root" }], targetNamespace: world.namespace });
        await world.run("app");
        const id = `${world.namespace}/root`;
        expect(await world.ready("app")).toBe(
          `False DependencyNotReady: dependency '${id}' not found: kustomizations.kustomize.toolkit.fluxcd.io "root" not found`,
        );
        expect(await world.events("app")).toEqual([
          "Normal DependencyNotReady: Dependencies do not meet ready condition, retrying in 30s",
        ]);
        await world.kustomization("root", { namePrefix: "root-" });
        await world.run("app");
        expect(await world.ready("app")).toBe(`False DependencyNotReady: dependency '${id}' is not ready`);
        await world.run("root");
        expect(world.requested).toContain("Kustomization/app");
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^True/);
        await world.publish("v2", [configMap("b")]);
        await world.run("app");
        expect(await world.ready("app")).toBe(
          `False DependencyNotReady: dependency '${id}' revision is not up to date`,
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
    });

    describe("apply", () => {
      test("edits by kubectl are reverted, those of other managers stay (74, 75)", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app");
        await world.run("app");
        const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: world.namespace, name: "a" };
        const edit = (manager: string, data: JsonObject) =>
          world.cluster.patch(ref, { type: "merge", body: { data } }, { manager }, world.signal);
        await edit("kubectl-edit", { k: "changed", added: "by kubectl" });
        await edit("flux-client-side-apply", { kept: "by another" });
        await world.run("app");
        expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v", kept: "by another" });
        expect((await world.events("app")).at(-2)).toBe(
          `Normal Progressing: ConfigMap/${world.namespace}/a configured`,
        );
      });

      test("a value that another manager forced is healed, a deleted object comes back", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a"), configMap("b")]);
        await world.kustomization("app");
        await world.run("app");
        const namespace = world.namespace;
        const forced = { ...configMap("a", { k: "theirs" }), metadata: { name: "a", namespace } };
        await world.cluster.apply(forced, { manager: "somebody", force: true }, world.signal);
        const ref = { group: "", version: "v1", kind: "ConfigMap", namespace, name: "b" };
        await world.cluster.delete(ref, { propagation: "Background" }, world.signal);
        await world.run("app");
        expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v" });
        expect((await world.events("app")).at(-2)).toBe(
          `Normal Progressing: ConfigMap/${namespace}/a configured\nConfigMap/${namespace}/b created`,
        );
      });

      test("IfNotPresent is created once and kept; Ignore is never created (78, 79)", async () => {
        const world = await newWorld();
        const marked = (name: string, value: string, data: Record<string, string>) =>
          configMap(name, data, { annotations: { [`${domain}/ssa`]: value } });
        await world.publish("v1", [marked("once", "IfNotPresent", { k: "1" }), marked("never", "Ignore", { k: "1" })]);
        await world.kustomization("app", { wait: true });
        await world.run("app");
        await world.publish("v2", [marked("once", "IfNotPresent", { k: "2" }), marked("never", "Ignore", { k: "2" })]);
        await world.run("app");
        expect((await world.get("ConfigMap", "once"))?.["data"]).toEqual({ k: "1" });
        expect(await world.get("ConfigMap", "never")).toBeUndefined();
        expect(await world.ready("app")).toMatch(/^True/);
        await world.publish("v3", []);
        await world.run("app");
        expect(await world.get("ConfigMap", "once")).toBeUndefined();
      });

      test("an immutable change fails without force and recreates with it (81)", async () => {
        const world = await newWorld();
        const secret = (value: string) => ({
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "s" },
          immutable: true,
          data: { k: Buffer.from(value).toString("base64") },
        });
        await world.publish("v1", [secret("one")]);
        await world.kustomization("app");
        await world.run("app");
        const first = await world.get("Secret", "s");
        await world.publish("v2", [secret("two")]);
        await world.run("app");
        expect(await world.ready("app")).toMatch(
          /^False ReconciliationFailed: Secret\/.*dry-run failed \(Invalid\).*immutable/s,
        );
        expect((await world.get("Secret", "s"))?.metadata.uid).toBe(first?.metadata.uid);
        await world.kustomization("app", { force: true });
        await world.run("app");
        expect((await world.get("Secret", "s"))?.["data"]).toEqual(secret("two").data);
        expect((await world.get("Secret", "s"))?.metadata.uid).not.toBe(first?.metadata.uid);
        expect(await world.inventory("app")).toMatchObject([{ desired: expect.stringMatching(/^hmac-sha256:/) }]);
      });

      test("force never deletes what its successor could not replace", async () => {
        const world = await newWorld();
        const bad = (port: number, clusterIP: string) => ({
          ...service(port),
          spec: { ...service(port).spec, clusterIP },
        });
        await world.publish("v1", [bad(80, "None")]);
        await world.kustomization("app", { force: true });
        await world.run("app");
        const uid = (await world.get("Service", "s"))?.metadata.uid;
        await world.publish("v2", [bad(800_000, "10.0.0.77")]);
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^False ReconciliationFailed/);
        expect((await world.get("Service", "s"))?.metadata.uid).toBe(uid);
      });

      test("one artifact brings a definition, a namespace and objects of both (83)", async () => {
        const world = await newWorld();
        const group = `${world.namespace}.example.com`;
        const other = `${world.namespace}-other`;
        await world.publish("v1", [
          { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "w", namespace: other }, spec: { size: 1 } },
          { ...configMap("a"), metadata: { name: "a", namespace: other } },
          { apiVersion: "v1", kind: "Namespace", metadata: { name: other } },
          widgetDefinition(group),
        ]);
        await world.kustomization("app", { targetNamespace: undefined });
        for (let runs = 0; runs < 5 && !(await world.ready("app")).startsWith("True"); runs++) await world.run("app");
        expect(await world.ready("app")).toMatch(/^True/);
        const widget = { group, version: "v1", kind: "Widget", namespace: other, name: "w" };
        expect(await world.cluster.get(widget, world.signal)).toMatchObject({ spec: { size: 1 } });
        await remove(world, "app");
        await world.run("app");
        expect(
          await world.cluster.get(
            { group: "", version: "v1", kind: "ConfigMap", namespace: other, name: "a" },
            world.signal,
          ),
        ).toBeUndefined();
      });

      test("what its own definition or namespace has to wait for is checked before anything is written", async () => {
        const world = await newWorld();
        const group = `bad-${world.namespace}.example.com`;
        const other = `${world.namespace}-never`;
        const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: other } };
        const within = (manifest: Manifest) => ({ ...manifest, metadata: { ...manifest.metadata, namespace: other } });
        await world.publish("v1", [
          namespace,
          widgetDefinition(group),
          within({ apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "w" }, spec: { size: "large" } }),
          within(service(800_000)),
        ]);
        await world.kustomization("app", { targetNamespace: undefined });
        await world.run("app");
        const ready = await world.ready("app");
        expect(ready).toContain(`Widget/${other}/w dry-run failed (Invalid): spec.size: must be of type integer\n`);
        expect(ready).toContain(
          `Service/${other}/s dry-run failed (Invalid): Service "s" is invalid: [spec.ports[0].port: `,
        );
        expect(
          await world.cluster.get(
            { group: "", version: "v1", kind: "Namespace", namespace: "", name: other },
            world.signal,
          ),
        ).toBeUndefined();
        expect(await world.cluster.resource({ group, kind: "Widget" }, world.signal)).toBeUndefined();
      });

      test("an object without a namespace is refused (85)", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app", { targetNamespace: undefined });
        await world.run("app");
        expect(await world.ready("app")).toBe(
          "False ReconciliationFailed: ConfigMap/a namespace not specified: the server could not find the requested resource\n",
        );
      });

      test("bad objects fail the revision before anything is written, and all are named at once (86)", async () => {
        const world = await newWorld();
        const first = await world.publish("v1", [configMap("a")]);
        await world.kustomization("app");
        await world.run("app");
        const before = await world.inventory("app");
        await world.publish("v2", [
          configMap("a", { k: "new" }),
          configMap("new"),
          service(800_000),
          { apiVersion: "nowhere.example.com/v1", kind: "Thing", metadata: { name: "t" } },
        ]);
        await world.run("app");
        expect(await world.ready("app")).toContain('no matches for kind "Thing" in version "nowhere.example.com/v1"');
        await world.publish("v3", [configMap("a", { k: "new" }), configMap("new"), service(800_000)]);
        await world.run("app");
        expect(await world.ready("app")).toBe(
          `False ReconciliationFailed: Service/${world.namespace}/s dry-run failed (Invalid): Service "s" is invalid: [spec.ports[0].port: Invalid value: 800000: must be between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 800000: must be between 1 and 65535, inclusive]\n`,
        );
        expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v" });
        expect(await world.get("ConfigMap", "new")).toBeUndefined();
        expect(await world.inventory("app")).toEqual(before);
        const status = statusOf(await world.get("Kustomization", "app", kustomize));
        expect(status).toMatchObject({ lastAppliedRevision: first });
        expect(status["conditions"]).toContainEqual(
          expect.objectContaining({ type: "Reconciling", reason: "ProgressingWithRetry" }),
        );
      });
    });

    describe("prune", () => {
      test("what the artifact no longer holds is deleted after the new is applied (96)", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a"), configMap("b")]);
        await world.kustomization("app");
        await world.run("app");
        await world.publish("v2", [configMap("b"), configMap("c")]);
        await world.run("app");
        expect(await world.get("ConfigMap", "a")).toBeUndefined();
        const { namespace } = world;
        expect((await world.events("app")).slice(2, 4)).toEqual([
          `Normal Progressing: ConfigMap/${namespace}/c created`,
          `Normal Progressing: ConfigMap/${namespace}/a deleted`,
        ]);
        expect((await world.inventory("app")).map(({ id }) => id)).toEqual([
          `${namespace}_b__ConfigMap`,
          `${namespace}_c__ConfigMap`,
        ]);
        expect(world.measured.map(([, measures]) => measures)).toEqual([
          { ObjectsApplied: 2 },
          { ObjectsApplied: 1 },
          { ObjectsPruned: 1 },
        ]);
      });

      test("an empty artifact empties the inventory (39)", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a"), configMap("b")]);
        await world.kustomization("app");
        await world.run("app");
        await world.publish("v2", []);
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^True/);
        expect(statusOf(await world.get("Kustomization", "app", kustomize))["inventory"]).toEqual({ entries: [] });
        expect(await world.get("ConfigMap", "b")).toBeUndefined();
      });

      test.each([
        {
          title: "protected by an annotation (97)",
          body: { metadata: { annotations: { [`${domain}/prune`]: "disabled" } } },
        },
        {
          title: "reconcile disabled on the live object (101)",
          body: { metadata: { labels: { [`${domain}/reconcile`]: "Disabled" } } },
        },
        { title: "labelled as another's (98)", body: { metadata: { labels: { [`${domain}/name`]: "other" } } } },
      ])("an object is kept that is $title", async ({ body }) => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app");
        await world.run("app");
        const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: world.namespace, name: "a" };
        await world.cluster.patch(ref, { type: "merge", body }, { manager: "somebody" }, world.signal);
        await world.publish("v2", []);
        await world.run("app");
        expect(await world.get("ConfigMap", "a")).toBeDefined();
        expect((await world.events("app")).at(-2)).toBe(`Normal Progressing: ConfigMap/${world.namespace}/a skipped`);
        expect(await world.inventory("app")).toEqual([]);
      });

      test("an object that somebody made anew under the name is not ours to delete, even with our labels on it", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app");
        await world.run("app");
        const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: world.namespace, name: "a" };
        const { labels = {} } = (await world.get("ConfigMap", "a"))?.metadata ?? {};
        await world.cluster.delete(ref, { propagation: "Background" }, world.signal);
        const theirs = {
          ...configMap("a", { theirs: "1" }),
          metadata: { name: "a", namespace: world.namespace, labels },
        };
        await world.cluster.create(theirs, { manager: "somebody" }, world.signal);
        await world.publish("v2", []);
        await world.run("app");
        expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ theirs: "1" });
      });

      test("prune: false keeps the object and drops it from the status (100)", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app", { prune: false });
        await world.run("app");
        await world.publish("v2", []);
        await world.run("app");
        expect(await world.get("ConfigMap", "a")).toBeDefined();
        expect(statusOf(await world.get("Kustomization", "app", kustomize))["inventory"]).toEqual({ entries: [] });
        expect(await world.inventory("app")).toMatchObject([{ state: "retained" }]);
        await world.kustomization("app", { prune: true });
        await world.run("app");
        expect(await world.get("ConfigMap", "a")).toBeDefined();
      });

      test("a delete that a finalizer holds succeeds and is told once (99)", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a", { k: "v" }, { finalizers: ["example.com/hold"] })]);
        await world.kustomization("app");
        await world.run("app");
        await world.publish("v2", []);
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^True/);
        expect(await world.inventory("app")).toMatchObject([{ state: "deleting" }]);
        await world.run("app");
        const told = (await world.events("app")).filter((event) => event.includes("deleted"));
        expect(told).toHaveLength(1);
        const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: world.namespace, name: "a" };
        await world.cluster.patch(
          ref,
          { type: "merge", body: { metadata: { finalizers: null } } },
          { manager: "x" },
          world.signal,
        );
        await world.run("app");
        expect(await world.inventory("app")).toEqual([]);
        expect(world.measured.slice(1)).toEqual([[`Kustomization/${world.namespace}/app`, { ObjectsPruned: 1 }]]);
      });

      test("an object that moves to another Kustomization is handed over, never deleted between", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("old");
        await world.run("old");
        const uid = (await world.get("ConfigMap", "a"))?.metadata.uid;
        await world.kustomization("new");
        await world.run("new");
        await world.publish("v2", []);
        const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: world.namespace, name: "a" };
        // As if the labels had not moved yet: the ledger alone must protect it.
        await world.cluster.patch(
          ref,
          { type: "merge", body: { metadata: { labels: { [`${domain}/name`]: "old" } } } },
          { manager: "x" },
          world.signal,
        );
        await world.run("old");
        expect((await world.get("ConfigMap", "a"))?.metadata.uid).toBe(uid);
      });

      test("only a version bump: nothing is pruned, the version is updated (102)", async () => {
        const world = await newWorld();
        const hpa = (version: string) => ({
          apiVersion: `autoscaling/${version}`,
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "h" },
          spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
        });
        await world.publish("v1", [hpa("v1")]);
        await world.kustomization("app");
        await world.run("app");
        await world.publish("v2", [hpa("v2")]);
        await world.run("app");
        const status = statusOf(await world.get("Kustomization", "app", kustomize));
        expect(status["inventory"]).toEqual({
          entries: [{ id: `${world.namespace}_h_autoscaling_HorizontalPodAutoscaler`, v: "v2" }],
        });
        expect((await world.events("app")).join()).not.toContain("deleted");
      });

      test("what Flux applied is adopted from its status and pruned by it", async () => {
        const world = await newWorld();
        const { namespace } = world;
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app");
        const labels = { [`${domain}/name`]: "app", [`${domain}/namespace`]: namespace };
        for (const name of ["a", "b"]) {
          const flux = { ...configMap(name), metadata: { name, namespace, labels } };
          await world.cluster.apply(flux, { manager: "kustomize-controller", force: true }, world.signal);
        }
        const entries = ["a", "b"].map((name) => ({ id: `${namespace}_${name}__ConfigMap`, v: "v1" }));
        const body = { status: { inventory: { entries } } };
        await world.cluster.patch(
          kustomizationRef(world, "app"),
          { type: "merge", body },
          { manager: "flux", subresource: "status" },
          world.signal,
        );
        const before = await world.get("ConfigMap", "a");
        await world.run("app");
        expect(await world.get("ConfigMap", "a")).toEqual(before);
        expect(await world.get("ConfigMap", "b")).toBeUndefined();
      });
    });

    describe("health", () => {
      const check = { apiVersion: "v1", kind: "ConfigMap", name: "does-not-exists" };

      test("a check that never passes times out, and a later pass is told (104, 105, 106, 114, 115)", async () => {
        const world = await newWorld();
        const { namespace } = world;
        const revision = await world.publish("v1", [configMap("a")]);
        const healthChecks = [{ ...check, namespace }];
        await world.kustomization("app", { healthChecks, timeout: "1s" });
        expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 1_000 });
        expect(await world.ready("app")).toBe("Unknown Progressing: Reconciliation in progress");
        expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
        world.clock.advance(30_000);
        expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 600_000 });
        const text = `timeout waiting for: [ConfigMap/${namespace}/does-not-exists status: 'NotFound']`;
        expect(await world.ready("app")).toMatch(/^False HealthCheckFailed: health check failed after 3\d\.?\d*s: /);
        const failed = statusOf(await world.get("Kustomization", "app", kustomize));
        expect(failed["conditions"]).toContainEqual(
          expect.objectContaining({ type: "Healthy", status: "False", message: text }),
        );
        expect(failed["observedGeneration"]).toBe(-1);
        expect(failed["inventory"]).toEqual({ entries: [{ id: `${namespace}_a__ConfigMap`, v: "v1" }] });

        const missing = { ...configMap(check.name), metadata: { name: check.name, namespace } };
        await world.cluster.create(missing, { manager: "x" }, world.signal);
        await world.run("app");
        expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
        const passed = (await world.events("app")).filter((event) => event.includes("Health check passed"));
        expect(passed).toHaveLength(1);
        await world.run("app");
        expect((await world.events("app")).filter((event) => event.includes("Health check passed"))).toHaveLength(1);
        const history = statusOf(await world.get("Kustomization", "app", kustomize))["history"];
        expect(history).toMatchObject([
          { lastReconciledStatus: "ReconciliationSucceeded", totalReconciliations: 2 },
          { lastReconciledStatus: "HealthCheckFailed", totalReconciliations: 1 },
        ]);
        await world.kustomization("app");
        await world.run("app");
        const conditions = statusOf(await world.get("Kustomization", "app", kustomize))["conditions"];
        expect(JSON.stringify(conditions)).not.toContain('"Healthy"');
      });

      test("wait: true checks everything applied (103)", async () => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a"), configMap("b"), service(80)]);
        await world.kustomization("app", { wait: true });
        await world.run("app");
        const conditions = statusOf(await world.get("Kustomization", "app", kustomize))["conditions"];
        expect(conditions).toContainEqual(
          expect.objectContaining({
            type: "Healthy",
            status: "True",
            message: expect.stringMatching(/^Health check passed in /),
          }),
        );
      });
    });

    describe("faults", () => {
      // Each effect is a story of its own: some forty of them, where others have one.
      const timeout = 180_000;

      test("killed before or after any single effect, the next runs end right and nothing is left over", {
        timeout,
      }, async () => {
        const world = await newWorld();
        const { namespace } = world;
        const desired = [configMap("a", { k: "2" }), configMap("c")];
        for (let at = 1, ended = false; !ended; at++) {
          await world.publish(`before-${at}`, [configMap("a", { k: "1" }), configMap("b")]);
          await world.kustomization("app");
          await world.run("app");
          const revision = await world.publish(`after-${at}`, desired);
          let calls = 0;
          world.fault = (call) => {
            if (++calls === at) throw new Error(`killed at ${call}`);
          };
          ended = await world.run("app").then(
            () => true,
            () => false,
          );
          world.fault = () => {};
          await world.run("app");

          expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
          expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "2" });
          expect(await world.get("ConfigMap", "b")).toBeUndefined();
          expect(await world.get("ConfigMap", "c")).toBeDefined();
          expect((await world.inventory("app")).map(({ id, state }) => `${id} ${state}`)).toEqual([
            `${namespace}_a__ConfigMap live`,
            `${namespace}_c__ConfigMap live`,
          ]);
        }
      });

      test("killed before or after any effect of its deletion, it ends with everything gone", { timeout }, async () => {
        const world = await newWorld();
        for (let at = 1, ended = false; !ended; at++) {
          await world.publish(`v${at}`, [configMap("a"), configMap("b")]);
          await world.kustomization("app");
          await world.run("app");
          await remove(world, "app");
          let calls = 0;
          world.fault = (call) => {
            if (++calls === at) throw new Error(`killed at ${call}`);
          };
          ended = await world.run("app").then(
            () => true,
            () => false,
          );
          world.fault = () => {};
          await world.run("app");
          expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
          expect(await world.get("ConfigMap", "a")).toBeUndefined();
          expect(await world.get("ConfigMap", "b")).toBeUndefined();
        }
      });
    });
  });
}
