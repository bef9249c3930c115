import { describe, expect, test } from "vitest";
import type { HelmReleaseSpec } from "../../../lib/api/helm-release-spec.ts";
import { formatEntryId } from "../../../lib/apply/set/entry-id.ts";
import { fingerprint } from "../../../lib/apply/set/field-managers.ts";
import { helmReleaseStyle } from "../../../lib/apply/set/owner-style.ts";
import { keyedDigest } from "../../../lib/core/digest.ts";
import { canonicalJson, toJsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";
import { correctDrift, findDrift } from "../../../lib/flows/helm-release/actions/drift.ts";
import { withHelmMarks } from "../../../lib/flows/helm-release/actions/helm-marks.ts";
import type { HelmReleaseContext } from "../../../lib/flows/helm-release/attempt/context.ts";
import { releaseObjects } from "../../../lib/flows/helm-release/actions/release-objects.ts";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { type ActionScene, actionScene } from "./action-scene.ts";

const embedded = fileCluster({ controllers: false });
let scenes = 0;

type Ignore = NonNullable<HelmReleaseSpec["driftDetection"]>["ignore"];

const configMap = (name: string, data: Record<string, string> = { color: "blue" }, labels = {}): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels },
  data,
});

/** A release whose objects are in the cluster as its install has left them. */
async function installed(...objects: readonly Manifest[]): Promise<ActionScene> {
  const scene = await actionScene(embedded.cluster, `drift-${scenes++}`);
  const { namespace } = scene;
  const ctx = await scene.context();
  for (const object of objects) {
    const marked = withHelmMarks(
      { ...object, metadata: { ...object.metadata, namespace } },
      { name: "app", namespace },
    );
    await ctx.target.apply(marked, { manager: "helm-controller", force: true }, ctx.run.signal);
  }
  await scene.put({ objects: objects.map((manifest) => ({ manifest, template: "app/templates/all.yaml" })) });
  scene.forgetWrites();
  return scene;
}

/** A release without values. */
function attempted(ctx: HelmReleaseContext) {
  return { ctx, chart: { bytes: async () => Buffer.alloc(0) }, values: { from: [], inline: {} }, references: [] };
}

async function drift(scene: ActionScene, ignore: Ignore = []) {
  const ctx = await scene.context({ spec: { driftDetection: { mode: "enabled", ignore } } });
  const found = await findDrift(attempted(ctx), scene.releases.latest());
  return { found, ctx, isDrifted: found.isDrifted, lines: found.lines };
}

/** Another writer's change. */
const change = (scene: ActionScene, name: string, body: Manifest | object) =>
  scene.patch("ConfigMap", name, toJsonObject(body));

