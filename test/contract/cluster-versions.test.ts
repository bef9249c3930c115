import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installCrds } from "../../lib/definitions/install-crds.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { silentLog } from "../doubles/silent-log.ts";
import { configMap } from "../e2e/flow/sample-manifests.ts";
import { world } from "../e2e/flow/world.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane, ownControlPlane } from "../real/own-control-plane.ts";
import type { ClusterUnderTest } from "./cluster/cluster-under-test.ts";
import { connectUnderTest } from "./cluster/connect-under-test.ts";
import { discoveryContract } from "./cluster/discovery.ts";
import { sluiceKindsContract } from "./cluster/sluice-kinds.ts";
import { watchesContract } from "./cluster/watches.ts";
import { never } from "./state-back-end.ts";

const versions = [
  {
    what: "emulates the one two minor versions older",
    apiServerArgs: ["--emulated-version=1.33"],
    emulates: "33",
    serves: { group: "resource.k8s.io", kind: "DeviceClass" },
    inVersion: undefined,
  },
  {
    // A newer one than the newest cannot be had: what it will serve is there already, and switched off.
    what: "serves everything that newer ones will have, as far as available",
    apiServerArgs: ["--feature-gates=AllAlpha=true,AllBeta=true", "--runtime-config=api/all=true"],
    emulates: "35",
    serves: { group: "internal.apiserver.k8s.io", kind: "StorageVersion" },
    inVersion: "v1alpha1",
  },
];

describe.skipIf(!mayHaveOwnControlPlane())("with SLUICE_REAL_KUBECONFIG, an API server", () => {
  describe.each(versions)("that $what", ({ apiServerArgs, emulates, serves, inVersion }) => {
    let plane: OwnControlPlane;
    let own: ClusterUnderTest;
    beforeAll(async () => {
      plane = await ownControlPlane(...apiServerArgs);
      own = await connectUnderTest(plane.kubeconfig);
    });
    afterAll(async () => {
      await own.close();
      await plane[Symbol.asyncDispose]();
    });

    test("is one", async () => {
      const request = { verb: "get", method: "GET", path: "/version", repeatable: true } as const;
      const { text } = await own.api.expect(request, never);
      expect(JSON.parse(text)).toMatchObject({ minor: "35", emulationMinor: emulates });
      expect((await own.cluster.resource(serves, never))?.version).toBe(inVersion);
    });

    const start = () => connectUnderTest(plane.kubeconfig);
    discoveryContract(start);
    sluiceKindsContract(start);
    watchesContract(start);

    test("takes a Kustomization from its first apply to its deletion", async () => {
      await installCrds(own.cluster, { clock: systemClock, log: silentLog }, never);
      const app = await world(own.cluster, "versions");
      const get = (name: string) => app.get("ConfigMap", name);
      await app.publish("v1", [configMap("a"), configMap("b")]);
      await app.kustomization("app");
      await app.run("app");
      expect((await get("b"))?.["data"]).toEqual({ k: "v" });
      const revision = await app.publish("v2", [configMap("a", { k: "new" })]);
      await app.run("app");
      expect((await get("a"))?.["data"]).toEqual({ k: "new" });
      expect(await get("b")).toBeUndefined();
      expect(await app.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);

      const ref = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
      const named = { ...ref, namespace: app.namespace, name: "app" };
      expect(await own.cluster.delete(named, { propagation: "Background" }, never)).toBe("deleting");
      await app.run("app");
      expect(await own.cluster.get(named, never)).toBeUndefined();
      expect(await get("a")).toBeUndefined();
    });
  });
});
