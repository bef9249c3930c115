import { describe, expect, test } from "vitest";
import { releaseActions } from "../../../lib/flows/helm-release/actions/release-actions.ts";
import { uninstallRelease } from "../../../lib/flows/helm-release/actions/uninstall.ts";
import type { ActionOutcome } from "../../../lib/flows/helm-release/attempt/action.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { type ActionScene, actionScene } from "./action-scene.ts";
import { chartAttempt } from "./chart-attempt.ts";

const helm = fileHelm();
const { signal } = new AbortController();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const group = "kustomize.toolkit.fluxcd.io";
const x = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { of: "chart" } });
const y = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "y" } });

/** A release with `x` and `y`, and a Kustomization `next` that claims `x`. */
async function claimed(): Promise<ActionScene> {
  const scene = await actionScene(embedded.cluster, `other-kind-${scenes++}`, helm);
  const { namespace } = scene;
  const installed = await releaseActions.install(await chartAttempt(scene, helm, { x, y }), undefined);
  expect(installed.kind).toBe("succeeded");
  const spec = { interval: "1h", prune: true, sourceRef: { kind: "OCIRepository", name: "repo" } };
  const next = { apiVersion: `${group}/v1`, kind: "Kustomization", metadata: { name: "next" }, spec };
  const { metadata } = await scene.apply(next);
  const { deps, owner, run } = await scene.context();
  const claim = { id: `${namespace}_x__ConfigMap`, owner: `Kustomization/${namespace}/next`, ownerUid: metadata.uid };
  await deps.ledger.claim(owner.clusterUid, [claim], run.fence, run.signal);
  return scene;
}

/** As the Kustomization applies it. */
async function applied({ namespace }: ActionScene): Promise<void> {
  const labels = { [`${group}/name`]: "next", [`${group}/namespace`]: namespace };
  const manifest = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "x", namespace, labels },
    data: { k: "v" },
  };
  await embedded.cluster.apply(manifest, { manager: "kustomize-controller", force: true }, signal);
}

async function upgradedWithoutX(scene: ActionScene): Promise<ActionOutcome> {
  const attempt = await chartAttempt(scene, helm, { y }, { token: "u" });
  return releaseActions.upgrade(attempt, scene.releases.latest(), undefined);
}

async function uninstalled(scene: ActionScene): Promise<ActionOutcome> {
  const names = { releaseName: "app", releaseNamespace: scene.namespace };
  const order = { ctx: await scene.context(), store: scene.store, ...names, healthRules: undefined };
  return uninstallRelease({ ...order, reason: "deletion" }, undefined);
}

/** What says of an object whose it is. */
async function marksOf(scene: ActionScene) {
  const live = await scene.get("ConfigMap", "x");
  const { annotations, labels, managedFields = [], uid } = live?.metadata ?? {};
  const managers = managedFields.map(({ manager, operation }) => `${manager} ${operation}`);
  return { uid, annotations: annotations ?? {}, labels, managers, data: live?.["data"] };
}

async function claimants(scene: ActionScene): Promise<readonly string[]> {
  const { deps, owner, run } = await scene.context();
  const id = `${scene.namespace}_x__ConfigMap`;
  const claims = await deps.ledger.claims(owner.clusterUid, [id], run.signal);
  return (claims.get(id) ?? []).map((one) => one.owner);
}

async function inventory(scene: ActionScene): Promise<readonly string[]> {
  const { deps, owner, run } = await scene.context();
  return ((await deps.inventories.load(owner, run.fence, run.signal)) ?? []).map(({ id }) => id);
}

describe("an object that moves from a HelmRelease to a Kustomization", () => {
  test.each([
    { what: "with an upgrade", leave: upgradedWithoutX },
    { what: "with the uninstall", leave: uninstalled },
  ])("stays $what, without any label, field or manager of the release", async ({ leave }) => {
    const scene = await claimed();
    const { namespace } = scene;
    await applied(scene);
    const { uid } = await marksOf(scene);

    expect((await leave(scene)).kind).toBe("succeeded");
    expect(await marksOf(scene)).toEqual({
      uid,
      annotations: {},
      labels: { [`${group}/name`]: "next", [`${group}/namespace`]: namespace },
      managers: ["kustomize-controller Apply"],
      data: { k: "v" },
    });
    expect(await claimants(scene)).toEqual([`Kustomization/${namespace}/next`]);
    expect(await inventory(scene)).not.toContain(`${namespace}_x__ConfigMap`);
  });

  test("gets the labels of the Kustomization in place of the release's at once if the Kustomization has not applied it yet", async () => {
    const scene = await claimed();
    const { namespace } = scene;
    const { uid } = await marksOf(scene);

    expect((await upgradedWithoutX(scene)).kind).toBe("succeeded");
    const after = await marksOf(scene);
    expect(after).toMatchObject({
      uid,
      labels: { [`${group}/name`]: "next", [`${group}/namespace`]: namespace },
      data: { of: "chart" },
    });
    expect(Object.keys(after.labels ?? {})).not.toContain("helm.toolkit.fluxcd.io/name");
    expect(await claimants(scene)).toEqual([`Kustomization/${namespace}/next`]);
    expect(await inventory(scene)).toEqual([`${namespace}_y__ConfigMap`]);
  });

  test("is deleted by an upgrade if the Kustomization is deleted", async () => {
    const scene = await claimed();
    await applied(scene);
    const ref = { group, version: "v1", kind: "Kustomization", namespace: scene.namespace, name: "next" };
    await embedded.cluster.delete(ref, { propagation: "Background" }, signal);

    expect((await upgradedWithoutX(scene)).kind).toBe("succeeded");
    expect(await scene.get("ConfigMap", "x")).toBeUndefined();
  });
});
