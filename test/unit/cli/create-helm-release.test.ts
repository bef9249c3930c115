import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { runCommand } from "../../doubles/run-command.ts";
import { smallDefinition } from "../../doubles/small-definition.ts";

const { signal } = new AbortController();
const embedded = fileCluster({ definitions: false, controllers: false });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-create-"));
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "apps" } };
  await embedded.cluster.create(namespace, { manager: "test" }, signal);
  const definition = smallDefinition("helm.toolkit.fluxcd.io", "HelmRelease", "helmreleases", ["v2"]);
  await embedded.cluster.create(definition, { manager: "test" }, signal);
});
afterAll(() => rm(folder, { recursive: true }));

function create(...args: readonly string[]) {
  const command = ["-n", "apps", "--kubeconfig", embedded.kubeconfig, "create", "helmrelease", ...args];
  return runCommand(command, { env: {}, folder });
}

const refOf = (name: string) => ({
  group: "helm.toolkit.fluxcd.io",
  version: "v2",
  kind: "HelmRelease",
  namespace: "apps",
  name,
});

/** The spec that `--export` prints. */
async function exported(...args: readonly string[]): Promise<unknown> {
  const { code, err, out } = await create("web", ...args, "--export");
  expect([code, err]).toEqual([0, ""]);
  const document = load(out);
  return typeof document === "object" && document !== null && "spec" in document ? document.spec : undefined;
}

/** Plays the reconcile of a HelmRelease: what its Ready condition says of this generation. */
async function says(name: string, generation: number, ready: object, more: object = {}): Promise<void> {
  await expect
    .poll(async () => (await embedded.cluster.get(refOf(name), signal))?.metadata.generation)
    .toBe(generation);
  const condition = { type: "Ready", observedGeneration: generation, lastTransitionTime: "2026-11-23T12:00:00Z" };
  const body = { status: { observedGeneration: generation, conditions: [{ ...condition, ...ready }], ...more } };
  await embedded.cluster.patch(
    refOf(name),
    { type: "merge", body },
    { manager: "test", subresource: "status" },
    signal,
  );
}

const installed = { status: "True", reason: "InstallSucceeded", message: "Helm install succeeded" };
const ofRepository = ["--source", "HelmRepository/charts", "--chart", "web"];

describe("sluice create helmrelease", () => {
  test("creates a HelmRelease, waits until its chart is there, and prints the version of the release", async () => {
    const command = create("web", ...ofRepository, "--chart-version", "1.x", "--label", "team=a");
    const notReady = "HelmChart 'apps/apps-web' is not ready: does not have an artifact";
    await says("web", 1, { status: "False", reason: "SourceNotReady", message: notReady });
    await says("web", 1, installed, { history: [{ chartVersion: "1.2.0" }], lastAttemptedRevision: "1.2.0" });
    const { code, err } = await command;
    expect([code, err.split("\n")]).toEqual([
      0,
      [
        "✚ generating HelmRelease",
        "► applying HelmRelease",
        "✔ HelmRelease created",
        "◎ waiting for HelmRelease reconciliation",
        "✔ HelmRelease web is ready",
        "✔ applied revision 1.2.0",
        "",
      ],
    ]);
    const object = await embedded.cluster.get(refOf("web"), signal);
    expect([object?.metadata.labels, object?.["spec"]]).toEqual([
      { team: "a" },
      {
        interval: "1m0s",
        chart: {
          spec: {
            chart: "web",
            version: "1.x",
            sourceRef: { kind: "HelmRepository", name: "charts" },
            reconcileStrategy: "ChartVersion",
          },
        },
      },
    ]);
  });

  test("overwrites the labels and the whole spec of an existing object, and keeps a value that is set to null", async () => {
    const file = join(folder, "null.yaml");
    await writeFile(file, "resources: null\nreplicas: 2\n");
    const first = create("again", ...ofRepository, "--release-name", "old", "--label", "team=a");
    await says("again", 1, installed, { lastAttemptedRevision: "1.0.0" });
    expect((await first).code).toBe(0);
    const second = create("again", "--chart-ref", "OCIRepository/web.charts", "--values", file);
    await says("again", 2, installed, { lastAttemptedRevision: "1.0.1" });
    expect((await second).err).toContain("✔ HelmRelease updated");
    expect((await embedded.cluster.get(refOf("again"), signal))?.["spec"]).toEqual({
      interval: "1m0s",
      chartRef: { kind: "OCIRepository", name: "web", namespace: "charts" },
      values: { resources: null, replicas: 2 },
    });
    expect((await embedded.cluster.get(refOf("again"), signal))?.metadata.labels ?? {}).toEqual({});
  });

  test("ends with the reason as soon as the release has failed", async () => {
    const command = create("bad", ...ofRepository);
    await says("bad", 1, { status: "False", reason: "InstallFailed", message: "Helm install failed: no" });
    expect(await command).toMatchObject({
      code: 1,
      err: expect.stringContaining("✗ HelmRelease reconciliation failed: 'Helm install failed: no'"),
    });
  });
});

