import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ownerOf } from "../../../lib/gate/cluster-owner.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { deadlineMs } from "../../deadline.ts";
import { faultyWire } from "../../doubles/faulty-wire.ts";
import { startFunction } from "../../real/lambda/start-function.ts";
import { quickBundles } from "./quick-bundles.ts";
import { realParts } from "./real-parts.ts";
import { roleSession } from "./role-session.ts";

const parts = realParts();
const { signal } = new AbortController();

describe.skipIf(parts === undefined)("custom resources, if SLUICE_REAL_EKS_CLUSTER names a cluster", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-resources-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("definitions are installed by a function that starts as in Lambda, with a role that EKS' authenticator knows", async () => {
    if (parts === undefined) throw new Error("skipped");
    const { eks } = parts;
    const { server, tls } = await readKubeconfig({ file: eks.kubeconfig, env: {}, homeDir: "/" });
    const admin = connect(await readKubeconfig({ file: eks.kubeconfig, env: {}, homeDir: "/" }), {
      clock: systemClock,
      env: {},
    });
    const { name, region } = eks.cluster;
    const data = Buffer.from(tls.ca ?? "").toString("base64");
    const cluster = {
      name,
      arn: eks.clusterArn,
      endpoint: server.href,
      certificateAuthority: { data },
      version: "1.35",
    };
    const answers: string[] = [];
    // EKS, and the URL that CloudFormation gives.
    await using wire = await faultyWire(undefined, ({ method }, _count, body) => {
      if (method === "PUT") answers.push(body.toString());
      const headers = { "content-type": "application/json" };
      return { status: 200, headers, body: JSON.stringify({ cluster }) };
    });
    const session = await roleSession(eks.sts, eks.role, `definitions-${randomUUID().slice(0, 8)}`);
    const bundle = (await quickBundles(folder)).get("definitions");
    const definitions = await startFunction({
      name: "definitions",
      folder: bundle?.folder ?? "",
      handler: "index.handler",
      env: {
        AWS_ACCESS_KEY_ID: session.accessKeyId,
        AWS_SECRET_ACCESS_KEY: session.secretAccessKey,
        AWS_ENDPOINT_URL_EKS: wire.url,
      },
      memoryMegabytes: 512,
      timeoutMs: 120_000,
      region,
    });
    try {
      const installed = async () => {
        // Other stories of this cluster own it, each for a while.
        const owner = await ownerOf(admin, signal);
        const installation = owner?.id ?? "123456789012/eu-west-1/resources";
        await definitions.invoke({
          RequestType: "Create",
          ResponseURL: `${wire.url}/answer?X-Amz-Signature=hunter2`,
          StackId: "arn:aws:cloudformation:eu-west-1:123456789012:stack/sluice/1",
          RequestId: randomUUID(),
          LogicalResourceId: "ProdDefinitions",
          ResourceProperties: { cluster: eks.clusterArn, installation, version: "0.1.0" },
        });
        expect(JSON.parse(answers.at(-1) ?? "{}")).toMatchObject({
          Status: "SUCCESS",
          PhysicalResourceId: eks.clusterArn,
        });
      };
      await vi.waitFor(installed, { timeout: deadlineMs, interval: 200 });
      const role = { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole", namespace: "" };
      expect(await admin.get({ ...role, name: "sluice-reconcile" }, signal)).toBeDefined();
      expect(definitions.output()).not.toContain("hunter2");
    } finally {
      await definitions.stop();
      admin.close();
    }
  });
});
