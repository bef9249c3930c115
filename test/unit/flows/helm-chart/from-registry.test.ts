import { describe, expect, test } from "vitest";
import { mediaTypes } from "../../../../lib/sources/oci/media-types.ts";
import { appChart, type Files } from "../../sources/helm/charts.ts";
import { helmChartWorld, secret } from "./helm-chart-world.ts";

const world = helmChartWorld();
const sourceRef = { kind: "HelmRepository", name: "charts" };

function versioned(version: string): Files {
  return { ...appChart, "Chart.yaml": `apiVersion: v2\nname: app\nversion: "${version}"\n` };
}

/** A HelmRepository of type oci, which nothing reconciles. */
async function registry(spec: object = {}): Promise<void> {
  const url = `oci://${world().state.host}/charts`;
  await world().bare("HelmRepository", "charts", { url, type: "oci", insecure: true, ...spec });
}

describe("a chart from an OCI registry", () => {
  test("is pulled by its version without listing tags", async () => {
    await registry();
    await world().pushChart("1.0.0", versioned("1.0.0"));
    world().chart({ sourceRef, version: "1.0.0" });
    await world().runChart();
    expect(world().conditions()).toContain("Ready=True ChartPullSucceeded: pulled 'app' chart with version '1.0.0'");
    expect(world().sent.filter(({ url }) => url.includes("/tags/list"))).toEqual([]);
  });

  test("a plus in a version becomes an underscore in the tag", async () => {
    await registry();
    await world().pushChart("1.0.0_b1", versioned("1.0.0+b1"));
    world().chart({ sourceRef, version: "1.0.0+b1" });
    await world().runChart();
    expect(world().status()).toMatchObject({ artifact: { revision: "1.0.0+b1" } });
  });

  test("11.4/94: a version that the registry does not have is retried", async () => {
    await registry();
    await world().pushChart("1.0.0", versioned("1.0.0"));
    world().chart({ sourceRef, version: "9.9.9" });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed", dueInMs: 750 });
    const failed = world()
      .conditions()
      .find((one) => one.startsWith("FetchFailed"));
    expect(failed).toMatch(
      /^FetchFailed=True ChartPullError: chart pull error: failed to download chart for remote reference: failed to get 'oci:\/\/[^']+\/charts\/app:9\.9\.9': /,
    );
  });

  test("11.4/95: tags with a v prefix are not in a range", async () => {
    await registry();
    for (const tag of ["v1.0.0", "1.0.1", "v2.0.0"]) await world().pushChart(tag, versioned("1.0.1"));
    world().chart({ sourceRef });
    await world().runChart();
    expect(world().status()).toMatchObject({ artifact: { revision: "1.0.1" } });
  });

  test("a range without a matching tag is retried", async () => {
    await registry();
    await world().pushChart("1.0.0", versioned("1.0.0"));
    world().chart({ sourceRef, version: "2.x" });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed" });
    expect(world().told()).toEqual([
      "Warning ChartPullError: chart pull error: failed to get chart version for remote reference: could not locate a version matching provided version string 2.x",
    ]);
  });

  test("the next run finds a newer tag in the range", async () => {
    await registry();
    await world().pushChart("1.0.0", versioned("1.0.0"));
    world().chart({ sourceRef, version: "1.x" });
    await world().runChart();
    await world().pushChart("1.1.0", versioned("1.1.0"));
    await world().runChart();
    expect(world().status()).toMatchObject({ artifact: { revision: "1.1.0" } });
  });

  test("a repository of type oci with an http URL stalls the chart", async () => {
    await world().bare("HelmRepository", "charts", { url: "https://example.test/charts", type: "oci" });
    world().chart({ sourceRef });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stalled" });
    const why = "failed to construct Helm client: invalid OCI registry URL: https://example.test/charts";
    expect(world().conditions()).toEqual([
      `Stalled=True Failed: ${why}`,
      `Ready=False Unknown: unknown build error: ${why}`,
      `FetchFailed=True Unknown: unknown build error: ${why}`,
    ]);
  });

  test("11.4/103: a wrong password gives an unknown build error, and the event names the cause", async () => {
    await registry({ url: `oci://${new URL(world().address).host}/charts`, secretRef: { name: "login" } });
    world().apply(secret("login", { username: "golden", password: "wrong" }));
    for (const path of ["/v2/", "/v2/charts/app/manifests/1.0.0"]) world().files.set(path, 401);
    world().chart({ sourceRef, version: "1.0.0" });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed" });
    const [told = ""] = world().told();
    expect(told).toMatch(
      /^Warning AuthenticationFailed: failed to authenticate with the Helm repository: chart pull error: /,
    );
    const why = told.replace("Warning AuthenticationFailed: ", "");
    expect(world().conditions()).toContain(`FetchFailed=True Unknown: unknown build error: ${why}`);
  });

  const required = '{"errors":[{"code":"UNAUTHORIZED"}]}';
  const denied = "response status code 403: denied: requested access to the resource is denied";
  test.each([
    ["a basic challenge", () => "Basic realm=x", 404, "GET MANIFEST: basic credential not found"],
    [
      "a bearer challenge, whose token is not enough",
      (address: string) => `Bearer realm="${address}/token"`,
      Buffer.from('{"token":"t"}'),
      "GET MANIFEST: response status code 401: unauthorized: authentication required",
    ],
    [
      "a bearer challenge, whose token is denied",
      (address: string) => `Bearer realm="${address}/token",service=s`,
      { status: 403, challenge: "", body: '{"errors":[{"code":"DENIED"}]}' },
      `GET MANIFEST: GET TOKEN: ${denied}`,
    ],
  ])("without credentials says what oras-go says of %s", async (_, challengeFrom, token, why) => {
    const { address, files } = world();
    const { host } = new URL(address);
    await registry({ url: `oci://${host}/charts` });
    const refusal = { status: 401, challenge: challengeFrom(address), body: required };
    for (const path of ["/v2/", "/v2/charts/app/manifests/1.0.0"]) files.set(path, refusal);
    files.set("/token", token);
    world().chart({ sourceRef, version: "1.0.0" });
    await world().runChart();
    const said = why
      .replace("MANIFEST", `"${address}/v2/charts/app/manifests/1.0.0"`)
      .replace("TOKEN", `"${address}/token?service=s"`);
    expect(world().told()).toEqual([
      `Warning ChartPullError: chart pull error: failed to download chart for remote reference: failed to get 'oci://${host}/charts/app:1.0.0': failed to perform "FetchReference" on source: ${said}`,
    ]);
  });

  test("a layer that is missing is not said to be the chart, also in a repository named manifests", async () => {
    const { address, files } = world();
    const { host } = new URL(address);
    await registry({ url: `oci://${host}/org/manifests` });
    const digest = `sha256:${"0".repeat(64)}`;
    const layers = [{ mediaType: mediaTypes.helmChart, digest, size: 1 }];
    files.set("/v2/org/manifests/app/manifests/1.0.0", Buffer.from(JSON.stringify({ layers })));
    world().chart({ sourceRef, version: "1.0.0" });
    await world().runChart();
    expect(world().told()[0]).toMatch(new RegExp(`: failed to perform "Fetch" on source: ${digest}: not found$`));
  });

  test("an artifact that is not a chart is refused", async () => {
    await registry();
    await world().pushLayer("1.0.0", Buffer.from("x"), {}, "charts/app");
    world().chart({ sourceRef, version: "1.0.0" });
    await world().runChart();
    expect(world().told()[0]).toContain("manifest does not contain a layer with mediatype application/vnd.cncf.helm");
  });
});
