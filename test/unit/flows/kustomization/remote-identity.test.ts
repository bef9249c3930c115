import { expect, test } from "vitest";
import { defaultGates } from "../../../../lib/core/feature-gates.ts";
import { ApiError, type Endpoint } from "../../../../lib/core/ports/cluster.ts";
import { asHome, asTarget } from "../../../../lib/core/ports/home-and-target.ts";
import type { OwnUser, RemoteCluster } from "../../../../lib/core/ports/remote-clusters.ts";
import { openRemoteTarget } from "../../../../lib/flows/owner/remote-target.ts";
import { TargetFault } from "../../../../lib/flows/owner/target-fault.ts";
import { noCluster } from "../../../doubles/no-cluster.ts";
import { noRemoteClusters } from "../../../doubles/no-remote-clusters.ts";

const { signal } = new AbortController();
const live = {
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: { name: "app", namespace: "t", uid: "uid-app" },
  spec: { kubeConfig: { secretRef: { name: "remote" } } },
};
const own: Endpoint = { authority: "sha256:home", address: "https://home" };
const elsewhere: Endpoint = { authority: `sha256:${"a".repeat(64)}`, address: "https://a" };
const refused = (code: number, reason: string) => new ApiError({ code, reason, message: reason.toLowerCase() });

interface Told {
  readonly uid?: string | ApiError;
  readonly endpoint?: Endpoint | undefined;
  readonly user?: OwnUser | ApiError;
}

/** What inventories and claims are kept by for a server that tells this and is verified as this. */
async function identityOf({ uid = "uid-there", endpoint = elsewhere, user }: Told): Promise<string> {
  const answer = async <T>(value: T | ApiError): Promise<T> => {
    if (value instanceof ApiError) throw value;
    return value;
  };
  const remote: RemoteCluster = {
    ...noCluster,
    as: () => noCluster,
    accountTokens: { issue: async () => Promise.reject(new Error("not asked")) },
    fallbackUid: "unread:there",
    uid: () => answer(uid),
    endpoint: async () => endpoint,
    whoAmI: () => answer(user),
  };
  const home = asHome({
    ...noCluster,
    uid: async () => "uid-home",
    endpoint: async () => own,
    get: async ({ kind, name }) => ({
      ...{ apiVersion: "v1", kind, data: { value: "eA==" } },
      metadata: { name, namespace: "t", uid: `uid-${name}`, resourceVersion: "1" },
    }),
  });
  const remoteClusters = { ...noRemoteClusters, byKubeconfig: async () => remote };
  const accounts = { accountTokens: undefined, defaultKubeconfigAccount: "", defaultServiceAccount: "" };
  const deps = { ...accounts, gates: defaultGates, remoteClusters, gated: asTarget };
  const target = await openRemoteTarget(live, { home, cluster: "test" }, deps, signal);
  expect(await target.cluster.uid(signal)).toBe(target.uid);
  return target.uid;
}

const forbidden = refused(403, "Forbidden");
const ofHome = { name: "system:serviceaccount:t:deployer", uid: "uid-deployer" };

test("a server with the home cluster's uid is the home cluster only if it has the CA of our own connection", async () => {
  expect(await identityOf({ uid: "uid-home", endpoint: { ...own, address: "https://other-name" } })).toBe("uid-home");
  const lie = await identityOf({ uid: "uid-home" });
  expect(lie).toMatch(/^cluster:[0-9a-f]{32}\.[0-9a-f]{32}$/);
  expect(await identityOf({ uid: "uid-other", endpoint: own })).toMatch(/^cluster:/);
  expect(await identityOf({ uid: "uid-home", endpoint: { ...own, authority: undefined } })).toBe("unread:there");
});

test("a server is identified by its CA and its uid, at whatever address", async () => {
  const known = await identityOf({});
  expect(await identityOf({ endpoint: { ...elsewhere, address: "https://b" } })).toBe(known);
  const other = { ...elsewhere, authority: `sha256:${"b".repeat(64)}` };
  const all = [known, await identityOf({ endpoint: other }), await identityOf({ uid: "uid-home" })];
  expect(new Set(all).size).toBe(3);
});

test("a server whose uid cannot be read is home if it has our CA and also our address or our account", async () => {
  expect(await identityOf({ uid: forbidden, endpoint: own })).toBe("uid-home");
  const elsewhereOfOurs = { ...own, address: "https://other-name" };
  expect(await identityOf({ uid: forbidden, endpoint: elsewhereOfOurs, user: ofHome })).toBe("uid-home");
  const unknown = [
    { endpoint: elsewhereOfOurs },
    { endpoint: elsewhereOfOurs, user: { ...ofHome, uid: "another" } },
    { endpoint: elsewhereOfOurs, user: refused(422, "Odd") },
    { endpoint: elsewhere, user: ofHome },
    { endpoint: { ...elsewhere, address: own.address }, user: ofHome },
  ];
  for (const told of unknown) expect(await identityOf({ uid: forbidden, ...told })).toBe("unread:there");
});

test("an error instead of the uid is blamed on the kubeconfig, unless waiting may help", async () => {
  for (const [code, reason] of [
    [400, "BadRequest"],
    [422, "Odd"],
    [404, "NotFound"],
    [401, "Unauthorized"],
    [0, "NetworkRefused"],
  ] as const)
    await expect(identityOf({ uid: refused(code, reason) })).rejects.toBeInstanceOf(TargetFault);
  await expect(identityOf({ uid: refused(503, "ServiceUnavailable") })).rejects.toBeInstanceOf(ApiError);
});
