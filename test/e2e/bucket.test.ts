import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Conditions, findCondition } from "../../lib/api/condition.ts";
import { isJsonObject, type JsonObject } from "../../lib/core/json.ts";
import { type S3Server, s3Server } from "../doubles/s3-server.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const never = new AbortController().signal;
let world: CliWorld;
let s3: S3Server;
beforeAll(async () => {
  s3 = await s3Server();
  s3.accessKeyId = "AKIA";
  world = await cliWorld();
});
afterAll(async () => {
  await world.close();
  await s3[Symbol.asyncDispose]();
});

const kustomization = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };

async function apply(apiVersion: string, kind: string, name: string, spec: JsonObject): Promise<void> {
  const manifest = { apiVersion, kind, metadata: { name, namespace: "default" }, spec };
  await world.cluster.apply(manifest, { manager: "test", force: true }, never);
}

async function ready(name: string): Promise<string> {
  const status = (await world.cluster.get({ ...kustomization, namespace: "default", name }, never))?.["status"];
  const conditions = isJsonObject(status) ? Conditions.parse(status["conditions"] ?? []) : [];
  const found = findCondition(conditions, "Ready");
  return `${found?.status} ${found?.reason}`;
}

async function colour(): Promise<unknown> {
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "paint" };
  const data = (await world.cluster.get(ref, never))?.["data"];
  return isJsonObject(data) ? data["colour"] : undefined;
}

function hold(colourOfIt: string): void {
  const metadata = { name: "paint", namespace: "default" };
  const text = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { colour: colourOfIt } });
  s3.buckets.set("paints", new Map([["deploy/paint.yaml", Buffer.from(text)]]));
}

const login = ["--bucket-name", "paints", "--access-key", "AKIA", "--secret-key", "hunter2", "--insecure"];

test("a Bucket is created by the command line, and a Kustomization applies each of its revisions", async () => {
  hold("red");
  const { code, err, out } = await world.sh(
    ...["create", "source", "bucket", "paints", "--endpoint", s3.endpoint, ...login, "-n", "default"],
    ...["--interval", "1h", "--timeout", "240s"],
  );
  expect(err).toMatch(/✔ fetched revision: sha256:[0-9a-f]{64}\n$/);
  expect({ code, out }).toEqual({ code: 0, out: "" });
  await apply("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "paint", {
    ...{ interval: "1h", prune: true, path: "./deploy", sourceRef: { kind: "Bucket", name: "paints" } },
  });
  await expect.poll(() => ready("paint")).toBe("True ReconciliationSucceeded");
  expect(await colour()).toBe("red");

  hold("blue");
  const again = await world.sh("reconcile", "source", "bucket", "paints", "-n", "default", "--timeout", "240s");
  expect(again.err).toMatch(/✔ fetched revision sha256:/);
  await expect.poll(colour).toBe("blue");

  const list = await world.sh("get", "sources", "bucket", "-n", "default");
  expect(list.out).toMatch(/paints\s+sha256:[0-9a-f]+.*True\s+stored artifact: revision 'sha256:/);
});

test("create source bucket --export prints a Bucket without its keys", async () => {
  const { out } = await world.sh(
    ...["create", "source", "bucket", "paints", "--endpoint", "s3.eu-west-1.amazonaws.com", ...login, "--export"],
    ...["-n", "apps", "--provider", "aws", "--region", "eu-west-1", "--prefix", "a/", "--ignore-paths", "*.md,!b.md"],
  );
  expect(load(out)).toEqual({
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "Bucket",
    metadata: { name: "paints", namespace: "apps" },
    spec: {
      ...{ bucketName: "paints", provider: "aws", insecure: true, endpoint: "s3.eu-west-1.amazonaws.com" },
      ...{ region: "eu-west-1", prefix: "a/", interval: "1m0s", ignore: "*.md\n!b.md" },
    },
  });
});

test.each([
  ["bucket-name", ["--endpoint", "s3.test"]],
  ["endpoint", ["--bucket-name", "paints"]],
])("create source bucket requires --%s", async (what, options) => {
  const { code, err } = await world.sh("create", "source", "bucket", "paints", ...options, "-n", "default");
  expect({ code, err }).toEqual({ code: 1, err: `✗ ${what} is required\n` });
});

describe("the API server refuses a Bucket", () => {
  const sts = { provider: "aws", endpoint: "https://sts.amazonaws.com" };
  test.each<[string, JsonObject, string]>([
    [
      "11.5/112: with secretRef and serviceAccountName",
      { provider: "aws", secretRef: { name: "a" }, serviceAccountName: "b" },
      "cannot set both .spec.secretRef and .spec.serviceAccountName",
    ],
    [
      "11.5/113: of the generic provider with STS of aws",
      { provider: "generic", sts },
      "'ldap' is the only supported STS provider for the 'generic' Bucket provider",
    ],
    [
      "of provider aws with STS of ldap",
      { provider: "aws", sts: { ...sts, provider: "ldap" } },
      "'aws' is the only supported STS provider for the 'aws' Bucket provider",
    ],
    [
      "of provider gcp with STS",
      { provider: "gcp", sts },
      "STS configuration is only supported for the 'aws' and 'generic' Bucket providers",
    ],
    [
      "of provider aws with a Secret for STS",
      { provider: "aws", sts: { ...sts, secretRef: { name: "a" } } },
      "spec.sts.secretRef is not required for the 'aws' STS provider",
    ],
    [
      "of provider aws with a certificate for STS",
      { provider: "aws", sts: { ...sts, certSecretRef: { name: "a" } } },
      "spec.sts.certSecretRef is not required for the 'aws' STS provider",
    ],
    [
      "of the generic provider with a service account",
      { serviceAccountName: "a" },
      "ServiceAccountName is not supported for the 'generic' Bucket provider",
    ],
    ["11.1/28: with hours as its timeout", { timeout: "1h" }, "spec.timeout"],
  ])("%s", async (_what, spec, message) => {
    const base = { interval: "1h", bucketName: "things", endpoint: "s3.test", suspend: true };
    await expect(apply("source.toolkit.fluxcd.io/v1", "Bucket", "refused", { ...base, ...spec })).rejects.toThrow(
      message,
    );
  });
});
