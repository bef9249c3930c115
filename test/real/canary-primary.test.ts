import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectAt } from "../../lib/canary/workload/fields.ts";
import { type ConnectedCluster, connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { withinDeadline } from "../deadline.ts";
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
    const { spec: lastPromotedSpec } = await one.step({ spec: { targetRef } }).revision();
    await one.change("apps/v1", kind, "podinfo", { spec: { template: template("podinfo:2") } });
    await expect.poll(keptCount, withinDeadline).toBe(2);
    const options = { spec: { targetRef }, status: { phase: "Failed", lastPromotedSpec } };
    expect(await one.step(options).restorePrimary?.(true)).toMatchObject({ kind: "restored" });
    const primary = objectAt(await one.get("apps/v1", kind, "podinfo-primary"), "spec", "template", "spec");
    expect(primary["containers"]).toMatchObject([{ image: "podinfo:1" }]);
    const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: namespace };
    await cluster.delete(ref, { propagation: "Background" }, signal);
  });
});

const apps = { group: "apps", version: "v1" };
