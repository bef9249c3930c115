import { expect, test } from "vitest";
import { eksClusters, tableInstallation } from "../../../functions/lambda/eks-clusters.ts";
import { Config, readConfig } from "../../../functions/settings/config.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { GateClosed } from "../../../lib/core/ports/write-gate.ts";
import { faultyWire } from "../../doubles/faulty-wire.ts";
import { functionEnvironment } from "../../doubles/function-environment.ts";
import { noAccountTokens, noCluster } from "../../doubles/no-cluster.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const kustomizations = {
  group: "kustomize.toolkit.fluxcd.io",
  version: "v1",
  kind: "Kustomization",
  plural: "kustomizations",
  namespaced: true,
  verbs: ["list"],
};
const config = readConfig(Config, functionEnvironment);

/** A cluster of an installation as its document lists it, to which nothing is lent. */
const entryOf = (arn: string) => ({
  ...{ arn, network: "default", maxRuns: 1 },
  ...{ repositories: {}, buckets: {}, decryptionKeys: {}, targets: {}, notificationTargets: {} },
});

/** The cluster `prod` as the function `reconcile` gets it, where its API server is this one. */
function clusterOf(connected: Cluster, more: { readonly webhookUrl?: string } = {}) {
  const connect = () => ({ ...connected, as: () => noCluster, accountTokens: noAccountTokens });
  const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
  const deps = { connection: { region: "eu-west-1" }, log: silentLog, entersAs: "reconcile" as const, connect };
  return eksClusters(config, [entryOf(arn)], { ...deps, ...more }).get(arn);
}

test("an installation in AWS is identified by its table, account and region, and its log says how to give it a cluster", () => {
  const { id, takeOverCommand } = tableInstallation(config);
  expect(id).toBe("123456789012/eu-west-1/sluice");
  expect(takeOverCommand).toBe("sluice take-over --installation 123456789012/eu-west-1/sluice");
  const others = [
    { ...config, SLUICE_TABLE: "other" },
    { ...config, AWS_REGION: "eu-north-1" },
    { ...config, SLUICE_QUEUE_URLS: { default: "https://sqs.eu-west-1.amazonaws.com/210987654321/reconcile" } },
  ].map((other) => tableInstallation(other).id);
  expect(new Set([id, ...others]).size).toBe(4);
});

test("a function writes nothing to a cluster of another installation", async () => {
  const { signal } = new AbortController();
  const metadata = { name: "sluice-owner", namespace: "kube-system", uid: "u", resourceVersion: "1" };
  const data = { installation: "another", version: "1", since: "2026-11-22T12:00:00Z", cluster: "cluster-1" };
  const connected = {
    ...noCluster,
    uid: async () => "cluster-1",
    get: async () => ({ apiVersion: "v1", kind: "ConfigMap", metadata, data }),
  };
  const cluster = clusterOf(connected);
  await expect(cluster?.gate.enter(signal)).rejects.toThrow(
    /another, version 1.*this is 123456789012\/eu-west-1\/sluice/,
  );
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "b" } };
  await expect(cluster?.home.create(manifest, { manager: "test" }, signal)).rejects.toThrow(GateClosed);
});

test("a function without Kustomizations takes over no cluster without an owner", async () => {
  const { signal } = new AbortController();
  const served = async () => ({ resources: [], silentGroups: [] });
  const connected = { ...noCluster, uid: async () => "cluster-1", get: async () => undefined, served };
  const cluster = clusterOf(connected);
  await expect(cluster?.gate.enter(signal)).rejects.toThrow("does not serve Kustomizations");
});

test("a function that knows the address of webhooks writes it to its clusters", async () => {
  const { signal } = new AbortController();
  const created: Manifest[] = [];
  const connected: Cluster = {
    ...noCluster,
    uid: async () => "cluster-1",
    get: async () => undefined,
    served: async () => ({ resources: [kustomizations], silentGroups: [] }),
    create: async (manifest) => {
      created.push(manifest);
      return { ...manifest, metadata: { ...manifest.metadata, uid: "u" } };
    },
  };
  const webhookUrl = "https://abc.lambda-url.eu-west-1.on.aws/";
  const cluster = clusterOf(connected, { webhookUrl });
  await cluster?.gate.enter(signal);
  expect(created).toMatchObject([{ metadata: { name: "sluice-owner" }, data: { webhookUrl } }]);
});

test.each(["reconcile", "receiver", "notify"] as const)(
  "the function %s uses only its own role in a cluster of another account",
  async (entersAs) => {
    const asked: string[] = [];
    await using sts = await faultyWire(undefined, (_, __, body) => {
      asked.push(new URLSearchParams(body.toString()).get("RoleArn") ?? "");
      return { status: 403, body: "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>" };
    });
    const arn = "arn:aws:eks:eu-west-1:210987654321:cluster/prod";
    const roles = {
      reconcile: "arn:aws:iam::210987654321:role/sluice-reconcile",
      receiver: "arn:aws:iam::210987654321:role/sluice-receiver",
      notify: "arn:aws:iam::210987654321:role/sluice-notify",
    };
    const entry = { ...entryOf(arn), roles };
    const connection = {
      region: "eu-west-1",
      endpoint: sts.url,
      credentials: { accessKeyId: "OUR-KEY", secretAccessKey: "y" },
    };
    const signIns: Promise<unknown>[] = [];
    const connect: Parameters<typeof eksClusters>[2]["connect"] = (_, { credentials }) => {
      if (typeof credentials === "function") signIns.push(credentials());
      return { ...noCluster, as: () => noCluster, accountTokens: noAccountTokens };
    };
    expect(eksClusters(config, [entry], { connection, log: silentLog, entersAs, connect }).get(arn)).toBeDefined();
    await expect(Promise.all(signIns)).rejects.toThrow(roles[entersAs]);
    expect(asked).toEqual([roles[entersAs]]);
  },
);
