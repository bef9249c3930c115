import { expect, test } from "vitest";
import { ownCluster, tableInstallation } from "../../../functions/lambda/own-cluster.ts";
import { GateClosed } from "../../../lib/core/ports/write-gate.ts";
import { functionEnvironment } from "../../doubles/function-environment.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { silentLog } from "../../doubles/silent-log.ts";

test("an installation in AWS is that of its table, by account and region, and its log can say how to give it a cluster", () => {
  const { id, takeOverCommand } = tableInstallation(functionEnvironment);
  expect(id).toBe("123456789012/eu-west-1/sluice");
  expect(takeOverCommand).toBe("sluice take-over --installation 123456789012/eu-west-1/sluice");
  const others = [
    { ...functionEnvironment, SLUICE_TABLE: "other" },
    { ...functionEnvironment, AWS_REGION: "eu-north-1" },
    { ...functionEnvironment, SLUICE_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/210987654321/reconcile" },
  ].map((config) => tableInstallation(config).id);
  expect(new Set([id, ...others]).size).toBe(4);
});

test("a function whose cluster is another installation's writes nothing to it", async () => {
  const { signal } = new AbortController();
  const metadata = { name: "sluice-owner", namespace: "kube-system", uid: "u", resourceVersion: "1" };
  const data = { installation: "another", version: "1", since: "2026-11-22T12:00:00Z", cluster: "cluster-1" };
  const connected = {
    ...noCluster,
    uid: async () => "cluster-1",
    get: async () => ({ apiVersion: "v1", kind: "ConfigMap", metadata, data }),
  };
  const connect = () => connected;
  const deps = { connection: { region: "eu-west-1" }, log: silentLog, connect };
  const { arn, cluster, gate } = ownCluster(functionEnvironment, deps);
  expect(arn.name).toBe("prod");
  await expect(gate.enter(signal)).rejects.toThrow(/another, version 1.*this is 123456789012\/eu-west-1\/sluice/);
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "b" } };
  await expect(cluster.create(manifest, { manager: "test" }, signal)).rejects.toThrow(GateClosed);
});
