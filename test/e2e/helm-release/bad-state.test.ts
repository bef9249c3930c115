import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { asTarget } from "../../../lib/core/ports/home-and-target.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { recordLimits } from "../../../lib/flows/helm-release/actions/revise.ts";
import { secretReleaseStore } from "../../../lib/helm/secret-release-store.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { type FlowScene, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;
const { signal } = new AbortController();

const configMap = (color: string, metadata = "") =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a${metadata}}\ndata: {color: ${color}}\n`;
const hook = (event: string) =>
  `apiVersion: batch/v1\nkind: Job\nmetadata: {name: hook, annotations: {helm.sh/hook: "${event}"}}\n` +
  "spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}\n";

async function published(templates: Parameters<FlowScene["publish"]>[0]["templates"]): Promise<FlowScene> {
  const scene = await flowScene(embedded.cluster, `bad-state-${scenes++}`, helm);
  await scene.publish({ version: "1.0.0", templates });
  return scene;
}
const color = async (scene: FlowScene) => (await scene.get("v1", "ConfigMap", "a"))?.["data"];

describe("a release of Helm 2", () => {
  const labels = { NAME: "app", OWNER: "TILLER", STATUS: "DEPLOYED", VERSION: "1" };
  /** Tiller stored releases as protobuf. */
  const protobuf = Buffer.from("0a03617070121c0a0c08", "hex");
  const release = gzipSync(protobuf).toString("base64");

  test.each(["ConfigMap", "Secret"])(
    "in a %s is neither read nor changed: a release of its name is installed",
    async (kind) => {
      const scene = await published({ a: configMap("blue") });
      const data = kind === "Secret" ? { stringData: { release } } : { data: { release } };
      const before = await scene.apply({ apiVersion: "v1", kind, metadata: { name: "app.v1", labels }, ...data });
      await scene.release({});
      await scene.run();
      expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
      expect((await scene.get("v1", kind, "app.v1"))?.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    },
  );

  test("under the name of a Secret of Helm 3 is refused by name, and nothing is written", async () => {
    const scene = await published({ a: configMap("blue") });
    const metadata = {
      name: "sh.helm.release.v1.app.v1",
      labels: { name: "app", owner: "helm", status: "deployed", version: "1" },
    };
    const data = { release: Buffer.from(release).toString("base64") };
    await scene.apply({ apiVersion: "v1", kind: "Secret", metadata, type: "helm.sh/release.v1", data });
    await scene.release({});
    expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: expect.any(Number) });
    expect(await scene.condition("Ready")).toMatch(
      /^False StateError: Secret\/bad-state-\d+\/sh\.helm\.release\.v1\.app\.v1 is not a readable release: .*; restore it from a backup, or delete it/,
    );
    expect(await color(scene)).toBeUndefined();
  });
});

describe("a Secret of values that changes during a run", () => {
  const valuesFrom = [{ kind: "Secret", name: "colors", valuesKey: "a", targetPath: "color" }];
  const set = (scene: FlowScene, a: string) =>
    scene.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "colors" }, stringData: { a } });

  test("counts from the next run on, which it wakes: the run ends with the values that it has read", async () => {
    const scene = await published({ a: configMap("{{ .Values.color }}") });
    await set(scene, "blue");
    await scene.release({ valuesFrom: [...valuesFrom, { ...valuesFrom[0], targetPath: "other" }] });
    scene.fault = async (call) => {
      if (call !== "cluster.create done") return;
      scene.fault = () => {};
      await set(scene, "red");
    };
    await scene.run();
    expect(await color(scene)).toEqual({ color: "blue" });
    expect(scene.subscriptions().some((topic) => topic.includes("colors"))).toBe(true);

    await scene.run();
    expect(await color(scene)).toEqual({ color: "red" });
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
  });

  test("ends the wait for a hook, and the next action uses the changed values", async () => {
    const scene = await published({ a: configMap("{{ .Values.color }}"), hook: hook("pre-install,pre-upgrade") });
    await set(scene, "blue");
    await scene.release({ valuesFrom });
    expect(await scene.run()).toMatchObject({ outcome: "waiting" });
    await set(scene, "red");
    expect(await scene.run()).toMatchObject({ outcome: "waiting" });
    expect(await scene.revisions()).toEqual(["v1 failed", "v2 pending-upgrade"]);
    await scene.settle("hook", "Complete");
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True UpgradeSucceeded/);
    expect(await color(scene)).toEqual({ color: "red" });
  });
});

describe("a namespace that is deleted under a release", () => {
  const withControllers = fileCluster();
  const ref = (name: string) => ({ group: "", version: "v1", kind: "Namespace", namespace: "", name });

  /** Installed into a further namespace, which is then deleted. */
  async function deletedUnder(field: "storageNamespace" | "targetNamespace") {
    const { cluster } = withControllers;
    const scene = await flowScene(cluster, `bad-state-${scenes++}`, helm);
    await scene.publish({ version: "1.0.0", templates: { a: configMap("{{ .Values.color }}") } });
    const other = `${scene.namespace}-other`;
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: other } };
    await cluster.apply(manifest, { manager: "test", force: true }, signal);
    const spec = { [field]: other, releaseName: "app" };
    await scene.release({ ...spec, values: { color: "blue" } });
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
    await cluster.delete(ref(other), { propagation: "Background" }, signal);
    await expect.poll(() => cluster.get(ref(other), signal)).toBeUndefined();
    return { manifest, other, scene, spec };
  }

  test("as its target is named by the next upgrade, and the one after it succeeds once the namespace is back", async () => {
    const { manifest, other, scene, spec } = await deletedUnder("targetNamespace");
    await scene.release({ ...spec, values: { color: "red" } });
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(
      new RegExp(`^False UpgradeFailed: .* Kind=ConfigMap: namespaces "${other}" not found$`),
    );
    await withControllers.cluster.apply(manifest, { manager: "test", force: true }, signal);
    await scene.release({ ...spec, values: { color: "green" } });
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True UpgradeSucceeded/);
  });

  test("as the place of its Secrets is named, and nothing is written", async () => {
    const { other, scene } = await deletedUnder("storageNamespace");
    expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: expect.any(Number) });
    expect(await scene.condition("Ready")).toMatch(
      new RegExp(`: create: failed to create: namespaces "${other}" not found$`),
    );
  });
});

describe("a helm upgrade by hand at the same moment", () => {
  async function byHand(scene: FlowScene, version: number) {
    const { clock, namespace } = scene;
    const names = { name: "app", storageNamespace: namespace };
    const store = secretReleaseStore(names, { clock, cluster: asTarget(embedded.cluster), helm, tenant: noTenant });
    const former = await store.read(1, "", signal);
    if (former === undefined) throw new Error("there is no revision 1");
    const options = { tenant: noTenant, ociDigest: "" };
    const record = await helm.amend(former.bytes, { version, status: "deployed" }, options, recordLimits, signal);
    await store.create(record, undefined, signal);
  }

  test("that is first to store its revision is not overwritten", async () => {
    const scene = await published({ a: configMap("{{ .Values.color }}") });
    await scene.release({ values: { color: "blue" } });
    await scene.run();
    await scene.release({ values: { color: "red" } });
    scene.fault = async (call) => {
      if (call !== "cluster.create") return;
      scene.fault = () => {};
      await byHand(scene, 2);
    };
    expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(await scene.condition("Ready")).toMatch(
      /"sh\.helm\.release\.v1\.app\.v2" already exists; another client has stored it meanwhile: the next run goes on from what it finds$/,
    );
    expect([await scene.revisions(), await color(scene)]).toEqual([["v1 deployed", "v2 deployed"], { color: "blue" }]);

    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 superseded", "v3 deployed"]);
    expect(await color(scene)).toEqual({ color: "red" });
    expect((await scene.status()).upgradeFailures).toBeUndefined();
  });

  test("that writes into the revision of our upgrade is not overwritten: the run ends, and the next one upgrades again", async () => {
    const scene = await published({ a: configMap("{{ .Values.color }}") });
    await scene.release({ values: { color: "blue" } });
    await scene.run();
    await scene.release({ values: { color: "red" } });
    const body = { metadata: { labels: { status: "failed" } } };
    scene.fault = async (call) => {
      if (call !== "cluster.create done") return;
      scene.fault = () => {};
      await scene.patch("v1", "Secret", "sh.helm.release.v1.app.v2", body);
    };
    await expect(scene.run()).rejects.toMatchObject({ reason: "Conflict" });
    expect(await scene.revisions()).toContain("v2 failed");

    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 superseded", "v3 deployed"]);
    expect(await scene.condition("Ready")).toMatch(/^True UpgradeSucceeded/);
  });
});

describe("release Secrets that may not be listed", () => {
  test("leave the state of the release open, in Flux's words and without an event", async () => {
    const scene = await published({ a: configMap("blue") });
    await scene.release({});
    scene.fault = (call) => {
      if (call !== "cluster.listMetadata") return;
      throw new ApiError({ code: 403, reason: "Forbidden", message: "secrets is forbidden" });
    };
    expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    const why =
      "failed to retrieve last release from storage: query: failed to query with labels: secrets is forbidden";
    expect(await scene.condition("Ready")).toBe(`False StateError: Could not determine release state: ${why}`);
    expect(await scene.condition("Reconciling")).toBe("True Progressing: Fulfilling prerequisites");
    expect(await scene.status()).toMatchObject({ lastAttemptedRevision: expect.stringContaining("1.0.0") });
    expect(await scene.told()).toEqual([]);
  });
});
