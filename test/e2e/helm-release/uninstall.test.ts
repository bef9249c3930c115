import { describe, expect, test } from "vitest";
import type { HelmReleaseSpec } from "../../../lib/api/helm-release-spec.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Hook, RenderedObject } from "../../../lib/core/ports/helm-engine.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";
import { objectTopic } from "../../../lib/core/topics.ts";
import { withHelmMarks } from "../../../lib/flows/helm-release/actions/helm-marks.ts";
import { uninstallRelease } from "../../../lib/flows/helm-release/actions/uninstall.ts";
import type { ActionOutcome, ActionWait } from "../../../lib/flows/helm-release/attempt/action.ts";
import { widgetDefinition } from "../../contract/cluster/widget-definition.ts";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { type ActionScene, actionScene, hookOf } from "./action-scene.ts";

const embedded = fileCluster({ controllers: false });
let scenes = 0;

const newScene = () => actionScene(embedded.cluster, `uninstall-${scenes++}`);
const configMap = (name: string, annotations?: Record<string, string>): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
  data: { a: "b" },
});
const rendered = (...manifests: readonly Manifest[]): readonly RenderedObject[] =>
  manifests.map((manifest) => ({ manifest, template: "app/templates/all.yaml" }));

/** Stores a revision with these objects, and applies them as its install has. */
async function installed(
  scene: ActionScene,
  objects: readonly Manifest[],
  { finalizers, hooks = [] }: { readonly finalizers?: readonly string[]; readonly hooks?: readonly Hook[] } = {},
): Promise<void> {
  for (const object of objects) {
    const marked = withHelmMarks(object, { name: "app", namespace: scene.namespace });
    const held = finalizers === undefined ? {} : { finalizers };
    await scene.apply({ ...marked, metadata: { ...marked.metadata, ...held } });
  }
  await scene.put({ objects: rendered(...objects), hooks });
}

async function run(
  scene: ActionScene,
  { spec = {}, wait }: { spec?: Partial<HelmReleaseSpec>; wait?: ActionWait | undefined } = {},
): Promise<ActionOutcome> {
  const ctx = await scene.context({ spec });
  const names = { releaseName: "app", releaseNamespace: scene.namespace };
  return uninstallRelease({ ctx, store: scene.store, ...names, reason: "deletion", healthRules: undefined }, wait);
}

const keep = { "helm.sh/resource-policy": "keep" };

async function save(scene: ActionScene, entries: readonly InventoryEntry[]): Promise<void> {
  const { deps, owner, run: ofScene } = await scene.context();
  await deps.inventories.save(owner, entries, ofScene.fence, ofScene.signal);
}

/** Another owner claims a ConfigMap. */
async function claim(scene: ActionScene, name: string, by: { owner: string; uid: string }): Promise<void> {
  const { deps, owner, run: ofScene } = await scene.context();
  const claimed = { id: `${scene.namespace}_${name}__ConfigMap`, owner: by.owner, ownerUid: by.uid };
  await deps.ledger.claim(owner.clusterUid, [claimed], ofScene.fence, ofScene.signal);
}

/** A Kustomization that shows these as its own; answers its uid. */
async function kustomization(scene: ActionScene, name: string, ids: readonly string[]): Promise<string> {
  const apiVersion = "kustomize.toolkit.fluxcd.io/v1";
  const sourceRef = { kind: "OCIRepository", name: "repo" };
  const spec = { interval: "1h", prune: true, sourceRef };
  const { metadata } = await scene.apply({ apiVersion, kind: "Kustomization", metadata: { name }, spec });
  const ref = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization", name };
  const body = { status: { inventory: { entries: ids.map((id) => ({ id, v: "v1" })) } } };
  await embedded.cluster.patch(
    { ...ref, namespace: scene.namespace },
    { type: "merge", body },
    { manager: "test", subresource: "status" },
    new AbortController().signal,
  );
  return metadata.uid;
}

const statuses = (scene: ActionScene) =>
  scene.releases.all().map(({ version, status, observed }) => `v${version} ${status}: ${observed.description}`);

