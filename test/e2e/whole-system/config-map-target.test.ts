import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eksTargets, type ListedTarget } from "../../../lib/aws/eks/eks-targets.ts";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { asHome, asTarget } from "../../../lib/core/ports/home-and-target.ts";
import type { RemoteCluster } from "../../../lib/core/ports/remote-clusters.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { openRemoteTarget } from "../../../lib/flows/owner/remote-target.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { remoteClusters } from "../../../lib/kube/remote-clusters.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { faultyWire } from "../../doubles/faulty-wire.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { realParts } from "./real-parts.ts";

const parts = realParts();
const { signal } = new AbortController();

/** EKS' own authenticator takes the tokens, and asks STS whose they are. */
describe.skipIf(parts === undefined)("spec.kubeConfig.configMapRef, if SLUICE_REAL_EKS_CLUSTER names a cluster", () => {
  const ending = new AsyncDisposableStack();
  let endpoint: string;
  let uid: string;

  beforeAll(async () => {
    if (parts === undefined) throw new Error("skipped");
    const { eks } = parts;
    const config = await readKubeconfig({ file: eks.kubeconfig, env: {}, homeDir: "/" });
    // EKS' answer by us, since moto invents endpoint and authority; STS is the part's.
    const certificateAuthority = { data: Buffer.from(config.tls.ca ?? "").toString("base64") };
    const cluster = { name: eks.cluster.name, arn: eks.clusterArn, status: "ACTIVE", certificateAuthority };
    const body = JSON.stringify({ cluster: { ...cluster, endpoint: config.server.href } });
    const front = await faultyWire(eks.sts, ({ method }) =>
      method === "GET" ? { status: 200, headers: { "content-type": "application/json" }, body } : "pass",
    );
    endpoint = ending.use(front).url;
    const admin = connect(config, { clock: systemClock, env: {} });
    ending.defer(() => admin.close());
    uid = await admin.uid(signal);
  });
  afterAll(() => ending.disposeAsync());

  /** Opens the cluster of a Kustomization whose ConfigMap names it, in an installation that lists it in this way. */
  async function open(data: Readonly<Record<string, string>>, entry: ListedTarget) {
    if (parts === undefined) throw new Error("skipped");
    const { cluster, clusterArn, role } = parts.eks;
    const connection = {
      ...{ region: cluster.region, endpoint },
      credentials: { accessKeyId: "stranger", secretAccessKey: "x" },
    };
    const listed = (_: unknown, arn: string) => (arn === clusterArn ? entry : undefined);
    const clusters = remoteClusters({
      ...{ clock: systemClock, network: homeNetwork },
      eks: eksTargets({ connection, clock: systemClock, listed }),
    });
    ending.defer(() => clusters.close());
    const annotations = { "eks.amazonaws.com/role-arn": role };
    const home = asHome({
      ...noCluster,
      uid: async () => "home",
      get: async ({ kind, name }) => ({
        ...{ apiVersion: "v1", kind, data: { provider: "aws", cluster: clusterArn, ...data } },
        metadata: { name, namespace: "apps", uid: kind, resourceVersion: "1", annotations },
      }),
    });
    const live = {
      ...{ apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization" },
      metadata: { name: "app", namespace: "apps", uid: "app" },
      spec: { kubeConfig: { configMapRef: { name: "remote" } } },
    };
    let remote: RemoteCluster | undefined;
    const byEks: typeof clusters.byEks = async (target, stop) => (remote = await clusters.byEks(target, stop));
    const deps = {
      ...{ remoteClusters: { ...clusters, byEks }, gated: asTarget },
      ...{ defaultServiceAccount: "", defaultKubeconfigAccount: "" },
      gates: { ...defaultGates, ObjectLevelWorkloadIdentity: true },
      accountTokens: { issue: async () => new Secret("token-of-the-home-cluster") },
    };
    const target = await openRemoteTarget(live, { home, cluster: "home" }, deps, signal);
    return { told: await remote?.uid(signal), user: (await remote?.whoAmI(signal))?.name, target };
  }

  test("logs in as Sluice with the role in the list, and as a service account with the role of its annotation", async () => {
    const role = parts?.eks.role;
    const region = parts?.eks.cluster.region;
    const [own, account] = [
      await open({}, { role }),
      await open({ serviceAccountName: "enters" }, { role: undefined }),
    ];
    expect([own.user, account.user]).toEqual(["sluice:sluice", `sluice:enters.apps.${region}.sluice`]);
    expect([own.told, account.told]).toEqual([uid, uid]);
    expect(own.target.uid).toMatch(/^cluster:/);
    expect(account.target.uid).toBe(own.target.uid);
  });

  test("is refused for an identity without an access entry there", async () => {
    await expect(open({}, { role: "arn:aws:iam::123456789012:role/stranger" })).rejects.toMatchObject({
      reason: "ReconciliationFailed",
      message: expect.stringContaining("does not take the credential of our AWS identity"),
    });
  });
});
