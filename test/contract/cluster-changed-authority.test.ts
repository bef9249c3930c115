import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { parseClusterArn } from "../../lib/aws/eks/cluster-arn.ts";
import { eksCluster } from "../../lib/aws/eks/eks-cluster.ts";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { deadlineMs } from "../deadline.ts";
import { faultyWire } from "../doubles/faulty-wire.ts";
import { configMap } from "../e2e/flow/sample-manifests.ts";
import { ask } from "../real/ask.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane, ownControlPlane } from "../real/own-control-plane.ts";
import { readPidFiles } from "../real/pid-file.ts";
import { startProcessAgain } from "../real/start-process.ts";
import { stopProcesses } from "../real/stop-processes.ts";
import { type FakeApi, fakeApi, sendJson } from "../unit/kube/fake-api.ts";
import { never } from "./state-back-end.ts";

const Review = z.object({ apiVersion: z.string(), spec: z.object({ token: z.string() }) });
const headers = { "content-type": "application/json" };
const reference = { group: "", version: "v1", kind: "ConfigMap", namespace: "default" };

/** Takes EKS' tokens for the user sluice's, at the place where EKS has its authenticator. */
async function answerReview(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { apiVersion, spec } = Review.parse(await json(request));
  const authenticated = spec.token.startsWith("k8s-aws-v1.");
  const user = { username: "sluice", groups: ["sluice"] };
  const status = authenticated ? { authenticated, user } : { authenticated };
  sendJson(response, 200, { apiVersion, kind: "TokenReview", status });
}

