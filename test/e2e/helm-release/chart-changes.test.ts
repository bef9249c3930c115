import { describe, expect, test } from "vitest";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { type FlowScene, type FlowSceneOptions, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const newScene = (options?: FlowSceneOptions) =>
  flowScene(embedded.cluster, `chart-changes-${scenes++}`, helm, options);
const sources = "source.toolkit.fluxcd.io/v1";
const configMap = (color: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {color: ${color}}\n`;
const chart = (version: string, color = "blue") => ({ version, templates: { a: configMap(color) } });
const uninstalls = async (scene: FlowScene) => (await scene.told()).filter((text) => text.includes("Uninstall"));

describe("spec.chart that becomes spec.chartRef", () => {
  const template = { spec: { chart: "app", sourceRef: { kind: "HelmRepository", name: "charts" } } };

  /** Installed from the HelmChart that its flow has made. */
  async function installed(): Promise<FlowScene> {
    const scene = await newScene();
    const made = { kind: "HelmChart", name: `${scene.namespace}-app` } as const;
    await scene.release({ chart: template });
    await scene.run();
    expect(await scene.status()).toMatchObject({ helmChart: `${scene.namespace}/${made.name}` });
    await scene.publish(chart("1.0.0"), made);
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 deployed"]);
    return scene;
  }

  const isMade = async (scene: FlowScene) =>
    (await scene.get(sources, "HelmChart", `${scene.namespace}-app`)) !== undefined;

  test("23/7: deletes the HelmChart, and neither installs nor upgrades if the chart version is the same", async () => {
    const scene = await installed();
    expect(await isMade(scene)).toBe(true);
    await scene.publish(chart("1.0.0"), { kind: "HelmChart", name: "own" });
    await scene.release({ chartRef: { kind: "HelmChart", name: "own" } });
    await scene.run();

    expect(await isMade(scene)).toBe(false);
    expect((await scene.status()).helmChart).toBeUndefined();
    expect(await scene.revisions()).toEqual(["v1 deployed"]);
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
  });

  test.each([
    { what: "another version", version: "1.1.0", kind: "HelmChart" },
    { what: "an OCIRepository, which has its digest in the version", version: "1.0.0", kind: "OCIRepository" },
  ] as const)("23/7: upgrades in place for $what", async ({ kind, version }) => {
    const scene = await installed();
    await scene.publish(chart(version), { kind, name: "own" });
    await scene.release({ chartRef: { kind, name: "own" } });
    await scene.run();

    expect(await isMade(scene)).toBe(false);
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
    expect(await uninstalls(scene)).toEqual([]);
  });
});

describe("a chart with another name", () => {
  test("23/9: is installed once the former release is uninstalled", async () => {
    const scene = await newScene();
    await scene.publish(chart("1.0.0"));
    await scene.release({});
    await scene.run();
    await scene.publish({ ...chart("1.0.0", "red"), name: "other" });
    expect(await scene.run()).toMatchObject({ dueInMs: 0 });
    expect(await scene.revisions()).toEqual([]);
    expect(await scene.get("v1", "ConfigMap", "a")).toBeUndefined();

    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 deployed"]);
    expect(await scene.status()).toMatchObject({ history: [{ chartName: "other", version: 1, action: "install" }] });
    expect(await uninstalls(scene)).toHaveLength(1);
  });

  test("23/9: upgrades in place with InPlaceUpdate", async () => {
    const scene = await newScene();
    await scene.publish(chart("1.0.0"));
    const spec = { upgrade: { chartNameChangeStrategy: "InPlaceUpdate" } };
    await scene.release(spec);
    await scene.run();
    await scene.publish({ ...chart("1.0.0", "red"), name: "other" });
    await scene.run();

    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
    expect(await uninstalls(scene)).toEqual([]);
    expect(await scene.get("v1", "ConfigMap", "a")).toMatchObject({ data: { color: "red" } });
  });
});

describe("the chart of an OCIRepository", () => {
  test("23/19: has 12 digits of the digest in its version, and the full digest in the status", async () => {
    const scene = await newScene();
    const { digest } = await scene.publish(chart("1.4.2"));
    await scene.release({});
    await scene.run();
    const version = `1.4.2+${digest.slice("sha256:".length, "sha256:".length + 12)}`;
    expect(await scene.status()).toMatchObject({
      lastAttemptedRevision: version,
      lastAttemptedRevisionDigest: digest,
      history: [{ chartVersion: version, ociDigest: digest }],
    });
  });

  test("23/20: upgrades the release if only its digest changes", async () => {
    const scene = await newScene();
    await scene.publish(chart("1.4.2"));
    await scene.release({});
    await scene.run();
    const { digest } = await scene.publish(chart("1.4.2", "red"));
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
    expect(await scene.status()).toMatchObject({ lastAttemptedRevisionDigest: digest });
    expect(await scene.get("v1", "ConfigMap", "a")).toMatchObject({ data: { color: "red" } });
  });

  test("23/20: with the gate DisableChartDigestTracking a change of only the digest upgrades nothing", async () => {
    const scene = await newScene({ gates: { DisableChartDigestTracking: true } });
    await scene.publish(chart("1.4.2"));
    await scene.release({});
    await scene.run();
    const { digest } = await scene.publish(chart("1.4.2", "red"));
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 deployed"]);
    expect(await scene.status()).toMatchObject({
      lastAttemptedRevision: "1.4.2",
      lastAttemptedRevisionDigest: digest,
      history: [{ version: 1, chartVersion: "1.4.2" }],
    });
    await scene.publish(chart("1.4.3", "red"));
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
  });
});
