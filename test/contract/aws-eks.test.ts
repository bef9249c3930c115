import { randomUUID } from "node:crypto";
import { createServer } from "node:https";
import { CreateClusterCommand } from "@aws-sdk/client-eks";
import { afterAll, describe, expect, test } from "vitest";
import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { type ClusterArn, parseClusterArn } from "../../lib/aws/eks/cluster-arn.ts";
import { describeCluster, eksClient, eksClusterConfig } from "../../lib/aws/eks/eks-cluster-config.ts";
import { apiClient } from "../../lib/kube/api-client.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { faultyWire } from "../doubles/faulty-wire.ts";
import { pem } from "../doubles/pem.ts";
import { portOnLoopback } from "../doubles/port-on-loopback.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";

const connection = realAws("AWS");
const nobody = { accessKeyId: "x", secretAccessKey: "y" };

/** An API server that asks STS who its caller is, as EKS's does, and tells it in a namespace's uid. */
async function clusterThatAsksSts(sts: string, clusterName: string) {
  const [cert, key] = await Promise.all([pem("server.crt"), pem("server.key")]);
  const tokens: string[] = [];
  const state = { refuses: 0 };
  const whoIs = async (token: string): Promise<string | undefined> => {
    const signed = new URL(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    // The stand-in takes a signature only in a header. It does not check it, which the test of the token does.
    const body = signed.searchParams;
    const [credential, names] = [body.get("X-Amz-Credential"), body.get("X-Amz-SignedHeaders")];
    const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${body.get("X-Amz-Signature")}`;
    const answer = await fetch(sts, { method: "POST", body, headers: { authorization, "x-k8s-aws-id": clusterName } });
    return /arn:aws:[^"<]+/.exec(await answer.text())?.[0];
  };
  const server = createServer({ cert, key }, (request, response) => {
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    tokens.push(token);
    void whoIs(token).then((arn) => {
      const isRefused = state.refuses-- > 0 || arn === undefined;
      const metadata = { name: "kube-system", uid: arn };
      const status = { kind: "Status", code: 401, reason: "Unauthorized", message: "Unauthorized" };
      response.writeHead(isRefused ? 401 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(isRefused ? status : { apiVersion: "v1", kind: "Namespace", metadata }));
    });
  });
  const port = await portOnLoopback(server);
  return { url: `https://127.0.0.1:${port}`, ca: cert, tokens, state, close: () => server.close() };
}

describe.skipIf(connection === undefined)("EKS, where SLUICE_REAL_AWS names one (npm run real -- up)", () => {
  const of: AwsConnection = connection ?? { region: "eu-west-1" };
  const { credentials = nobody } = of;
  const client = eksClient(of);
  afterAll(() => client.destroy());

  async function createCluster(): Promise<ClusterArn> {
    const { cluster } = await client.send(
      new CreateClusterCommand({
        name: `c-${randomUUID()}`,
        roleArn: "arn:aws:iam::123456789012:role/eks",
        resourcesVpcConfig: {},
      }),
    );
    return parseClusterArn(cluster?.arn ?? "");
  }

  test("returns the address of a cluster and the CA of its certificate", async () => {
    const { server, ca } = await describeCluster(client, await createCluster(), never);
    expect(server.protocol).toBe("https:");
    expect(ca).not.toBe("");
  });

  test("a token proves our identity to a cluster that checks with STS, and is created again if the cluster refuses it", async () => {
    const cluster = await createCluster();
    const described = await eksClusterConfig(cluster, { client, credentials, clock: systemClock }, never);
    const asking = await clusterThatAsksSts(of.endpoint ?? "", cluster.name);
    const api = apiClient(
      { ...described, server: new URL(asking.url), tls: { ca: asking.ca, serverName: undefined, insecure: false } },
      { clock: systemClock, env: {} },
    );
    const who = { verb: "get", method: "GET", path: "/api/v1/namespaces/kube-system", repeatable: true } as const;
    try {
      expect((await api.expect(who, never)).text).toMatch(/arn:aws:sts::123456789012:/);
      asking.state.refuses = 1;
      expect((await api.expect(who, never)).text).toMatch(/arn:aws:sts::123456789012:/);
      expect(asking.tokens).toHaveLength(3);
      asking.state.refuses = 2;
      await expect(api.expect(who, never)).rejects.toMatchObject({
        reason: "Unauthorized",
        message: expect.stringContaining(
          `(${cluster.name}) does not take the credential of our AWS identity, nor a new one`,
        ),
      });
    } finally {
      api.close();
      asking.close();
    }
  });

  test("a missing cluster is named with its region", async () => {
    const missing = parseClusterArn("arn:aws:eks:eu-west-1:123456789012:cluster/none");
    await expect(describeCluster(client, missing, never)).rejects.toMatchObject({
      reason: "missing",
      message: expect.stringContaining("eks:DescribeCluster on cluster none: it does not exist in region eu-west-1"),
    });
  });

  test("a cluster of the same name in the account of our credentials is not mistaken for the listed one", async () => {
    const cluster = { ...(await createCluster()), account: "999999999999" };
    await expect(describeCluster(client, cluster, never)).rejects.toThrow(
      "the credentials are of account 123456789012, the cluster is of account 999999999999",
    );
  });

  test("a cluster that is still being created is reported as such", async () => {
    const cluster = await createCluster();
    const { name, region, account } = cluster;
    const arn = `arn:aws:eks:${region}:${account}:cluster/${name}`;
    const body = JSON.stringify({ cluster: { name, arn, status: "CREATING" } });
    await using wire = await faultyWire(undefined, () => ({
      status: 200,
      body,
      headers: { "content-type": "application/json" },
    }));
    const over = eksClient({ ...of, endpoint: wire.url });
    await expect(describeCluster(over, cluster, never)).rejects.toThrow(
      "its status is CREATING; wait until it is ACTIVE",
    );
    over.destroy();
  });
});