describe("the uninstall of a release", () => {
  test("wakes the Canary that follows a deleted object", async () => {
    const scene = await newScene();
    const { namespace } = scene;
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } };
    await installed(scene, [service, configMap("other")]);
    const followed = { cluster: "test", group: "", kind: "Service", namespace, name: "s" };
    await scene.subscribe(
      { cluster: "test", group: "flagger.app", kind: "Canary", namespace, name: "web" },
      objectTopic(followed),
    );
    expect(await run(scene)).toMatchObject({ kind: "succeeded" });
    expect(scene.requested).toEqual(["Canary/web"]);
  });

  test("deletes the objects of hooks and manifest in Helm's order, and all revisions", async () => {
    const scene = await newScene();
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } };
    await installed(scene, [configMap("a"), service]);
    await scene.put({
      version: 2,
      objects: rendered(configMap("a"), service),
      hooks: [
        hookOf(configMap("farewell"), { events: ["pre-delete"], deletePolicies: ["hook-succeeded"] }),
        hookOf(configMap("last"), { events: ["post-delete"] }),
      ],
    });

    expect(await run(scene)).toMatchObject({
      kind: "succeeded",
      written: [{ isGone: true, record: { observed: { version: 2, status: "uninstalling" } } }],
    });
    expect(scene.writes).toEqual([
      "created ConfigMap/farewell",
      "deleted ConfigMap/farewell",
      "deleted Service/s",
      "deleted ConfigMap/a",
      "created ConfigMap/last",
    ]);
    expect(scene.releases.all()).toEqual([]);
  });

  test("23/59: waits until its objects are gone, by wake-ups", async () => {
    const scene = await newScene();
    await installed(scene, [configMap("a")], { finalizers: ["example.test/held"] });

    const first = await run(scene);
    expect(first).toMatchObject({ kind: "waiting", wait: { for: "deletion" }, dueInMs: 2_000 });
    expect(statuses(scene)).toEqual(["v1 uninstalling: Deletion in progress (or silently failed)"]);
    await scene.apply({ ...configMap("a"), metadata: { name: "a", finalizers: [] } });

    const wait = first.kind === "waiting" ? first.wait : undefined;
    expect((await run(scene, { wait })).kind).toBe("succeeded");
  });

  test("23/59: with disableWait does not wait for objects with finalizers", async () => {
    const scene = await newScene();
    await installed(scene, [configMap("a")], { finalizers: ["example.test/held"] });

    expect((await run(scene, { spec: { uninstall: { disableWait: true } } })).kind).toBe("succeeded");
    expect(scene.releases.all()).toEqual([]);
  });

  test("fails with Helm's text after its timeout, and the revisions are still deleted", async () => {
    const scene = await newScene();
    await installed(scene, [configMap("a")], { finalizers: ["example.test/held"] });
    const spec = { uninstall: { timeout: "5s" } };
    const first = await run(scene, { spec });
    scene.clock.advance(5_000);

    const wait = first.kind === "waiting" ? first.wait : undefined;
    expect(await run(scene, { spec, wait })).toMatchObject({
      kind: "failed",
      message:
        "uninstallation completed with 1 error(s): " +
        `ConfigMap/${scene.namespace}/a termination timeout: context deadline exceeded`,
      written: [{ isGone: true }],
    });
    expect(scene.releases.all()).toEqual([]);
  });

  test("with a failing pre-delete hook deletes no object, and the next attempt runs the hook again", async () => {
    const scene = await newScene();
    const wrong = { ...configMap("farewell"), unknown: true };
    await installed(scene, [configMap("a")]);
    await scene.put({
      version: 2,
      objects: rendered(configMap("a")),
      hooks: [hookOf(wrong, { events: ["pre-delete"] })],
    });

    for (const _ of ["first", "second"]) {
      const outcome = await run(scene);
      expect(outcome.kind === "failed" && outcome.message).toMatch(/^warning: Hook pre-delete .* failed: server-side/);
    }
    expect(await scene.get("ConfigMap", "a")).toBeDefined();
    expect(scene.releases.latest().mark).toBeUndefined();
  });

  test("with disableHooks runs no hook", async () => {
    const scene = await newScene();
    await scene.put({ hooks: [hookOf(configMap("farewell"), { events: ["pre-delete"] })] });

    expect((await run(scene, { spec: { uninstall: { disableHooks: true } } })).kind).toBe("succeeded");
    expect(scene.writes).toEqual([]);
  });

  test("helm.sh/resource-policy: keep protects an object, in the manifest and on the object in the cluster", async () => {
    const scene = await newScene();
    await installed(scene, [configMap("in-manifest", keep), configMap("in-cluster"), configMap("neither")]);
    const { namespace } = scene;
    const marked = withHelmMarks(configMap("in-cluster", keep), { name: "app", namespace });
    await scene.apply(marked);

    expect((await run(scene)).kind).toBe("succeeded");
    expect(scene.writes).toEqual(["deleted ConfigMap/neither"]);
  });

  test("kustomize.toolkit.fluxcd.io/prune: disabled protects an object too", async () => {
    const scene = await newScene();
    const disabled = { "kustomize.toolkit.fluxcd.io/prune": "disabled" };
    await installed(scene, [configMap("in-manifest", disabled), configMap("in-cluster"), configMap("neither")]);
    await scene.patch("ConfigMap", "in-cluster", { metadata: { annotations: disabled } });

    expect((await run(scene)).kind).toBe("succeeded");
    expect(scene.writes).toEqual(["deleted ConfigMap/neither"]);
  });

  test("keeps an object that was kept when it left the release, even if a later revision has it again", async () => {
    const scene = await newScene();
    await installed(scene, [configMap("a")]);
    await save(scene, [{ id: `${scene.namespace}_a__ConfigMap`, version: "v1", state: "retained" }]);

    expect((await run(scene)).kind).toBe("succeeded");
    expect(scene.writes).toEqual([]);
  });

  test("keeps an object that another client created under the same name, whatever its annotations are", async () => {
    const scene = await newScene();
    await installed(scene, [configMap("a")]);
    await save(scene, [{ id: `${scene.namespace}_a__ConfigMap`, version: "v1", state: "live", uid: "of-the-former" }]);

    expect((await run(scene)).kind).toBe("succeeded");
    expect(scene.writes).toEqual([]);
  });

  test("keeps an object that a living Kustomization claims; the claim of a deleted one does not matter", async () => {
    const scene = await newScene();
    await installed(scene, [configMap("a"), configMap("b")]);
    const uid = await kustomization(scene, "next", []);
    await claim(scene, "a", { owner: `Kustomization/${scene.namespace}/next`, uid });
    await claim(scene, "b", { owner: `Kustomization/${scene.namespace}/gone`, uid: "gone" });

    expect((await run(scene)).kind).toBe("succeeded");
    expect(scene.writes).toEqual(["deleted ConfigMap/b"]);
  });

  test("keeps a namespace with an object of a Kustomization in it, and an event says why", async () => {
    const scene = await newScene();
    const within = `${scene.namespace}-within`;
    await installed(scene, [configMap("a"), { apiVersion: "v1", kind: "Namespace", metadata: { name: within } }]);
    await kustomization(scene, "tenant", [`${within}_db__ConfigMap`]);

    expect((await run(scene)).kind).toBe("succeeded");
    expect(scene.writes).toEqual(["deleted ConfigMap/a"]);
    expect(scene.events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual([
      `Warning PruneFailed: Namespace/${within} not deleted: it would also delete objects that are still wanted: ` +
        `ConfigMap/${within}/db of Kustomization/${scene.namespace}/tenant`,
    ]);
  });

  test("keeps a definition if a Kustomization has objects of it", async () => {
    const scene = await newScene();
    const group = `${scene.namespace}.example.com`;
    await installed(scene, [widgetDefinition(group)]);
    await kustomization(scene, "tenant", [`${scene.namespace}_w_${group}_Widget`]);

    expect((await run(scene)).kind).toBe("succeeded");
    expect(scene.writes).toEqual([]);
    expect(scene.events.map(({ message }) => message)).toEqual([
      `CustomResourceDefinition/widgets.${group} not deleted: it would also delete objects that are still wanted: ` +
        `Widget/${scene.namespace}/w of Kustomization/${scene.namespace}/tenant`,
    ]);
  });

  test("keeps a namespace that contains objects that the uninstall keeps, and deletes it otherwise", async () => {
    const scene = await newScene();
    const [holding, empty] = [`${scene.namespace}-holding`, `${scene.namespace}-empty`];
    const namespaces = [holding, empty].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
    const kept = { ...configMap("kept"), metadata: { name: "kept", namespace: holding, annotations: keep } };
    const other = { ...configMap("other"), metadata: { name: "other", namespace: empty } };
    await installed(scene, [...namespaces, kept, other]);

    expect((await run(scene, { spec: { uninstall: { disableWait: true } } })).kind).toBe("succeeded");
    expect(scene.writes).toEqual(["deleted ConfigMap/other", `deleted Namespace/${empty}`]);
  });

  test("keeps an object that another release has by now", async () => {
    const scene = await newScene();
    await installed(scene, [configMap("a")]);
    await scene.apply(withHelmMarks(configMap("a"), { name: "other", namespace: scene.namespace }));

    expect((await run(scene)).kind).toBe("succeeded");
    expect(scene.writes).toEqual([]);
  });

  test("with keepHistory keeps the last revision as uninstalled and former ones as superseded; a second uninstall finds that", async () => {
    const scene = await newScene();
    await scene.put({});
    await scene.put({ version: 2 });
    const spec = { uninstall: { keepHistory: true } };

    expect((await run(scene, { spec })).kind).toBe("succeeded");
    expect(statuses(scene)).toEqual(["v2 uninstalled: Uninstallation complete", "v1 superseded: Install complete"]);
    expect(await run(scene, { spec })).toMatchObject({
      kind: "failed",
      message: 'the release named "app" is already deleted',
      written: [],
    });
    expect((await run(scene)).kind).toBe("succeeded");
    expect(scene.releases.all()).toEqual([]);
  });

  test("23/61: without a stored revision reports that the release is not found, and deletes the objects in the inventory", async () => {
    const scene = await newScene();
    const { namespace } = scene;
    await scene.apply(withHelmMarks(configMap("left"), { name: "app", namespace }));
    await scene.apply(configMap("of-crds-folder"));
    const ctx = await scene.context();
    const entries = ["left", "of-crds-folder"].map((name) => {
      return { id: `${namespace}_${name}__ConfigMap`, version: "v1", state: "live" } as const;
    });
    await ctx.deps.inventories.save(ctx.owner, entries, ctx.run.fence, ctx.run.signal);

    expect(await run(scene)).toEqual({ kind: "failed", message: "release: not found", log: [], written: [] });
    expect(scene.writes).toEqual(["deleted ConfigMap/left"]);
  });

  test("23/8: deletes objects without a namespace in the release's namespace, whatever the spec says now", async () => {
    const scene = await newScene();
    await installed(scene, [configMap("a")]);

    expect((await run(scene, { spec: { targetNamespace: "elsewhere" } })).kind).toBe("succeeded");
    expect(await scene.get("ConfigMap", "a")).toBeUndefined();
  });

  test("killed before or after any single effect, the next run ends the same and creates no hook twice", async () => {
    for (let at = 1, isOver = false; !isOver; at++) {
      const scene = await newScene();
      const objects = [configMap("a"), configMap("b")];
      const hooks = [
        hookOf(configMap("both"), { events: ["pre-delete", "post-delete"] }),
        hookOf(configMap("last"), { events: ["post-delete"], weight: 1 }),
      ];
      await installed(scene, objects, { hooks });
      await scene.put({ version: 2, objects: rendered(...objects), hooks });
      let calls = 0;
      scene.fault = (call) => {
        if (++calls === at) throw new Error(`killed at ${call}`);
      };
      isOver = await run(scene).then(
        () => true,
        () => false,
      );
      scene.fault = () => {};
      if (!isOver) await run(scene);

      expect(scene.releases.all(), `killed at ${at}`).toEqual([]);
      expect(scene.writes.filter((write) => write.startsWith("created"))).toEqual([
        "created ConfigMap/both",
        "created ConfigMap/both",
        "created ConfigMap/last",
      ]);
      expect(await scene.get("ConfigMap", "a")).toBeUndefined();
      expect(await scene.get("ConfigMap", "b")).toBeUndefined();
    }
  });
});
