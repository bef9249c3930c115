import { generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import { describe, expect, test } from "vitest";
import { registryClients } from "../../../../lib/sources/oci/registry-client.ts";
import { untilDeadline } from "../../../deadline.ts";
import { signSimply } from "../../../doubles/cosign-signatures.ts";
import { appChart, type Files } from "../../sources/helm/charts.ts";
import { helmChartWorld, secret } from "./helm-chart-world.ts";

const world = helmChartWorld();
const sourceRef = { kind: "HelmRepository", name: "charts" };
const verify = { provider: "cosign", secretRef: { name: "keys" } };
const [alice, mallory] = [pair(), pair()];

function pair(): KeyPairKeyObjectResult {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function trust(...pairs: readonly KeyPairKeyObjectResult[]): void {
  const pem = ({ publicKey }: KeyPairKeyObjectResult) => String(publicKey.export({ type: "spki", format: "pem" }));
  const keys = pairs.map((each, at) => [`${at}.pub`, pem(each)] as const);
  world().apply(secret("keys", Object.fromEntries(keys)));
}

async function publish(version: string, signer?: KeyPairKeyObjectResult): Promise<void> {
  const files: Files = { ...appChart, "Chart.yaml": `apiVersion: v2\nname: app\nversion: ${version}\n` };
  await world().pushChart(version, files);
  const { deps, address } = { deps: world().deps, address: world().state.host };
  const client = registryClients(deps.http, deps.clock)({ host: address, insecure: true });
  const digest = await client.digestOfTag("charts/app", version, untilDeadline());
  if (signer !== undefined) await signSimply({ client, repository: "charts/app", digest }, signer.privateKey);
}

async function registry(): Promise<void> {
  const url = `oci://${world().state.host}/charts`;
  await world().bare("HelmRepository", "charts", { url, type: "oci", insecure: true });
}

describe("the signature of a chart", () => {
  test("is reported if it is valid, and the chart is then pulled by its digest", async () => {
    await registry();
    await publish("1.0.0", alice);
    trust(alice);
    world().chart({ sourceRef, version: "1.0.0", verify });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "stored" });
    expect(world().conditions()).toContain("SourceVerified=True Succeeded: verified signature of version 1.0.0");
    const manifests = world().sent.filter(({ method, url }) => method === "GET" && url.endsWith("/manifests/1.0.0"));
    expect(manifests).toEqual([]);
  });

  test("11.4/105: fails the build and the source with the same text if it is invalid, and the old chart is kept", async () => {
    await registry();
    await publish("1.0.0", alice);
    trust(alice);
    world().chart({ sourceRef, version: "1.x", verify });
    await world().runChart();
    const { artifact } = world().status();
    await publish("1.1.0", mallory);
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed", dueInMs: 750 });
    const [told = ""] = world().told().slice(-1);
    const why = told.replace("Warning ChartVerificationError: ", "");
    expect(why).toMatch(
      /^chart verification error: failed to verify oci:\/\/[^ ]+\/charts\/app:1\.1\.0: no matching signatures/,
    );
    expect(world().conditions()).toEqual(
      expect.arrayContaining([
        `BuildFailed=True ChartVerificationError: ${why}`,
        `SourceVerified=False VerificationError: ${why}`,
        `Ready=False VerificationError: ${why}`,
      ]),
    );
    expect(world().status()).toMatchObject({ artifact });
  });

  test("of a version that does not exist is reported in the words of cosign and its client", async () => {
    await registry();
    await publish("1.0.0", alice);
    trust(alice);
    world().chart({ sourceRef, version: "9.9.9", verify });
    await world().runChart();
    const { host } = world().state;
    expect(world().told()[0]).toContain(
      `failed to verify oci://${host}/charts/app:9.9.9: image tag not found: GET http://${host}/v2/charts/app/manifests/9.9.9: MANIFEST_UNKNOWN: manifest unknown`,
    );
  });

  test("of a registry that does not answer is reported in the words of cosign's client", async () => {
    await world().bare("HelmRepository", "charts", { url: "oci://127.0.0.1:1/charts", type: "oci", insecure: true });
    trust(alice);
    world().chart({ sourceRef, version: "1.0.0", verify });
    await world().runChart();
    const refused = "dial tcp 127.0.0.1:1: connect: connection refused";
    expect(world().told()[0]).toContain(
      `failed to verify oci://127.0.0.1:1/charts/app:1.0.0: Get "https://127.0.0.1:1/v2/": ${refused}; Get "http://127.0.0.1:1/v2/": ${refused}`,
    );
  });

  test("a Secret without keys fails before any signature is read", async () => {
    await registry();
    await publish("1.0.0", alice);
    trust();
    world().chart({ sourceRef, version: "1.0.0", verify });
    await world().runChart();
    const why = "failed to verify the signature using provider 'cosign': no public keys found in secret 'apps/keys'";
    expect(world().told()).toEqual([`Warning VerificationError: ${why}`]);
    expect(world().conditions()).toEqual(
      expect.arrayContaining([
        `SourceVerified=False VerificationError: ${why}`,
        `FetchFailed=True Unknown: unknown build error: ${why}`,
      ]),
    );
  });

  test("a key that cannot be read fails in the words of cosign, and is named", async () => {
    await registry();
    await publish("1.0.0", alice);
    world().apply(secret("keys", { "a.pub": "no key" }));
    world().chart({ sourceRef, version: "1.0.0", verify });
    await world().runChart();
    const why = "PEM decoding failed; the key is 'a.pub' of the Secret";
    expect(world().told()).toEqual([
      `Warning VerificationError: failed to verify the signature using provider 'cosign': ${why}`,
    ]);
  });

  test("11.3/84: by Notation without a Secret fails before any signature is read, and names the HelmChart", async () => {
    await registry();
    world().chart({ sourceRef, version: "1.0.0", verify: { provider: "notation" } });
    await world().runChart();
    const why = "failed to verify the signature using provider 'notation': verification secret cannot be empty: 'app'";
    expect(world().told()).toEqual([`Warning VerificationError: ${why}`]);
  });

  test("removing spec.verify removes the condition of the verification", async () => {
    await registry();
    await publish("1.0.0", alice);
    trust(alice);
    world().chart({ sourceRef, version: "1.0.0", verify });
    await world().runChart();
    world().chart({ sourceRef, version: "1.0.0" });
    await world().runChart();
    expect(
      world()
        .conditions()
        .filter((one) => one.startsWith("SourceVerified")),
    ).toEqual([]);
  });

  test("is not available for a chart from a repository with an index", async () => {
    await world().repository({ "app-1.0.0.tgz": appChart });
    world().chart({ sourceRef, verify });
    await expect(world().runChart()).resolves.toMatchObject({ outcome: "failed" });
    expect(world().told()[0]).toContain(
      "Warning ChartVerificationError: chart verification error: not implemented; charts of a repository",
    );
  });
});
