import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseClusterArn } from "../../../../lib/aws/eks/cluster-arn.ts";
import { eksCluster } from "../../../../lib/aws/eks/eks-cluster.ts";
import type { WatchEvent } from "../../../../lib/core/ports/cluster.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { faultyWire } from "../../../doubles/faulty-wire.ts";
import { pem } from "../../../doubles/pem.ts";
import { configMapOf, type FakeApi, fakeApi, sendDiscovery, sendJson } from "../../kube/fake-api.ts";

const never = new AbortController().signal;
const arn = parseClusterArn("arn:aws:eks:eu-west-1:123456789012:cluster/prod");
const credentials = { accessKeyId: "x", secretAccessKey: "y" };
const [cert, key, otherCa] = await Promise.all([pem("server.crt"), pem("server.key"), pem("expired.crt")]);
const json = { "content-type": "application/json" };
const configMaps = { group: "", version: "v1", kind: "ConfigMap", namespace: "n" };
const refOf = (name: string) => ({ ...configMaps, name });
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "new", namespace: "n" } };

/** An API server that answers requests for objects called slow once the test lets it, and breaks the connection of each create. */
async function apiServer() {
  const slow: ServerResponse[] = [];
  const watches: ServerResponse[] = [];
  const api = await fakeApi(
    (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "https://api");
      if (sendDiscovery(request, response)) return;
      if (searchParams.has("watch")) {
        response.writeHead(200, json).write(`${JSON.stringify({ type: "ADDED", object: configMapOf("a") })}\n`);
        watches.push(response);
      } else if (pathname.endsWith("/slow")) slow.push(response);
      else if (request.method === "POST") request.socket.destroy();
      else sendJson(response, 200, configMapOf("quick"));
    },
    { cert, key },
  );
  onTestFinished(() => api[Symbol.asyncDispose]());
  const answerSlow = (): void => {
    for (const response of slow.splice(0)) sendJson(response, 200, configMapOf("slow"));
  };
  const connections = promisify(api.server.getConnections.bind(api.server));
  return { ...api, slow, watches, answerSlow, connections };
}

/** A cluster of EKS as its client sees it; what EKS says of it, and the time, can be changed. */
async function described(first: FakeApi) {
  const world = { api: first, ca: cert, now: 0 };
  const eks = await faultyWire(undefined, () => {
    const certificateAuthority = { data: Buffer.from(world.ca).toString("base64") };
    const cluster = { name: "prod", status: "ACTIVE", endpoint: world.api.url.href, certificateAuthority };
    return { status: 200, headers: json, body: JSON.stringify({ cluster }) };
  });
  onTestFinished(() => eks[Symbol.asyncDispose]());
  const clock = { ...systemClock, monotonic: () => world.now };
  const connection = { region: "eu-west-1", endpoint: eks.url, credentials };
  const cluster = eksCluster(arn, connection, { clock, env: {} });
  onTestFinished(() => cluster.close());
  /** Finds out that a connection breaks, which is what may be the end of an endpoint, and waits until EKS may be asked. */
  const lose = async (): Promise<void> => {
    const call = cluster.create(manifest, { manager: "test" }, never);
    await expect(call).rejects.toMatchObject({ reason: "Unreachable" });
    world.now += 30_000;
  };
  return { world, eks, cluster, lose };
}

async function next(events: AsyncIterator<WatchEvent>): Promise<unknown> {
  return (await events.next()).value;
}
const added = { type: "ADDED", object: { metadata: { name: "a" } } };

describe("concurrent callers of an EKS cluster", () => {
  test("share one description of it, and all get an answer", async () => {
    const { eks, cluster } = await described(await apiServer());
    const found = await Promise.all(Array.from({ length: 8 }, () => cluster.get(refOf("quick"), never)));
    expect(found.map((object) => object?.metadata.name)).toEqual(Array.from({ length: 8 }, () => "quick"));
    expect(eks.seen).toEqual(["GET /clusters/prod"]);
  });

  test("share one more description after it could not be reached, and all get an answer", async () => {
    const { eks, cluster, lose } = await described(await apiServer());
    await lose();
    await Promise.all(Array.from({ length: 8 }, () => cluster.get(refOf("quick"), never)));
    expect(eks.seen).toHaveLength(2);
  });

  test("do not stop if one of them aborts", async () => {
    const { eks, cluster } = await described(await apiServer());
    const [first, last] = [new AbortController(), new AbortController()];
    const calls = [first.signal, never, last.signal].map((signal) => cluster.get(refOf("quick"), signal));
    const settled = Promise.allSettled(calls);
    first.abort(new Error("the first gives up"));
    last.abort(new Error("the last gives up"));
    expect(await settled).toMatchObject([
      { status: "rejected", reason: { message: "the first gives up" } },
      { status: "fulfilled", value: { metadata: { name: "quick" } } },
      { status: "rejected", reason: { message: "the last gives up" } },
    ]);
    expect(eks.seen).toHaveLength(1);
  });

  test("all get the same error if it cannot be described, and the next caller tries again", async () => {
    const api = await apiServer();
    const { world, eks, cluster } = await described(api);
    world.ca = "";
    const settled = await Promise.allSettled([1, 2, 3].map(() => cluster.get(refOf("quick"), never)));
    const message = expect.stringContaining("eks:DescribeCluster on cluster prod");
    expect(settled).toMatchObject([1, 2, 3].map(() => ({ reason: { reason: "Unreachable", message } })));
    expect(eks.seen).toHaveLength(1);
    world.ca = cert;
    expect(await cluster.get(refOf("quick"), never)).toMatchObject({ metadata: { name: "quick" } });
  });
});