describe("sluice create helmrelease --export", () => {
  test("prints every option in the fields that flux uses", async () => {
    expect(
      await exported(
        ...["--source", "gitrepository/charts.git.team", "--chart", "./charts/web", "--chart-interval", "10m"],
        ...["--reconcile-strategy", "Revision", "--release-name", "site", "--target-namespace", "prod"],
        ...["--create-target-namespace", "--service-account", "deployer", "--crds", "CreateReplace"],
        ...["--depends-on", "db,infra/cache", "--values-from", "secret/keys", "--values-from", "ConfigMap/base"],
        ...["--kubeconfig-secret-ref", "other", "--interval", "5m"],
      ),
    ).toEqual({
      chart: {
        spec: {
          chart: "./charts/web",
          sourceRef: { kind: "GitRepository", name: "charts.git", namespace: "team" },
          reconcileStrategy: "Revision",
          interval: "10m0s",
        },
      },
      interval: "5m0s",
      releaseName: "site",
      targetNamespace: "prod",
      storageNamespace: "prod",
      install: { createNamespace: true, crds: "Create" },
      upgrade: { crds: "CreateReplace" },
      serviceAccountName: "deployer",
      dependsOn: [{ name: "db" }, { name: "cache", namespace: "infra" }],
      valuesFrom: [
        { kind: "Secret", name: "keys" },
        { kind: "ConfigMap", name: "base" },
      ],
      kubeConfig: { secretRef: { name: "other" } },
    });
  });

  test("keeps its own storage namespace", async () => {
    const spaces = ["--target-namespace", "prod", "--storage-namespace", "releases"];
    expect(await exported(...ofRepository, ...spaces)).toMatchObject({
      targetNamespace: "prod",
      storageNamespace: "releases",
    });
  });

  test("merges values files, of which the later wins, and parses them as Go does", async () => {
    await writeFile(join(folder, "a.yaml"), "image: { tag: v1, pull: yes }\nports: [80, 81]\n");
    await writeFile(join(folder, "b.yaml"), "image: { tag: v2 }\nports: [90]\n");
    const files = [join(folder, "a.yaml"), join(folder, "b.yaml")].join(",");
    expect(await exported(...ofRepository, "--values", files)).toMatchObject({
      values: { image: { tag: "v2", pull: true }, ports: [90] },
    });
  });

  test.each([
    [[], "chart or chart-ref is required"],
    [["--chart", "web", "--chart-ref", "HelmChart/web"], "cannot use --chart in combination with --chart-ref"],
    [["--chart", "web"], "source is required with --chart"],
    [["--chart", "web", "--source", "charts"], "invalid helm chart source 'charts', must be in format <kind>/<name>"],
    [
      ["--chart", "web", "--source", "OCIRepository/charts"],
      "source kind 'OCIRepository' is not supported, must be one of: HelmRepository, GitRepository, Bucket",
    ],
    [
      ["--chart-ref", "GitRepository/web"],
      "chart reference kind 'GitRepository' is not supported, must be one of: OCIRepository, HelmChart",
    ],
    [
      [...ofRepository, "--values-from", "web"],
      "invalid Kubernetes object reference 'web', must be in format <kind>/<name>",
    ],
    [
      [...ofRepository, "--values-from", "Pod/web"],
      "reference kind 'Pod' is not supported, must be one of: Secret, ConfigMap",
    ],
    [[...ofRepository, "--values", "/missing.yaml"], "reading values from /missing.yaml failed"],
  ])("%j is refused with flux's text", async (args, message) => {
    const { code, err } = await create("web", ...args, "--export");
    expect([code, err]).toEqual([1, expect.stringContaining(`✗ ${message}`)]);
  });

  test("a values file that is not a map is refused by name without quoting it", async () => {
    const file = join(folder, "list.yaml");
    await writeFile(file, "- s3cret\n");
    const { code, err } = await create("web", ...ofRepository, "--values", file, "--export");
    expect([code, err]).toEqual([1, expect.stringContaining(`converting values to JSON from ${file} failed: `)]);
    expect(err).not.toContain("s3cret");
  });
});
