import { describe, expect, test } from "vitest";
import { digestOf } from "../../../../lib/core/digest.ts";
import { maxMissingDependencies } from "../../../../lib/flows/helm-chart/dependencies.ts";
import { maxChartFileBytes, maxUnpackedChartBytes } from "../../../../lib/sources/helm/chart-archive.ts";
import { appChart, below, type Files, unpacked } from "../../sources/helm/charts.ts";
import { helmChartWorld } from "./helm-chart-world.ts";

const world = helmChartWorld();
const files = below("charts/app", appChart);
const chart = "./charts/app";

function numbered(version: string, color = "blue"): Files {
  return below("charts/app", { ...appChart, "Chart.yaml": `apiVersion: v2\nname: app\nversion: ${version}\n`, color });
}

describe("a chart from the artifact of another source", () => {
  test.for([
    [{}, "1.0.0+b587224c4adf"],
    [{ valuesFiles: ["charts/app/values.yaml", "env.yaml"] }, "1.0.0+b587224c4adf.1"],
  ] as const)("11.4/99: with the strategy Revision and %j the revision is %s", async ([spec, revision]) => {
    await world().source({ ...files, "env.yaml": "a: 1\n" });
    world().chart({ chart, reconcileStrategy: "Revision", ...spec });
    await world().runChart();
    expect(world().status()).toMatchObject({ artifact: { revision } });
  });

  test("11.4/100: a commit that leaves the chart's version as it is changes only the observed source revision", async () => {
    await world().source(numbered("1.0.0"), `main@sha1:${"1".repeat(40)}`);
    world().chart({ chart });
    await world().runChart();
    const { artifact } = world().status();
    await world().source(numbered("1.0.0", "green"), `main@sha1:${"2".repeat(40)}`);
    await world().runChart();
    expect(world().status()).toMatchObject({ artifact, observedSourceArtifactRevision: `main@sha1:${"2".repeat(40)}` });
    await world().source(numbered("1.0.1", "green"), `main@sha1:${"3".repeat(40)}`);
    await world().runChart();
    expect(world().status()).toMatchObject({ artifact: { revision: "1.0.1" } });
  });

  test("a new generation packs the chart again", async ({ signal }) => {
    await world().source(numbered("1.0.0"), `main@sha1:${"1".repeat(40)}`);
    world().chart({ chart });
    await world().runChart();
    await world().source(numbered("1.0.0", "green"), `main@sha1:${"2".repeat(40)}`);
    world().chart({ chart, interval: "30m" });
    await world().runChart();
    expect((await unpacked(world().artifact(), signal))["color"]).toBe("green");
  });

  test("a chart at a changed path is packed, even if the generation before has stalled", async ({ signal }) => {
    await world().source(numbered("1.0.0"), `main@sha1:${"1".repeat(40)}`);
    world().chart({ chart });
    await world().runChart();
    world().chart({ chart: "./charts/other" });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stalled" });
    const other = { ...appChart, color: "green" };
    await world().source({ ...numbered("1.0.0"), ...below("charts/other", other) }, `main@sha1:${"2".repeat(40)}`);
    await world().runChart();
    expect((await unpacked(world().artifact(), signal))["color"]).toBe("green");
  });

  test("the revision of a Bucket is its digest", async () => {
    await world().source(files, `sha256:${"ab".repeat(32)}`, "OCIRepository");
    world().chart({ chart, reconcileStrategy: "Revision", sourceRef: { kind: "OCIRepository", name: "repo" } });
    await world().runChart();
    expect(world().status()).toMatchObject({ artifact: { revision: "1.0.0+abababababab" } });
  });

  test("a source of a kind that this installation does not reconcile stalls the chart", async () => {
    world().chart({ chart, sourceRef: { kind: "Nothing", name: "repo" } });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stalled" });
  });

  test("11.4/101: a missing values file stalls the chart", async () => {
    await world().source(files);
    world().chart({ chart, valuesFiles: ["env.yaml"] });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stalled" });
    const why = "values files merge error: no values file found at path '/env.yaml' (reference 'env.yaml')";
    const condition = `BuildFailed=True ValuesFilesError: ${why}; the artifact has no YAML files in its root folder`;
    expect(world().conditions()).toContain(condition);
  });

  test("11.4/102: waits for a source without an artifact", async () => {
    await world().bare("GitRepository", "repo", {});
    world().chart({ chart });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "waiting" });
    expect(world().told()).toEqual(["Normal NoSourceArtifact: no artifact available for GitRepository source 'repo'"]);
  });

  test("requests a run of a source whose artifact is missing from the store", async () => {
    await world().source(files);
    world().stored.clear();
    world().chart({ chart });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "waiting" });
    expect(world().requested).toEqual([
      { key: "here/source.toolkit.fluxcd.io/GitRepository/apps/repo", why: "its artifact is not in the store" },
    ]);
  });
});

