import { expect, test } from "vitest";
import { parseClusterArn } from "../../../../lib/aws/eks/cluster-arn.ts";
import { eksCluster } from "../../../../lib/aws/eks/eks-cluster.ts";
import { LeaseLost } from "../../../../lib/core/ports/fence.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import { leasedCluster } from "../../../../lib/gate/leased-cluster.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { faultyWire } from "../../../doubles/faulty-wire.ts";
import { pem } from "../../../doubles/pem.ts";
import { configMapOf, fakeApi, sendDiscovery, sendJson } from "../../kube/fake-api.ts";

const never = new AbortController().signal;
const arn = parseClusterArn("arn:aws:eks:eu-west-1:123456789012:cluster/prod");
const credentials = { accessKeyId: "x", secretAccessKey: "y" };
const [cert, key, otherCa] = await Promise.all(["server.crt", "server.key", "expired.crt"].map(pem));

test("a cluster whose CA has changed is described again, at most every half minute", async () => {
  await using api = await fakeApi(
    (_, response) =>
      sendJson(response, 200, { apiVersion: "v1", kind: "Namespace", metadata: { name: "n", uid: "u" } }),
    { cert, key },
  );
  let ca = otherCa ?? "";
  await using eks = await faultyWire(undefined, () => {
    const certificateAuthority = { data: Buffer.from(ca).toString("base64") };
    const cluster = { name: "prod", status: "ACTIVE", endpoint: api.url.href, certificateAuthority };
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify({ cluster }) };
  });
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const connection = { region: "eu-west-1", endpoint: eks.url, credentials };
  const cluster = eksCluster(arn, connection, { clock, env: {} });
  await expect(cluster.uid(never)).rejects.toMatchObject({ reason: "Unreachable" });
  ca = cert ?? "";
  now = 29_000;
  await expect(cluster.uid(never)).rejects.toMatchObject({ reason: "Unreachable" });
  expect(eks.seen).toHaveLength(1);
  now = 30_000;
  expect(await cluster.uid(never)).toBe("u");
  expect(await cluster.uid(never)).toBe("u");
  expect(eks.seen).toEqual(["GET /clusters/prod", "GET /clusters/prod"]);
  cluster.close();
});

test("a write is not sent if its lease ends while the cluster's address is requested from EKS", async () => {
  const sent: string[] = [];
  await using api = await fakeApi(
    (request, response) => {
      if (sendDiscovery(request, response)) return;
      sent.push(request.method ?? "");
      sendJson(response, 200, configMapOf("a"));
    },
    { cert, key },
  );
  let held = true;
  await using eks = await faultyWire(undefined, () => {
    held = false;
    const certificateAuthority = { data: Buffer.from(cert ?? "").toString("base64") };
    const cluster = { name: "prod", status: "ACTIVE", endpoint: api.url.href, certificateAuthority };
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify({ cluster }) };
  });
  const connection = { region: "eu-west-1", endpoint: eks.url, credentials };
  const cluster = eksCluster(arn, connection, { clock: systemClock, env: {} });
  const run = {
    assertLease() {
      if (!held) throw new LeaseLost("lost");
    },
  };
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } };
  const write = leasedCluster(asHome(cluster), run).apply(manifest, { manager: "test", force: true }, never);
  await expect(write).rejects.toThrow(LeaseLost);
  expect(eks.seen).toEqual(["GET /clusters/prod"]);
  expect(sent).toEqual([]);
  cluster.close();
});

test("a cluster that EKS does not know counts as unreachable, so that its objects are retried", async () => {
  const headers = { "content-type": "application/json", "x-amzn-errortype": "ResourceNotFoundException" };
  await using eks = await faultyWire(undefined, () => ({
    status: 404,
    headers,
    body: '{"message":"No cluster found"}',
  }));
  const cluster = eksCluster(
    arn,
    { region: "eu-west-1", endpoint: eks.url, credentials },
    { clock: systemClock, env: {} },
  );
  await expect(cluster.uid(never)).rejects.toMatchObject({
    reason: "Unreachable",
    code: 0,
    message: expect.stringContaining("eks:DescribeCluster on cluster prod: it does not exist in region eu-west-1"),
  });
});

test("Services of a cluster are reached through it, also after its CA has changed; otherwise there is no answer", async () => {
  await using api = await fakeApi((request, response) => response.end(`answer to ${request.url}`), { cert, key });
  let ca = otherCa ?? "";
  await using eks = await faultyWire(undefined, () => {
    const certificateAuthority = { data: Buffer.from(ca).toString("base64") };
    const described = { name: "prod", status: "ACTIVE", endpoint: api.url.href, certificateAuthority };
    return {
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ cluster: described }),
    };
  });
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const cluster = eksCluster(arn, { region: "eu-west-1", endpoint: eks.url, credentials }, { clock, env: {} });
  const service = { scheme: "http", namespace: "apps", name: "hook", port: 80 } as const;
  const request = { method: "POST", url: "http://hook.apps.svc/x", timeoutMs: 60_000, maxBytes: 1_000 } as const;
  const fault = await cluster.services.send(service, request, never).catch((error: unknown) => error);
  expect(fault).toMatchObject({ name: "HttpError", reason: "unreachable" });
  ca = cert ?? "";
  now = 30_000;
  const { body } = await cluster.services.send(service, request, never);
  expect(Buffer.from(body).toString()).toBe("answer to /api/v1/namespaces/apps/services/hook:80/proxy/x");
  expect(eks.seen).toHaveLength(2);
  cluster.close();
});