describe.skipIf(!mayHaveOwnControlPlane())(
  "with SLUICE_REAL_KUBECONFIG, an API server that restarts with a certificate of another CA",
  () => {
    let folder = "";
    let authenticator: FakeApi;
    let plane: OwnControlPlane;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "sluice-authority-"));
      authenticator = await fakeApi((request, response) => {
        answerReview(request, response).catch(() => response.destroy());
      });
      const webhook = join(folder, "webhook.kubeconfig");
      const clusters = [{ name: "c", cluster: { server: authenticator.url.href } }];
      const contexts = [{ name: "x", context: { cluster: "c", user: "u" } }];
      const users = [{ name: "u", user: {} }];
      const kubeconfig = { apiVersion: "v1", kind: "Config", "current-context": "x", clusters, contexts, users };
      await writeFile(webhook, JSON.stringify(kubeconfig));
      plane = await ownControlPlane(`--authentication-token-webhook-config-file=${webhook}`);
    });
    afterAll(async () => {
      await plane[Symbol.asyncDispose]();
      await authenticator[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });

    const certificate = () => join(dirname(plane.kubeconfig), "certificates/apiserver.crt");
    const presentCa = () => readFile(certificate(), "utf8");
    /** The one that the kubeconfig names; its authority may be a former one. */
    const configOfFile = (file: string) => readKubeconfig({ file, env: {}, homeDir: "/" });

    /** The same API server, on the same etcd. It makes itself a certificate, and an authority for it, where it finds none. */
    async function comeBackWithAnother(): Promise<void> {
      const run = dirname(plane.kubeconfig);
      const former = await presentCa();
      const { server } = await configOfFile(plane.kubeconfig);
      const processes = readPidFiles(run).filter(({ name }) => name === "kube-apiserver");
      await stopProcesses(processes, never);
      await Promise.all([rm(certificate()), rm(join(run, "certificates/apiserver.key"))]);
      await startProcessAgain(run, "kube-apiserver");
      const isReady = async (): Promise<boolean> => {
        const ca = await presentCa().catch(() => undefined);
        return ca !== undefined && (await ask(`${server.origin}/readyz`, { ca }))?.status === 200;
      };
      await expect.poll(isReady).toBe(true);
      expect(await presentCa()).not.toBe(former);
    }

    const write = (cluster: Cluster, name: string) =>
      cluster.apply(configMap(name, {}, { namespace: "default" }), { manager: "test", force: true }, never);

    test("is not trusted until EKS returns the new CA, and then without further action", async () => {
      const { server } = await configOfFile(plane.kubeconfig);
      let ca = await presentCa();
      await using eks = await faultyWire(undefined, () => {
        const certificateAuthority = { data: Buffer.from(ca).toString("base64") };
        const cluster = { name: "prod", status: "ACTIVE", endpoint: server.href, certificateAuthority };
        return { status: 200, headers, body: JSON.stringify({ cluster }) };
      });
      const arn = parseClusterArn("arn:aws:eks:eu-west-1:123456789012:cluster/prod");
      const credentials = { accessKeyId: "x", secretAccessKey: "y" };
      // When EKS is asked again this clock alone says: however long the API server takes to come back, no time passes.
      let passedMs = 1_000;
      const clock = { ...systemClock, monotonic: () => passedMs };
      const cluster = eksCluster(
        arn,
        { region: "eu-west-1", endpoint: eks.url, credentials, attemptTimeoutMs: deadlineMs },
        { clock, env: {}, limitMs: 15_000 },
      );
      onTestFinished(() => cluster.close());
      const uid = await cluster.uid(never);
      await write(cluster, "before");
      const watch = () => cluster.watch({ ...reference, fieldSelector: "metadata.name=none" }, never);
      const events = watch()[Symbol.asyncIterator]();
      expect(await events.next()).toMatchObject({ value: { type: "BOOKMARK" } });
      const broken = events.next().catch((error: unknown) => error);

      await comeBackWithAnother();
      const refused = {
        name: "ApiError",
        code: 0,
        reason: "Unreachable",
        message: expect.stringMatching(
          new RegExp(
            `^the cluster at ${server.origin} cannot be reached: its certificate was not issued by the certificate-authority that we know .*: the cluster's CA has changed, .* prod `,
          ),
        ),
      };
      expect(await broken).toMatchObject({ name: "ApiError", reason: "Unreachable" });
      await expect(write(cluster, "between")).rejects.toMatchObject(refused);
      await expect(watch()[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
      // EKS takes a while to say so: it is asked, and what it says does not help.
      passedMs += 30_000;
      await expect(write(cluster, "between")).rejects.toMatchObject(refused);
      ca = await presentCa();
      // Nor is it asked again at once.
      await expect(write(cluster, "between")).rejects.toMatchObject(refused);
      expect(eks.seen).toHaveLength(2);

      passedMs += 30_000;
      const names = Array.from({ length: 8 }, (_, index) => `after-${index}`);
      const results = await Promise.all(names.map((name) => write(cluster, name)));
      expect(results.map(({ created }) => created)).toEqual(names.map(() => true));
      expect(eks.seen).toHaveLength(3);
      expect(await cluster.uid(never)).toBe(uid);
      expect(await cluster.get({ ...reference, name: "before" }, never)).toBeDefined();
      expect(await cluster.get({ ...reference, name: "between" }, never)).toBeUndefined();
    });

    test("is not trusted with a kubeconfig until that has the new CA", async () => {
      const file = join(folder, "kubeconfig");
      const kubeconfigOf = async (ca: string): Promise<void> => {
        const text = await readFile(plane.kubeconfig, "utf8");
        const data = `"certificate-authority-data": "${Buffer.from(ca).toString("base64")}"`;
        await writeFile(file, text.replace(/"certificate-authority-data": "[^"]*"/, data));
      };
      const open = async () => {
        const cluster = connect(await configOfFile(file), { clock: systemClock, env: {} });
        onTestFinished(() => cluster.close());
        return cluster;
      };
      await kubeconfigOf(await presentCa());
      const running = await open();
      await write(running, "known");

      await comeBackWithAnother();
      const { server } = await configOfFile(file);
      const message = expect.stringMatching(
        new RegExp(
          `^the cluster at ${server.origin} cannot be reached: its certificate was not issued by the certificate-authority that we know .*; get the cluster's current certificate-authority; check the server of context sluice and that it runs$`,
        ),
      );
      for (const cluster of [running, await open()]) {
        await expect(write(cluster, "unknown")).rejects.toMatchObject({ code: 0, reason: "Unreachable", message });
      }
      await kubeconfigOf(await presentCa());
      expect(await write(await open(), "unknown")).toMatchObject({ created: true });
    });
  },
);