describe("dependencies of a chart", () => {
  const umbrella = (repository: string, version = "1.x", alias = ""): Files =>
    below("charts/app", {
      ...appChart,
      "Chart.yaml": `apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {name: lib, version: "${version}", repository: "${repository}"${alias === "" ? "" : `, alias: ${alias}`}}\n`,
    });
  const lib: Files = { "Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.2.0\n", "templates/a.yaml": "a" };

  test("11.4/106: a HelmRepository with the same URL in the namespace provides index and credentials", async ({
    signal,
  }) => {
    await world().repository({ "lib-1.2.0.tgz": lib }, { secretRef: { name: "login" } });
    world().apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "login", namespace: "apps" },
      data: {
        username: Buffer.from("golden").toString("base64"),
        password: Buffer.from("password").toString("base64"),
      },
    });
    await world().source(umbrella(`${world().address}/charts/`));
    world().chart({ chart });
    await world().runChart();
    expect(Object.keys(await unpacked(world().artifact(), signal))).toContain("charts/lib/templates/a.yaml");
    expect(world().asked).toEqual([{ url: "/charts/lib-1.2.0.tgz", authorization: "Basic Z29sZGVuOnBhc3N3b3Jk" }]);
    expect(world().told()[0]).toBe("Normal ResolvedDependencies: resolved 1 chart dependencies");
  });

  test("a repository that no HelmRepository names is fetched without credentials", async ({ signal }) => {
    await world().repository({ "lib-1.2.0.tgz": lib }, { url: "https://elsewhere.test" });
    const index = {
      apiVersion: "v1",
      entries: { lib: [{ apiVersion: "v2", name: "lib", version: "1.2.0", urls: ["lib-1.2.0.tgz"] }] },
    };
    world().files.set("/charts/index.yaml", Buffer.from(JSON.stringify(index)));
    await world().source(umbrella(`${world().address}/charts`, "1.x", "other"));
    world().chart({ chart });
    await world().runChart();
    expect(world().asked.map(({ authorization }) => authorization)).toEqual([undefined, undefined]);
    expect(Object.keys(await unpacked(world().artifact(), signal))).toContain("charts/other/templates/a.yaml");
  });

  test("a folder beside the chart can be a dependency, and its version must be in the range", async ({ signal }) => {
    await world().source({ ...umbrella("file://../lib"), ...below("charts/lib", lib) });
    world().chart({ chart });
    await world().runChart();
    expect(Object.keys(await unpacked(world().artifact(), signal))).toContain("charts/lib/Chart.yaml");
    await world().source({ ...umbrella("file://../lib", "2.x"), ...below("charts/lib", lib) });
    world().chart({ chart, interval: "30m" });
    await world().runChart();
    expect(world().conditions()).toContain(
      "BuildFailed=True DependencyBuildError: dependency build error: failed to add local dependency 'lib': can't get a valid version for constraint '2.x'",
    );
  });

  test.for([
    ["@charts", "aliased repository dependency is not supported: @charts/"],
    ["ftp://x", "invalid dependency repository URL: ftp://x/"],
  ] as const)("the repository %s is refused", async ([repository, why]) => {
    await world().source(umbrella(repository));
    world().chart({ chart });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed" });
    expect(world().told()).toEqual([
      `Warning DependencyBuildError: dependency build error: failed to add remote dependency 'lib': ${why}`,
    ]);
  });

  test("the chart and its dependencies together must fit the size limit of one chart", async () => {
    const count = maxUnpackedChartBytes / maxChartFileBytes - 1;
    // Not all zeros: an artifact that unpacks to many times its size is refused.
    const digests = Array.from({ length: 4_000 }, (_, at) => digestOf(String(at))).join("");
    const large = { "large.bin": Buffer.concat([Buffer.from(digests)], maxChartFileBytes) };
    const listed = Array.from(
      { length: count },
      (_, at) => `- {name: lib, alias: lib${at}, version: "*", repository: "file://../lib"}`,
    );
    const text = `apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n${listed.join("\n")}\n`;
    const app = { ...appChart, ...large, "Chart.yaml": text };
    await world().source({ ...below("charts/app", app), ...below("charts/lib", { ...lib, ...large }) });
    world().chart({ chart });
    await world().runChart();
    expect(world().told()[0]).toContain(
      `Warning DependencyBuildError: dependency build error: failed to add local dependency 'lib${count - 1}': failed to load chart from`,
    );
    expect(world().told()[0]).toContain(`decompressed chart is larger than the maximum size ${maxUnpackedChartBytes}`);
  });

  test("only a limited number of dependencies is fetched", async () => {
    const dependencies = Array.from(
      { length: maxMissingDependencies + 1 },
      (_, at) => `- {name: lib${at}, version: "*"}`,
    );
    const text = `apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n${dependencies.join("\n")}\n`;
    await world().source(below("charts/app", { ...appChart, "Chart.yaml": text }));
    world().chart({ chart });
    await world().runChart();
    expect(world().told()[0]).toContain(`${maxMissingDependencies} are fetched at most: put them into charts/`);
  });

  test("a chart that already contains all its dependencies downloads none", async () => {
    await world().source({ ...umbrella("https://nowhere.test"), ...below("charts/app/charts/lib", lib) });
    world().chart({ chart });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stored" });
  });

  test("the lock file takes precedence over the dependency list in Chart.yaml", async () => {
    const lock = "dependencies: []\ndigest: x\n";
    await world().source({ ...umbrella("https://nowhere.test"), "charts/app/Chart.lock": lock });
    world().chart({ chart });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stored" });
  });
});
