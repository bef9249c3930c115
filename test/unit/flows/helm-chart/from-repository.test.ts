import { describe, expect, test } from "vitest";
import { appChart, type Files, unpacked } from "../../sources/helm/charts.ts";
import { helmChartWorld, secret } from "./helm-chart-world.ts";

const world = helmChartWorld();
const sourceRef = { kind: "HelmRepository", name: "charts" };
const missing =
  "invalid chart reference: failed to get chart version for remote reference: no 'app' chart with version matching '1.x' found";

function versioned(version: string, more: Files = {}): Files {
  return { ...appChart, "Chart.yaml": `apiVersion: v2\nname: app\nversion: "${version}"\n`, ...more };
}

describe("a chart from a repository with an index", () => {
  test("11.4/93: a version that is not in the index stalls the chart, and a new index of the repository wakes it", async () => {
    await world().repository({ "app-2.0.0.tgz": versioned("2.0.0") });
    world().chart({ sourceRef, version: "1.x" });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stalled", dueInMs: undefined });
    expect(world().conditions()).toEqual([
      `Stalled=True InvalidChartReference: ${missing}`,
      `Ready=False InvalidChartReference: ${missing}`,
      `FetchFailed=True InvalidChartReference: ${missing}`,
    ]);
    expect(world().listens.get("here/source.toolkit.fluxcd.io/HelmChart/apps/app")).toEqual([
      "src#here/source.toolkit.fluxcd.io/HelmRepository/apps/charts",
    ]);
    await world().repository({ "app-1.5.0.tgz": versioned("1.5.0"), "app-2.0.0.tgz": versioned("2.0.0") });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stored" });
    expect(world().conditions()).toContain("Ready=True ChartPullSucceeded: pulled 'app' chart with version '1.5.0'");
  });

  test.for(["My_Chart", "a//b", "App", "../app"])("11.4/96: the chart name %j is invalid", async (chart) => {
    await world().repository({ "app-1.0.0.tgz": appChart });
    world().chart({ sourceRef, chart });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stalled" });
    expect(world().conditions()[0]).toBe(
      `Stalled=True InvalidChartReference: invalid chart reference: invalid chart name '${chart}': a valid name must be lower case letters and numbers and MAY be separated with dashes (-), slashes (/) or periods (.)`,
    );
  });

  test("11.4/97: with values files the chart version ends with the generation of the object", async ({ signal }) => {
    await world().repository({ "app-1.0.0.tgz": { ...appChart, "a.yaml": "a: 1\n", "b.yaml": "b: 2\n" } });
    for (const interval of ["1m", "2m", "3m"])
      world().chart({ sourceRef, interval, valuesFiles: ["a.yaml", "b.yaml"] });
    await world().runChart();
    const message = "packaged 'app' chart with version '1.0.0+3' and merged values files [a.yaml b.yaml]";
    expect(world().conditions()).toContain(`Ready=True ChartPackageSucceeded: ${message}`);
    expect(world().told()).toEqual([`Normal ChartPackageSucceeded: ${message}`]);
    expect(world().status()).toMatchObject({ artifact: { revision: "1.0.0+3" }, observedChartName: "app" });
    expect((await unpacked(world().artifact(), signal))["values.yaml"]).toBe("a: 1\nb: 2\n");
  });

  test("an unchanged chart is not looked up or downloaded again", async () => {
    await world().repository({ "app-1.0.0.tgz": appChart });
    world().chart({ sourceRef });
    await world().runChart();
    const [writes, asked] = [world().writes.length, world().asked.length];
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "unchanged" });
    expect(world().asked.length).toBe(asked);
    expect(
      world()
        .writes.slice(writes)
        .filter(({ verb }) => verb === "patch"),
    ).toEqual([]);
    expect(world().told().at(-1)).toBe("Normal ArtifactUpToDate: artifact up-to-date with remote revision: '1.0.0'");
    // Of type Trace in Flux.
    expect(world().toldReasons).toEqual(["ChartPullSucceeded"]);
  });

  test("11.4/101: missing values files are skipped if the spec allows it, and the status lists those that were found", async () => {
    await world().repository({ "app-1.0.0.tgz": { ...appChart, "a.yaml": "a: 1\n" } });
    world().chart({ sourceRef, valuesFiles: ["a.yaml", "b.yaml"], ignoreMissingValuesFiles: true });
    await world().runChart();
    expect(world().status()).toMatchObject({ observedValuesFiles: ["a.yaml"] });
    world().chart({ sourceRef, valuesFiles: ["a.yaml", "b.yaml"] });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stalled" });
    const why = "values files merge error: failed to merge chart values: no values file found at path 'b.yaml'";
    expect(world().conditions()).toContain(`BuildFailed=True ValuesFilesError: ${why}`);
    expect(world().conditions()).toContain(`Stalled=True ValuesFilesError: ${why}`);
  });

  test("a repository with an index whose URL is now invalid stalls the chart", async () => {
    await world().repository({ "app-1.0.0.tgz": appChart }, { url: "https://[" });
    world().chart({ sourceRef });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stalled" });
    expect(world().told()[0]).toContain('Warning URLInvalid: invalid Helm repository URL: parse "https://["');
  });

  test("11.4/102: waits for a repository without an index", async () => {
    await world().bare("HelmRepository", "charts", { url: world().address });
    world().chart({ sourceRef });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "waiting", dueInMs: 750 });
    const why = "NoSourceArtifact: no artifact available for HelmRepository source 'charts'";
    expect(world().conditions()).toContain(`FetchFailed=True ${why}`);
    expect(world().told()).toEqual([`Normal ${why}`]);
  });

  test("a missing repository is retried", async () => {
    world().chart({ sourceRef });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed" });
    const why = 'SourceUnavailable: failed to get source: HelmRepository.source.toolkit.fluxcd.io "charts" not found';
    expect(world().told()).toEqual([`Warning ${why}`]);
  });

  test("events tell apart waiting for the repository, a failure of the chart and a recovery", async () => {
    world().chart({ sourceRef });
    await world().runChart();
    await world().repository({ "app-1.0.0.tgz": appChart }, { url: "http://127.0.0.1:9/charts" });
    await world().runChart();
    world().chart({ sourceRef, version: "7.x" });
    await world().runChart();
    await world().repository({ "app-7.0.0.tgz": versioned("7.0.0") });
    await world().runChart();
    await world().runChart();
    expect(world().relations).toEqual([
      "app SourceUnavailable waits HelmRepository/apps/charts",
      "app ChartPullError waits HelmRepository/apps/charts",
      "app InvalidChartReference failed",
      "app ChartPullSucceeded recovered HelmRepository/apps/charts",
    ]);
  });

  test("an archive whose digest differs from the index is refused", async () => {
    const digest = "0".repeat(64);
    await world().repository({ "app-1.0.0.tgz": appChart }, {}, (entry) => ({ ...entry, digest }));
    world().chart({ sourceRef });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed" });
    expect(world().told()[0]).toMatch(
      /^Warning ChartPullError: chart pull error: failed to download chart for remote reference: the archive of chart 'app' is not the one that the index lists: the index says sha256:0{64}, the archive has sha256:/,
    );
  });

  test("an archive whose digest in the index has an unknown algorithm is refused", async () => {
    await world().repository({ "app-1.0.0.tgz": appChart }, {}, (entry) => ({ ...entry, digest: "sha512:abc" }));
    world().chart({ sourceRef });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed" });
    expect(world().told()[0]).toMatch(
      /^Warning ChartPullError: .*: the index gives chart 'app' a digest that is not one of SHA-256: write the index again/,
    );
  });

  test("a missing archive is retried", async () => {
    await world().repository({ "app-1.0.0.tgz": appChart });
    world().files.delete("/charts/app-1.0.0.tgz");
    world().chart({ sourceRef });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed" });
    expect(world().told()).toEqual([
      `Warning ChartPullError: chart pull error: failed to download chart for remote reference: failed to fetch ${world().address}/charts/app-1.0.0.tgz : 404 Not Found`,
    ]);
  });

  test("rejected credentials are reported as such, with Flux's condition", async () => {
    await world().repository({ "app-1.0.0.tgz": appChart }, { secretRef: { name: "login" } });
    world().apply(secret("login", { username: "golden", password: "wrong" }));
    world().files.set("/charts/app-1.0.0.tgz", 401);
    world().chart({ sourceRef });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed" });
    const why = `failed to authenticate with the Helm repository: chart pull error: failed to download chart for remote reference: failed to fetch ${world().address}/charts/app-1.0.0.tgz : 401 Unauthorized`;
    expect(world().told()).toEqual([`Warning AuthenticationFailed: ${why}`]);
    expect(world().conditions()).toContain(`FetchFailed=True Unknown: unknown build error: ${why}`);
  });

  test.for([
    [{}, undefined],
    [{ passCredentials: true }, "Basic Z29sZGVuOnBhc3N3b3Jk"],
  ] as const)("another host gets the credentials only if %j allows it", async ([spec, authorization]) => {
    const elsewhere = world().address.replace("127.0.0.1", "localhost");
    const change = (entry: object) => ({ ...entry, urls: [`${elsewhere}/charts/app-1.0.0.tgz`] });
    await world().repository({ "app-1.0.0.tgz": appChart }, { secretRef: { name: "login" }, ...spec }, change);
    world().apply(secret("login", { username: "golden", password: "password" }));
    world().chart({ sourceRef });
    await world().runChart();
    expect(world().asked).toEqual([{ url: "/charts/app-1.0.0.tgz", authorization }]);
  });

  test("a missing Secret gives an unknown build error, and its event has the reason AuthenticationFailed", async () => {
    await world().repository({ "app-1.0.0.tgz": appChart }, { secretRef: { name: "login" } });
    world().chart({ sourceRef });
    await world().runChart();
    const why = `failed to get authentication secret 'apps/login': secrets "login" not found`;
    expect(world().told()).toEqual([`Warning AuthenticationFailed: ${why}`]);
    expect(world().conditions()).toContain(`Ready=False Unknown: unknown build error: ${why}`);
  });
});
