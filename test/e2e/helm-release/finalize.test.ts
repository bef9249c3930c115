import { describe, expect, test } from "vitest";
import type { HelmReleaseSpec } from "../../../lib/api/helm-release-spec.ts";
import type { ReleaseSnapshot } from "../../../lib/api/helm-release-status.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { FlowResult } from "../../../lib/core/ports/run.ts";
import { withHelmMarks } from "../../../lib/flows/helm-release/actions/helm-marks.ts";
import { finalizeRelease } from "../../../lib/flows/helm-release/finalize.ts";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { type ActionScene, actionScene } from "./action-scene.ts";

const embedded = fileCluster({ controllers: false });
let scenes = 0;

const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "b" } };

/** A HelmRelease with a deployed release of one object, as its status shows it. */
async function deployed({ finalizers = [] }: { finalizers?: readonly string[] } = {}): Promise<ActionScene> {
  const scene = await actionScene(embedded.cluster, `finalize-${scenes++}`);
  const { namespace } = scene;
  const marked = withHelmMarks(object, { name: "app", namespace });
  await scene.apply({ ...marked, metadata: { ...marked.metadata, finalizers } });
  await scene.put({ objects: [{ manifest: object, template: "app/templates/all.yaml" }] });
  const snapshot: ReleaseSnapshot = {
    ...{ apiVersion: "v2", digest: "sha256:record", name: "app", namespace, version: 1, status: "deployed" },
    ...{ action: "install", chartName: "app", chartVersion: "1.0.0", appVersion: "1.0" },
    ...{
      ociDigest: "sha256:oci",
      configDigest: "sha256:config",
      firstDeployed: "2026-11-24T16:00:00Z",
      lastDeployed: "2026-11-24T16:00:00Z",
    },
  };
  scene.setStatus({ storageNamespace: namespace, history: [snapshot], inventory: { entries: [] } });
  return scene;
}

async function run(scene: ActionScene, spec: Partial<HelmReleaseSpec> = {}, carried?: JsonObject): Promise<FlowResult> {
  const ctx = await scene.context({ spec });
  const names = { name: "app", namespace: scene.namespace };
  return finalizeRelease(ctx, carried, { names, storeOf: () => scene.store });
}

const told = (scene: ActionScene) => scene.events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

