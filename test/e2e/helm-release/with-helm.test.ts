import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { EngineLimits } from "../../../lib/core/ports/engine.ts";
import type { HookEvent, RenderInput } from "../../../lib/core/ports/helm-engine.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { findDrift } from "../../../lib/flows/helm-release/actions/drift.ts";
import { runHooks } from "../../../lib/flows/helm-release/actions/hooks.ts";
import { releaseObjects } from "../../../lib/flows/helm-release/actions/release-objects.ts";
import { uninstallRelease } from "../../../lib/flows/helm-release/actions/uninstall.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { packed } from "../../unit/sources/helm/charts.ts";
import { actionScene } from "./action-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });

const { signal } = new AbortController();
const limits: EngineLimits = { maxCpuMs: 60_000, maxWallMs: 120_000, maxOutputBytes: 64 * 1024 * 1024 };

const configMap = (name: string, annotations: Readonly<Record<string, string>> = {}) =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, annotations }, data: { color: "blue" } });

/** As the chart of the recorded scenario `helmrelease-hooks`. */
const templates = {
  "templates/configmap.yaml": configMap("app"),
  "templates/b.yaml": configMap("app-b", { "helm.sh/hook": "pre-install,pre-upgrade" }),
  "templates/a.yaml": configMap("app-a", { "helm.sh/hook": "pre-install,pre-upgrade" }),
  "templates/first.yaml": configMap("app-first", { "helm.sh/hook": "pre-install", "helm.sh/hook-weight": "-5" }),
  "templates/last.yaml": configMap("app-last", { "helm.sh/hook": "post-delete" }),
  "templates/farewell.yaml": configMap("app-farewell", {
    "helm.sh/hook": "pre-delete",
    "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
  }),
};

async function renderInput(namespace: string): Promise<RenderInput> {
  const originLabels = { "helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": namespace };
  return {
    tenant: noTenant,
    chart: await packed({ "Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", ...templates }),
    versionSuffix: "",
    values: { from: [], inline: {} },
    release: { name: "app", namespace, revision: 1 },
    action: "install",
    postRender: { renderers: [], originLabels, strategy: "combined" },
    kubeVersion: "v1.35.4",
    apiVersions: ["v1"],
    skipsSchemaValidation: false,
  };
}

const Stored = z.object({ hooks: z.array(z.record(z.string(), z.unknown())) });

describe("a release rendered with Helm's own code", () => {
  test("has the same hook records as in Helm, no drift after it is applied, and is uninstalled completely", async () => {
    const namespace = "with-helm";
    const scene = await actionScene(embedded.cluster, namespace, helm);
    const { bytes } = await helm.render(await renderInput(namespace), async () => undefined, limits, signal);
    const now = "2026-11-24T16:34:29.5Z";
    const change = { status: "pending-install", firstDeployed: now, lastDeployed: now, applyMethod: "ssa" } as const;
    const record = await helm.amend(bytes, change, { tenant: noTenant, ociDigest: "" }, limits, signal);
    await scene.putRecord(record, { owner: "uid", action: "install", generation: 1, token: "t" });
    const ctx = await scene.context();
    const runner = { ctx, store: scene.store, ociDigest: "", releaseNamespace: namespace, healthRules: undefined };
    const run = (event: HookEvent) =>
      runHooks({ ...runner, timeoutMs: 60_000 }, event, scene.releases.latest(), undefined);

    expect((await run("pre-install")).kind).toBe("done");
    for (const { manifest } of await releaseObjects(scene.releases.latest().observed, ctx)) {
      await ctx.target.apply(manifest, { manager: "helm-controller", force: true }, signal);
    }
    expect((await run("post-install")).kind).toBe("done");

    const { hooks } = Stored.parse(JSON.parse(new TextDecoder().decode(scene.releases.latest().bytes)));
    const started = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(hooks).toMatchObject([
      { name: "app-a", last_run: { started_at: started, completed_at: started, phase: "Succeeded" } },
      { name: "app-b", delete_policies: ["before-hook-creation"] },
      { name: "app-farewell", last_run: { phase: "" }, delete_policies: ["before-hook-creation", "hook-succeeded"] },
      { name: "app-first", weight: -5, last_run: { phase: "Succeeded" } },
      { name: "app-last", last_run: { phase: "" } },
    ]);
    expect(hooks[4]).not.toHaveProperty("delete_policies");
    expect(scene.writes).toEqual([
      "created ConfigMap/app-first",
      "created ConfigMap/app-a",
      "created ConfigMap/app-b",
      "created ConfigMap/app",
    ]);
    const attempt = {
      ctx,
      chart: { bytes: async () => Buffer.alloc(0) },
      values: { from: [], inline: {} },
      references: [],
    };
    expect(await findDrift(attempt, scene.releases.latest())).toMatchObject({ isDrifted: false });

    scene.forgetWrites();
    const order = { ctx, store: scene.store, releaseName: "app", releaseNamespace: namespace } as const;
    expect(await uninstallRelease({ ...order, reason: "deletion", healthRules: undefined }, undefined)).toMatchObject({
      kind: "succeeded",
    });
    expect(scene.writes).toEqual([
      "created ConfigMap/app-farewell",
      "deleted ConfigMap/app-farewell",
      "deleted ConfigMap/app",
      "created ConfigMap/app-last",
    ]);
  });
});
