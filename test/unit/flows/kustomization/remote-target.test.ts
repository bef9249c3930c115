import { expect, test } from "vitest";
import { defaultGates } from "../../../../lib/core/feature-gates.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { homeNetwork } from "../../../../lib/core/network/network-policy.ts";
import { asHome, asTarget } from "../../../../lib/core/ports/home-and-target.ts";
import { openRemoteTarget } from "../../../../lib/flows/owner/remote-target.ts";
import { remoteClusters } from "../../../../lib/kube/remote-clusters.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { inlineKubeconfig } from "../../../doubles/cluster-fronts.ts";
import { noCluster } from "../../../doubles/no-cluster.ts";
import { pem } from "../../../doubles/pem.ts";
import { configMapOf, configOf, fakeApi, sendDiscovery, sendJson } from "../../kube/fake-api.ts";

const { signal } = new AbortController();

/** Discovery asks for two lists at once. */
const connectionsOfRun = 2;

test("runs against another cluster reuse its TLS connections, also with a service account", async () => {
  const [cert, key] = await Promise.all([pem("server.crt"), pem("server.key")]);
  await using api = await fakeApi(
    (request, response) => {
      if (!sendDiscovery(request, response)) sendJson(response, 200, configMapOf("a"));
    },
    { cert, key },
  );
  let handshakes = 0;
  api.server.on("secureConnection", () => {
    handshakes++;
  });
  const tls = { ca: cert, serverName: "api.sluice.test", insecure: false };
  const value = Buffer.from(inlineKubeconfig(configOf(api.url, { tls }))).toString("base64");
  const secret = { apiVersion: "v1", kind: "Secret", data: { value } };
  const home = asHome({
    ...noCluster,
    get: async () => ({ ...secret, metadata: { name: "remote", uid: "s", resourceVersion: "1" } }),
  });
  const clusters = remoteClusters({ clock: systemClock, network: homeNetwork });
  const accounts = { accountTokens: undefined, defaultKubeconfigAccount: "", gates: defaultGates };
  const deps = { ...accounts, remoteClusters: clusters, gated: asTarget, defaultServiceAccount: "" };
  const run = async (spec: object): Promise<number> => {
    const live: LiveObject = {
      ...{ apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization" },
      metadata: { name: "app", namespace: "n", uid: "k", resourceVersion: "1" },
      spec: { ...spec, kubeConfig: { secretRef: { name: "remote" } } },
    };
    const { cluster } = await openRemoteTarget(live, { home, cluster: "c" }, deps, signal);
    await cluster.get({ group: "", version: "v1", kind: "ConfigMap", namespace: "n", name: "a" }, signal);
    return handshakes;
  };
  const afterFirst = await run({});
  expect(afterFirst).toBeLessThanOrEqual(connectionsOfRun);
  expect(await run({})).toBe(afterFirst);
  expect(await run({ serviceAccountName: "deployer" })).toBeLessThanOrEqual(connectionsOfRun);
  clusters.close();
});

test("Secrets and ConfigMaps of different home clusters use separate connections, even with equal uids", async () => {
  const ids: string[] = [];
  const noted = async ({ id }: { readonly id: string }): Promise<never> => {
    ids.push(id);
    throw new Error("noted");
  };
  const target = "arn:aws:eks:eu-west-1:123456789012:cluster/target";
  const home = asHome({
    ...noCluster,
    get: async ({ kind, name }) => ({
      ...{ apiVersion: "v1", kind, data: { value: "eA==", provider: "aws", cluster: target } },
      metadata: { name, uid: "restored", resourceVersion: "1" },
    }),
  });
  const accounts = { accountTokens: undefined, defaultKubeconfigAccount: "", gates: defaultGates };
  const clusters = { byKubeconfig: noted, byEks: noted };
  const deps = { ...accounts, remoteClusters: clusters, gated: asTarget, defaultServiceAccount: "" };
  for (const cluster of ["one", "two"]) {
    for (const kubeConfig of [{ secretRef: { name: "remote" } }, { configMapRef: { name: "remote" } }]) {
      const live: LiveObject = {
        ...{ apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization" },
        metadata: { name: "app", namespace: "n", uid: "k", resourceVersion: "1" },
        spec: { kubeConfig },
      };
      await expect(openRemoteTarget(live, { home, cluster }, deps, signal)).rejects.toThrow("noted");
    }
  }
  expect(new Set(ids).size).toBe(4);
});
