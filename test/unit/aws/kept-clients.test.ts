import { once } from "node:events";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ecrLogin } from "../../../lib/aws/ecr/ecr-login.ts";
import { parseClusterArn } from "../../../lib/aws/eks/cluster-arn.ts";
import { eksCluster } from "../../../lib/aws/eks/eks-cluster.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { pem } from "../../doubles/pem.ts";
import { fakeApi, sendJson } from "../kube/fake-api.ts";

const never = new AbortController().signal;
const region = "eu-west-1";
const credentials = { accessKeyId: "x", secretAccessKey: "y" };
const ca = await pem("server.crt");

/** An adapter that has asked AWS, and asks once more when it is told that so much time has passed. */
interface Asking {
  again(): Promise<unknown>;
  close(): void;
}

async function askEks(endpoint: string): Promise<Asking> {
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const arn = parseClusterArn(`arn:aws:eks:${region}:123456789012:cluster/prod`);
  const cluster = eksCluster(arn, { region, endpoint, credentials }, { clock, env: {} });
  const fail = () => expect(cluster.uid(never)).rejects.toMatchObject({ reason: "Unreachable" });
  const again = () => {
    now += 30_000;
    return fail();
  };
  await fail();
  return { again, close: () => cluster.close() };
}

async function askEcr(endpoint: string): Promise<Asking> {
  let now = 0;
  const clock = { now: () => now };
  const login = ecrLogin({ connection: { region, endpoint, credentials }, clock, isAllowed: () => true });
  const host = `123456789012.dkr.ecr.${region}.amazonaws.com`;
  const again = () => {
    now += 3_600_000;
    return login.credentials({ host, repository: "web", cluster: "home", namespace: "apps" }, never);
  };
  await again();
  return { again, close: () => login.close() };
}

test.each([
  ["the description of a cluster of EKS", askEks],
  ["a token of ECR", askEcr],
])("the client for %s is created once and keeps its connection until it is closed", async (_, ask) => {
  let [asked, connected] = [0, 0];
  await using aws = await fakeApi((request, response) => {
    asked++;
    const token = { authorizationToken: btoa("AWS:hunter2"), expiresAt: 1_000_000 };
    // No server listens on this port, so the cluster is described again.
    const cluster = { name: "prod", endpoint: "https://127.0.0.1:1", certificateAuthority: { data: btoa(ca) } };
    // An answer to a request that was not read would end the connection.
    once(request.resume(), "end").then(
      () => sendJson(response, 200, { authorizationData: [token], cluster }),
      () => response.destroy(),
    );
  });
  aws.server.on("connection", () => connected++);
  const asking = await ask(aws.url.href);
  await asking.again();
  expect({ asked, connected }).toEqual({ asked: 2, connected: 1 });
  asking.close();
  const connections = promisify(aws.server.getConnections.bind(aws.server));
  await expect.poll(() => connections()).toBe(0);
});
