import { describe, expect, test } from "vitest";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { refuseBesideFlux } from "../../../local/refuse-beside-flux.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const { signal } = new AbortController();

function lease(name: string, spec: object, namespace = "flux-system"): LiveObject {
  const metadata = { name, namespace, uid: "u", resourceVersion: "1" };
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
}

/** Starts on a cluster that has these leases after so many milliseconds; answers how long it looked. */
async function start(leasesAt: (ms: number) => readonly LiveObject[]): Promise<number> {
  let elapsed = 0;
  const clock = {
    now: () => elapsed,
    monotonic: () => elapsed,
    sleep: async (ms: number) => void (elapsed += ms),
  };
  await refuseBesideFlux(
    { list: async () => leasesAt(elapsed) },
    { clock, log: silentLog, kinds: declaredKinds },
    signal,
  );
  return elapsed;
}

const holderIdentity = "kustomize-controller-7d9c_1234";
/** As a controller leaves it that runs: renewed every five seconds. */
const renewed = (ms: number) => ({
  holderIdentity,
  renewTime: `2026-11-21T12:00:${10 + Math.floor(ms / 5_000)}.000000Z`,
});

describe("Sluice refuses a cluster on which Flux runs", () => {
  test.each(["kustomize-controller", "source-controller", "image-reflector-controller", "image-automation-controller"])(
    "if %s renews its lease",
    async (controller) => {
      await expect(start((ms) => [lease(`${controller}-leader-election`, renewed(ms))])).rejects.toThrow(
        `Flux's ${controller} runs in namespace flux-system of this cluster, and both would reconcile the same objects: stop it first, kubectl -n flux-system scale deployment source-controller source-watcher kustomize-controller helm-controller image-reflector-controller image-automation-controller notification-controller --replicas=0; sluice check counts the objects that Flux alone reconciles, and that stay behind`,
      );
    },
  );

  test("also if Flux runs as several shards", async () => {
    const shard = "kustomize-controller-leader-election-0a1b2c3d";
    await expect(start((ms) => [lease(shard, renewed(ms))])).rejects.toThrow("Flux's kustomize-controller runs");
  });

  test("also if Flagger renews its lease, which is not in the namespace where it runs", async () => {
    await expect(start((ms) => [lease("flagger-leader-election", renewed(ms), "kube-system")])).rejects.toThrow(
      "Flagger runs on this cluster, and both would take the steps of the same Canaries: stop it first, in its namespace, kubectl scale deployment flagger --replicas=0",
    );
  });

  test("also if Flux runs in another namespace", async () => {
    const starting = start((ms) => [lease("kustomize-controller-leader-election", renewed(ms), "gitops")]);
    await expect(starting).rejects.toThrow("runs in namespace gitops");
  });

  test("after Flux was killed, for as long as a running Flux needs to renew its lease", async () => {
    expect(await start(() => [lease("kustomize-controller-leader-election", renewed(0))])).toBe(12_000);
  });

  test.each([
    ["no lease is held", []],
    [
      "only other programs renew their leases",
      [lease("node-1", { holderIdentity: "node-1", renewTime: "2026" }, "kube-node-lease")],
    ],
    [
      "Flux has given its lease back",
      [lease("kustomize-controller-leader-election", { ...renewed(0), holderIdentity: "" })],
    ],
    [
      "a lease of that name has another content",
      [lease("kustomize-controller-leader-election", { holderIdentity: 1 })],
    ],
  ])("but not if %s", async (_what, leases) => {
    expect(await start(() => leases)).toBe(0);
  });

  test.each(["Forbidden", "NoMatch"])(
    "but not where leases are %s, because an unknown state does not block the start",
    async (reason) => {
      const forbidden = new ApiError({ code: 403, reason, message: "leases is forbidden" });
      expect(
        await start(() => {
          throw forbidden;
        }),
      ).toBe(0);
    },
  );

  test("and does not treat an outage as an answer", async () => {
    const unreachable = new ApiError({ code: 0, reason: "Unreachable", message: "no answer" });
    const starting = start(() => {
      throw unreachable;
    });
    await expect(starting).rejects.toThrow("no answer");
  });
});