describe("the deletion of a HelmRelease", () => {
  test("uninstalls its release, reports that and removes the finalizer", async () => {
    const scene = await deployed();

    expect(await run(scene)).toEqual({ outcome: "deleted", dueInMs: undefined });
    expect(told(scene)).toEqual([
      `Normal UninstallSucceeded: Helm uninstall succeeded for release ${scene.namespace}/app.v1 with chart app@1.0.0`,
    ]);
    expect(scene.events[0]?.annotations).toEqual({
      "helm.toolkit.fluxcd.io/app-version": "1.0",
      "helm.toolkit.fluxcd.io/oci-digest": "sha256:oci",
      "helm.toolkit.fluxcd.io/revision": "1.0.0",
      "helm.toolkit.fluxcd.io/token": "sha256:config",
    });
    expect(await scene.get("ConfigMap", "a")).toBeUndefined();
    expect(scene.releases.all()).toEqual([]);
    expect(scene.status()).not.toHaveProperty("history");
    expect(scene.status()).not.toHaveProperty("storageNamespace");
    expect(await scene.isHeld()).toBe(false);
  });

  test("23/3: while it is suspended the release stays installed", async () => {
    const scene = await deployed();

    expect((await run(scene, { suspend: true })).outcome).toBe("deleted");
    expect(await scene.get("ConfigMap", "a")).toBeDefined();
    expect(scene.releases.all()).toHaveLength(1);
    expect(await scene.isHeld()).toBe(false);
  });

  test("23/60: without its service account the release stays installed", async () => {
    const scene = await deployed();

    expect((await run(scene, { serviceAccountName: "gone" })).outcome).toBe("deleted");
    expect(await scene.get("ConfigMap", "a")).toBeDefined();
    expect(await scene.isHeld()).toBe(false);
  });

  test("23/61: a release that Helm does not find counts as uninstalled", async () => {
    const scene = await deployed();
    const { signal } = (await scene.context()).run;
    await scene.releases.remove(scene.releases.latest(), signal);

    expect((await run(scene)).outcome).toBe("deleted");
    expect(scene.status().conditions?.find(({ type }) => type === "Released")).toMatchObject({
      status: "False",
      reason: "UninstallSucceeded",
      message: `Release ${scene.namespace}/app.v1 was not found, assuming it is uninstalled`,
    });
    expect(told(scene)).toEqual([]);
  });

  test("an object that is not deleted blocks it until the timeout, then it fails once with Flux's text, and the next attempt ends", async () => {
    const scene = await deployed({ finalizers: ["example.test/hold"] });
    const spec = { uninstall: { timeout: "5s" } };
    const first = await run(scene, spec);
    expect(first).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
    expect(scene.status().conditions).toMatchObject([
      { type: "Reconciling", message: "Running 'uninstall' action with timeout of 5s" },
    ]);
    scene.clock.advance(5_000);

    const second = await run(scene, spec, first.carried);
    expect(second).toMatchObject({ outcome: "failed", dueInMs: 750 });
    const message =
      `Helm uninstall failed for release ${scene.namespace}/app.v1 with chart app@1.0.0: uninstallation completed with 1 error(s): ` +
      `ConfigMap/${scene.namespace}/a termination timeout: context deadline exceeded`;
    expect(scene.status()).toMatchObject({
      failures: 1,
      conditions: [
        { type: "Ready", status: "False", reason: "UninstallFailed", message },
        { type: "Released", status: "False", reason: "UninstallFailed", message },
      ],
      history: [{ action: "uninstall", status: "uninstalling", digest: "of a record with sha256:oci" }],
    });
    expect(await scene.isHeld()).toBe(true);
    expect((await run(scene, spec, second.carried)).outcome).toBe("deleted");
    expect(told(scene)).toHaveLength(1);
  });

  test.each([
    { what: "that was created for it is deleted", owner: "app", stays: false },
    { what: "of another HelmRelease stays, whatever the status says", owner: "other", stays: true },
  ])("a HelmChart $what", async ({ owner, stays }) => {
    const scene = await deployed();
    const { namespace } = scene;
    const apiVersion = "source.toolkit.fluxcd.io/v1";
    const labels = { "helm.toolkit.fluxcd.io/name": owner, "helm.toolkit.fluxcd.io/namespace": namespace };
    const spec = { chart: "app", interval: "1h", sourceRef: { kind: "HelmRepository", name: "charts" } };
    await scene.apply({ apiVersion, kind: "HelmChart", metadata: { name: "chart", labels }, spec });
    scene.setStatus({ helmChart: `${namespace}/chart` });
    await run(scene);

    expect((await scene.get("HelmChart", "chart", apiVersion)) !== undefined).toBe(stays);
    expect(scene.status()).not.toHaveProperty("helmChart");
  });

  test("an install that was stopped before the status had a history is uninstalled too", async () => {
    const scene = await deployed();
    const ctx = await scene.context();
    const latest = scene.releases.latest();
    const mark = { owner: ctx.owner.uid, action: "install", generation: 1, token: "t" } as const;
    await scene.releases.update(latest, latest, mark, ctx.run.signal);
    scene.setStatus({ storageNamespace: scene.namespace });

    expect((await run(scene)).outcome).toBe("deleted");
    expect(await scene.get("ConfigMap", "a")).toBeUndefined();
  });

  test("killed before or after any single effect, the next run ends the same", async () => {
    for (let at = 1, isOver = false; !isOver; at++) {
      const scene = await deployed();
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
      expect(await scene.get("ConfigMap", "a")).toBeUndefined();
      expect(await scene.isHeld()).toBe(false);
    }
  });
});
