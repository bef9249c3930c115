import { describe, expect, test } from "vitest";
import type { HookRun, RecordChange } from "../../../lib/core/ports/helm-engine.ts";
import { asTarget } from "../../../lib/core/ports/home-and-target.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { recordLimits } from "../../../lib/flows/helm-release/actions/revise.ts";
import type { StoredRevision } from "../../../lib/helm/release-store.ts";
import { secretReleaseStore } from "../../../lib/helm/secret-release-store.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { type FlowScene, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const { signal } = new AbortController();
const configMap = (color: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {color: ${color}}\n`;
const testHook = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t, annotations: {helm.sh/hook: test}}\n";

/** A release `app`, installed with the color blue, and what the helm command does to it. */
async function installed() {
  const scene = await flowScene(embedded.cluster, `by-hand-${scenes++}`, helm);
  const { clock, namespace } = scene;
  const names = { name: "app", storageNamespace: namespace };
  const store = secretReleaseStore(names, { clock, cluster: asTarget(embedded.cluster), helm, tenant: noTenant });
  await scene.publish({ version: "1.0.0", templates: { a: configMap("{{ .Values.color }}"), t: testHook } });
  await scene.release({ values: { color: "blue" } });
  await scene.run();
  const read = async (version: number): Promise<StoredRevision> => {
    const stored = await store.read(version, "", signal);
    if (stored === undefined) throw new Error(`there is no revision ${version}`);
    return stored;
  };
  const amended = async (version: number, change: RecordChange) =>
    helm.amend((await read(version)).bytes, change, { tenant: noTenant, ociDigest: "" }, recordLimits, signal);
  return {
    scene,
    read,
    /** A revision changed in place. */
    change: async (version: number, change: RecordChange) => {
      await store.update(await read(version), await amended(version, change), undefined, signal);
    },
    /** A new revision made of an older one. */
    add: async (from: number, change: RecordChange & { readonly version: number }) => {
      await store.create(await amended(from, { status: "deployed", ...change }), undefined, signal);
    },
  };
}

const color = async (scene: FlowScene) => (await scene.get("v1", "ConfigMap", "a"))?.["data"];

describe("manual helm commands on a release", () => {
  test("23/39: an upgrade is detected by its digest, and corrected by an upgrade", async () => {
    const { add, change, scene } = await installed();
    await change(1, { status: "superseded" });
    await add(1, { version: 2, description: "Upgrade complete" });
    await scene.patch("v1", "ConfigMap", "a", { data: { color: "red" } });
    await scene.run();

    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 superseded", "v3 deployed"]);
    expect(await scene.condition("Ready")).toMatch(/^True UpgradeSucceeded: .*app\.v3 /);
    expect(await scene.status()).toMatchObject({ history: [{ version: 3, action: "upgrade" }] });
    expect(await color(scene)).toEqual({ color: "blue" });
  });

  test("23/39: a rollback is detected by its digest, and corrected by an upgrade", async () => {
    const { add, change, scene } = await installed();
    await scene.release({ values: { color: "green" } });
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
    await change(2, { status: "superseded" });
    await add(1, { version: 3, description: "Rollback to 1" });
    await scene.patch("v1", "ConfigMap", "a", { data: { color: "blue" } });
    await scene.run();

    expect((await scene.revisions()).slice(2)).toEqual(["v3 superseded", "v4 deployed"]);
    expect(await color(scene)).toEqual({ color: "green" });
  });

  test("23/40: a test does not change the release", async () => {
    const { change, read, scene } = await installed();
    const told = await scene.told();
    const startedAt = "2026-11-24T16:00:00Z";
    const lastRun: HookRun = { startedAt, completedAt: startedAt, phase: "Failed" };
    await change(1, { hooks: [{ index: 0, lastRun }] });
    expect((await read(1)).observed.hooks).toMatchObject([{ name: "t", lastRun: { phase: "Failed" } }]);
    await scene.run();

    expect(await scene.revisions()).toEqual(["v1 deployed"]);
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
    expect(await scene.told()).toEqual(told);
  });

  test("23/47: a release that was applied client-side is applied server-side with its next upgrade", async () => {
    const { change, read, scene } = await installed();
    await change(1, { applyMethod: "csa" });
    await scene.release({ values: { color: "red" } });
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
    expect((await read(2)).observed.applyMethod).toBe("ssa");
  });
});