describe("an EKS cluster that could not be reached", () => {
  test("and answers again before the next description is due is not described again", async () => {
    const { world, eks, cluster } = await described(await apiServer());
    const broken = cluster.create(manifest, { manager: "test" }, never);
    await expect(broken).rejects.toMatchObject({ reason: "Unreachable" });
    expect(await cluster.get(refOf("quick"), never)).toMatchObject({ metadata: { name: "quick" } });
    world.now = 30_000;
    await cluster.get(refOf("quick"), never);
    expect(eks.seen).toHaveLength(1);
  });

  test("and that cannot be described is tried at its last address until the next description is due", async () => {
    const { world, eks, cluster, lose } = await described(await apiServer());
    await lose();
    world.ca = "";
    const message = expect.stringContaining("eks:DescribeCluster on cluster prod");
    await expect(cluster.get(refOf("quick"), never)).rejects.toMatchObject({ reason: "Unreachable", message });
    expect(await cluster.get(refOf("quick"), never)).toMatchObject({ metadata: { name: "quick" } });
    expect(eks.seen).toHaveLength(2);
  });
});

describe("calls in progress while an EKS cluster", () => {
  test("moves to another address are answered at the old one, whose connections are closed after the last of them", async () => {
    const [former, present] = [await apiServer(), await apiServer()];
    const { world, cluster, lose } = await described(former);
    const calls = [1, 2, 3].map(() => cluster.get(refOf("slow"), never));
    await expect.poll(() => former.slow).toHaveLength(3);
    await lose();
    world.api = present;
    expect(await cluster.get(refOf("quick"), never)).toMatchObject({ metadata: { name: "quick" } });
    expect(await former.connections()).toBeGreaterThanOrEqual(3);
    former.answerSlow();
    expect(await Promise.all(calls)).toMatchObject([1, 2, 3].map(() => ({ metadata: { name: "slow" } })));
    await expect.poll(() => former.connections()).toBe(0);
  });

  test("changes its CA are answered, and so are calls after EKS returns the new one", async () => {
    const api = await apiServer();
    const { world, eks, cluster, lose } = await described(api);
    const early = cluster.get(refOf("slow"), never);
    await expect.poll(() => api.slow).toHaveLength(1);
    await lose();
    world.ca = otherCa;
    await expect(cluster.get(refOf("quick"), never)).rejects.toMatchObject({
      reason: "Unreachable",
      message: expect.stringContaining("the cluster's CA has changed"),
    });
    world.ca = cert;
    world.now += 30_000;
    expect(await cluster.get(refOf("quick"), never)).toMatchObject({ metadata: { name: "quick" } });
    api.answerSlow();
    expect(await early).toMatchObject({ metadata: { name: "slow" } });
    expect(eks.seen).toHaveLength(3);
  });
});

/** A cluster that is at another address by now, which a call has found; a watch goes on at the former one. */
async function movedBehindWatch() {
  const [former, present] = [await apiServer(), await apiServer()];
  const { world, eks, cluster, lose } = await described(former);
  const events = cluster.watch(configMaps, never)[Symbol.asyncIterator]();
  expect(await next(events)).toMatchObject(added);
  await lose();
  world.api = present;
  await cluster.get(refOf("quick"), never);
  return { former, present, world, eks, cluster, events };
}

describe("a watch of an EKS cluster", () => {
  test("whose connection breaks describes the cluster again, as a call does", async () => {
    const [former, present] = [await apiServer(), await apiServer()];
    const { world, eks, cluster } = await described(former);
    const events = cluster.watch(configMaps, never)[Symbol.asyncIterator]();
    expect(await next(events)).toMatchObject(added);
    former.watches[0]?.destroy();
    await expect(next(events)).rejects.toMatchObject({ reason: "Unreachable" });
    world.now = 30_000;
    world.api = present;
    const again = cluster.watch(configMaps, never)[Symbol.asyncIterator]();
    expect(await next(again)).toMatchObject(added);
    await again.return?.();
    expect(eks.seen).toHaveLength(2);
    expect(present.watches).toHaveLength(1);
  });

  test("continues if the cluster is described again for others, and its connection is closed with it", async () => {
    const { former, events } = await movedBehindWatch();
    former.watches[0]?.write(`${JSON.stringify({ type: "ADDED", object: configMapOf("b") })}\n`);
    expect(await next(events)).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
    await events.return?.();
    await expect.poll(() => former.connections()).toBe(0);
  });
});

test("a call that breaks at an old address does not affect the current one", async () => {
  const { former, world, eks, cluster, events } = await movedBehindWatch();
  former.watches[0]?.destroy();
  await expect(next(events)).rejects.toMatchObject({ reason: "Unreachable" });
  world.now += 30_000;
  await cluster.get(refOf("quick"), never);
  expect(eks.seen).toHaveLength(2);
});

test("closing an EKS cluster closes its connections to its current and to its old address", async () => {
  const { former, present, cluster, events } = await movedBehindWatch();
  const broken = next(events).catch((error: unknown) => error);
  cluster.close();
  expect(await broken).toMatchObject({ reason: "Unreachable" });
  for (const api of [former, present]) await expect.poll(() => api.connections()).toBe(0);
});