describe("drift detection of a release", () => {
  test("finds nothing in an unchanged release", async () => {
    const scene = await installed(configMap("a"));

    expect(await drift(scene)).toMatchObject({ isDrifted: false, lines: [] });
  });

  test("costs one metadata list per kind for objects proven unchanged, and a read and a dry run for one that differs", async () => {
    const own = { "helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": `drift-${scenes}` };
    const scene = await installed(configMap("a", {}, own), configMap("b", { color: "blue" }, own));
    const ctx = await scene.context();
    const { installationKey } = ctx.deps;
    const objects = await releaseObjects(scene.releases.latest().observed, ctx);
    const entries = objects.map(async ({ manifest, ref }): Promise<InventoryEntry> => {
      const live = await ctx.target.get(ref, ctx.run.signal);
      const mark = fingerprint(live?.metadata.managedFields, installationKey, helmReleaseStyle);
      const proof = { desired: keyedDigest(installationKey, canonicalJson(manifest)), fingerprint: mark ?? "" };
      return { id: formatEntryId(ref), version: "v1", uid: live?.metadata.uid ?? "", ...proof, state: "live" };
    });
    await ctx.deps.inventories.save(ctx.owner, await Promise.all(entries), ctx.run.fence, ctx.run.signal);
    const calls: string[] = [];
    scene.fault = (call) => {
      if (/^cluster\.(?:apply|get|list|listMetadata)$/.test(call)) calls.push(call);
    };
    const looked = async () => {
      calls.length = 0;
      return (await findDrift(attempted(ctx), scene.releases.latest())).isDrifted;
    };

    expect([await looked(), calls]).toEqual([false, ["cluster.listMetadata"]]);
    await change(scene, "b", { data: { color: "white" } });
    expect([await looked(), calls]).toEqual([true, ["cluster.listMetadata", "cluster.get", "cluster.apply"]]);
    await change(scene, "a", { metadata: { annotations: { "helm.toolkit.fluxcd.io/driftDetection": "disabled" } } });
    const { lines } = await findDrift(attempted(ctx), scene.releases.latest());
    expect(lines[0]).toBe(`ConfigMap/${scene.namespace}/a excluded`);
  });

  test("23/52: in mode warn changes nothing in the cluster", async () => {
    const scene = await installed(configMap("a"));
    await change(scene, "a", { data: { color: "white" } });

    expect((await drift(scene)).isDrifted).toBe(true);
    expect(scene.writes).toEqual([]);
  });

  test("23/53: reports and restores a changed field and a deleted object; additions of other clients stay", async () => {
    const scene = await installed(configMap("a"), configMap("b"));
    const { namespace } = scene;
    await change(scene, "a", { data: { color: "white", extra: "kept" } });
    await scene.remove("ConfigMap", "b");

    const { ctx, found, lines } = await drift(scene);
    expect(lines).toEqual([
      `ConfigMap/${namespace}/a changed (0 additions, 1 changes, 0 removals)`,
      `ConfigMap/${namespace}/b removed`,
    ]);
    expect(await correctDrift(attempted(ctx), scene.releases.latest(), found)).toEqual({
      kind: "corrected",
      lines: [`ConfigMap/${namespace}/b created`, `ConfigMap/${namespace}/a configured`],
    });
    const [a, b] = [await scene.get("ConfigMap", "a"), await scene.get("ConfigMap", "b")];
    expect(a?.["data"]).toEqual({ color: "blue", extra: "kept" });
    expect(b?.["data"]).toEqual({ color: "blue" });
    expect(b?.metadata.annotations).toMatchObject({ "meta.helm.sh/release-name": "app" });
    const entries = (live: typeof a) =>
      live?.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`);
    expect(entries(a)).toContain("helm-controller Update");
    expect(entries(b)).toEqual(["helm-controller Update"]);
    expect(scene.releases.all()).toHaveLength(1);
    expect((await drift(scene)).isDrifted).toBe(false);
  });

  test("23/54: ignores labels and annotations that others add; a chart label that is changed or removed is drift", async () => {
    const scene = await installed(configMap("a", {}, { team: "x", tier: "web" }));
    const { namespace } = scene;
    await change(scene, "a", { metadata: { labels: { extra: "yes" }, annotations: { extra: "yes" } } });
    expect((await drift(scene)).isDrifted).toBe(false);
    await change(scene, "a", { metadata: { labels: { team: "y", tier: null } } });

    expect((await drift(scene)).lines).toEqual([
      `ConfigMap/${namespace}/a changed (1 additions, 1 changes, 0 removals)`,
    ]);
  });

  test("23/54: ignores a label that the manifest no longer has", async () => {
    const scene = await installed(configMap("a", {}, { team: "x", former: "yes" }));
    await scene.put({ version: 2, objects: [{ manifest: configMap("a", {}, { team: "x" }), template: "" }] });

    expect((await drift(scene)).isDrifted).toBe(false);
  });

  test.each([
    { where: "a label", marks: "labels" },
    { where: "an annotation", marks: "annotations" },
  ])("23/55: $where driftDetection: disabled on the live object alone excludes it", async ({ marks }) => {
    const scene = await installed(configMap("a"));
    const excluded = { [marks]: { "helm.toolkit.fluxcd.io/driftDetection": "Disabled" } };
    await change(scene, "a", { metadata: excluded, data: { color: "white" } });

    expect(await drift(scene)).toMatchObject({
      isDrifted: false,
      lines: [`ConfigMap/${scene.namespace}/a excluded`],
    });
  });

  test('23/56: the ignored path "" excludes the whole object, even a deleted one', async () => {
    const scene = await installed(configMap("a"), configMap("b"));
    await scene.remove("ConfigMap", "a");
    await change(scene, "b", { data: { color: "white" } });
    const ignore = [{ paths: [""], target: { kind: "ConfigMap", name: "a|b" } }];

    expect((await drift(scene, ignore)).isDrifted).toBe(false);
  });

  test("keeps an ignored field, also while it corrects another field", async () => {
    const scene = await installed(configMap("a", { color: "blue", size: "1" }));
    await change(scene, "a", { data: { color: "white", size: "2" } });
    const { ctx, found } = await drift(scene, [{ paths: ["/data/size"] }]);
    await correctDrift(attempted(ctx), scene.releases.latest(), found);

    expect((await scene.get("ConfigMap", "a"))?.["data"]).toEqual({ color: "blue", size: "2" });
  });

  test("fails on an object that cannot be compared only if nothing else differs, and creates nothing in a missing namespace", async () => {
    const scene = await installed(configMap("a"));
    const gone: Manifest = { ...configMap("x"), metadata: { name: "x", namespace: "gone" } };
    const objects = [configMap("a"), gone].map((manifest) => ({ manifest, template: "" }));
    await scene.put({ version: 2, objects });

    await expect(drift(scene)).rejects.toThrow(
      /^Could not determine release state: unable to determine cluster state: ConfigMap\/gone\/x not found: namespaces "gone" not found$/,
    );
    await change(scene, "a", { data: { color: "white" } });
    expect((await drift(scene)).lines).toHaveLength(1);
  });

  test("shows no value of a Secret, neither in its drift nor in a correction that fails", async () => {
    const secret: Manifest = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
      data: { key: Buffer.from("hidden").toString("base64") },
    };
    const scene = await installed(secret);
    await scene.patch("Secret", "s", { data: { key: Buffer.from("other").toString("base64") } });
    const { ctx, found, lines } = await drift(scene);
    await scene.patch("Secret", "s", { immutable: true });
    const outcome = await correctDrift(attempted(ctx), scene.releases.latest(), found);

    expect(outcome.kind).toBe("failed");
    const told = JSON.stringify([lines, outcome.kind === "failed" && outcome.errors]);
    for (const text of ["hidden", "other"]) {
      expect(told).not.toContain(text);
      expect(told).not.toContain(Buffer.from(text).toString("base64"));
    }
  });
});
