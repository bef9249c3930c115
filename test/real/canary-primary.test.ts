import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { declaredCanary } from "../../lib/api/kinds/canary.ts";
import { objectAt } from "../../lib/canary/workload/fields.ts";
import type { JsonObject } from "../../lib/core/json.ts";
import { installCrds } from "../../lib/definitions/install-crds.ts";
import { type ConnectedCluster, connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { withinDeadline } from "../deadline.ts";
import { silentLog } from "../doubles/silent-log.ts";
import { workloadWorld } from "../unit/canary/workload/workload-world.ts";

const file = process.env["SLUICE_REAL_KUBECONFIG"];
const { signal } = new AbortController();
let cluster: ConnectedCluster;

describe.skipIf(file === undefined)("a real control plane (set SLUICE_REAL_KUBECONFIG)", () => {
  beforeAll(async () => {
    cluster = connect(await readKubeconfig({ file: file ?? "", env: {}, homeDir: "/" }), {
      clock: systemClock,
      env: {},
    });
    await installCrds(cluster, { clock: systemClock, log: silentLog, kinds: [declaredCanary] }, signal);
  });
  afterAll(() => cluster.close());

  test.each([
    { kind: "Deployment", keptIn: "ReplicaSet" },
    { kind: "DaemonSet", keptIn: "ControllerRevision" },
  ])("keeps the last promoted revision of a $kind, from which its primary is recreated", async ({ kind, keptIn }) => {
    const namespace = `canary-primary-${kind.toLowerCase()}-${Date.now()}`;
    const one = await workloadWorld(cluster, namespace);
    const template = (image: string) => ({
      metadata: { labels: { app: "podinfo" } },
      spec: { containers: [{ name: "podinfod", image }] },
    });
    const spec = { selector: { matchLabels: { app: "podinfo" } }, template: template("podinfo:1") };
    await one.put({ apiVersion: "apps/v1", kind, metadata: { name: "podinfo" }, spec });
    const keptCount = async () => (await cluster.list({ ...apps, kind: keptIn, namespace }, signal)).length;
    await expect.poll(keptCount, withinDeadline).toBe(1);
    const targetRef = { apiVersion: "apps/v1", kind, name: "podinfo" };
    const uid = await suspendedCanary(namespace, targetRef);
    const { spec: lastPromotedSpec } = await one.step({ spec: { targetRef } }).revision();
    await one.change("apps/v1", kind, "podinfo", { spec: { template: template("podinfo:2") } });
    await expect.poll(keptCount, withinDeadline).toBe(2);
    const options = { uid, spec: { targetRef }, status: { phase: "Failed", lastPromotedSpec } };
    expect(await one.step(options).restorePrimary?.(true)).toMatchObject({ kind: "restored" });
    const primary = objectAt(await one.get("apps/v1", kind, "podinfo-primary"), "spec", "template", "spec");
    expect(primary["containers"]).toMatchObject([{ image: "podinfo:1" }]);
    const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: namespace };
    await cluster.delete(ref, { propagation: "Background" }, signal);
  });
});

const apps = { group: "apps", version: "v1" };

/** The owner that the primary names: without it the garbage collector deletes the primary, at once or a minute later. */
async function suspendedCanary(namespace: string, targetRef: JsonObject): Promise<string> {
  const spec = {
    targetRef,
    service: { port: 9898 },
    analysis: { interval: "10s", threshold: 5, iterations: 1 },
    suspend: true,
  };
  const canary = { apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata: { name: "podinfo", namespace }, spec };
  const { metadata } = await cluster.create(canary, { manager: "test" }, signal);
  return metadata.uid;
}
