import { expect, test } from "vitest";
import type { HelmReleaseStatus } from "../../../../lib/api/helm-release-status.ts";
import { defaultGates } from "../../../../lib/core/feature-gates.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import type { HelmReleaseContext } from "../../../../lib/flows/helm-release/attempt/context.ts";
import { Blocked, reportBlocked } from "../../../../lib/flows/helm-release/blocked.ts";
import { checkDependencies } from "../../../../lib/flows/helm-release/dependencies.ts";
import { recordRelease } from "../../../../lib/flows/helm-release/release-events.ts";
import { defaultTiming } from "../../../../lib/flows/interval.ts";
import type { EventToRecord } from "../../../../lib/flows/record-event.ts";
import { noCluster } from "../../../doubles/no-cluster.ts";
import { partOf } from "../../../doubles/part-of.ts";

const key = { cluster: "here", group: "helm.toolkit.fluxcd.io", kind: "HelmRelease", namespace: "apps", name: "web" };
const dependency = { ...key, name: "database", namespace: "data" };
const notReady: LiveObject = {
  apiVersion: "helm.toolkit.fluxcd.io/v2",
  kind: "HelmRelease",
  metadata: { name: "database", namespace: "data", uid: "u", generation: 1 },
  spec: { interval: "1h", chartRef: { kind: "OCIRepository", name: "database" } },
};

/** A run of a HelmRelease that depends on one that is not ready, and what it records. */
function run(status: HelmReleaseStatus = {}) {
  const recorded: EventToRecord[] = [];
  const { name, namespace } = key;
  const ctx = partOf<HelmReleaseContext>({
    ...{ name, namespace, generation: 1, requestedAt: undefined },
    home: asHome({ ...noCluster, get: async () => notReady }),
    release: {
      metadata: { name, namespace, uid: "w" },
      spec: {
        interval: "1h",
        chartRef: { kind: "OCIRepository", name: "chart" },
        dependsOn: [{ name: "database", namespace: "data" }],
      },
      status,
    },
    run: partOf<HelmReleaseContext["run"]>({ key, signal: new AbortController().signal }),
    deps: partOf<HelmReleaseContext["deps"]>({
      clock: partOf<HelmReleaseContext["deps"]["clock"]>({ now: () => 0 }),
      timing: defaultTiming,
      gates: defaultGates,
    }),
    status: () => status,
    write: async () => {},
    record: (event: EventToRecord) => void recorded.push(event),
  });
  return { ctx, recorded };
}
const metadata = { revision: "1.0.0", token: "sha256:0", appVersion: "", ociDigest: "" };
const ready: HelmReleaseStatus = {
  conditions: [
    {
      type: "Ready",
      status: "True",
      reason: "UpgradeSucceeded",
      message: "m",
      lastTransitionTime: "2026-11-24T12:00:00Z",
    },
  ],
};

test("the event of a HelmRelease that waits for a dependency names the dependency", async () => {
  const { ctx, recorded } = run();
  const blocked = await checkDependencies(ctx).catch((error: unknown) => error);
  if (!(blocked instanceof Blocked)) throw new Error("the run was not blocked");
  await reportBlocked(blocked, { failures: 0 }, ctx);
  expect(recorded).toMatchObject([
    {
      type: "Normal",
      reason: "DependencyNotReady",
      message: "dependency 'data/database' is not ready",
      relation: { kind: "waits", cause: dependency },
    },
  ]);
});

test.each([
  { reason: "InstallFailed", relation: "failed" },
  { reason: "TestFailed", relation: "failed" },
  { reason: "InstallSucceeded", relation: "recovered" },
  { reason: "RollbackSucceeded", relation: undefined },
  { reason: "DriftCorrected", relation: undefined },
] as const)(
  "for a release that was not ready, an event with $reason has the relation $relation",
  ({ reason, relation }) => {
    const { ctx, recorded } = run();
    recordRelease(ctx, { type: "Normal", reason, message: "m" }, metadata);
    expect(recorded.map((event) => event.relation?.kind)).toEqual([relation]);
  },
);

test("a release that recovers names its chart and its dependencies in the event; one that was ready names nothing", () => {
  const [before, now] = [run(), run(ready)];
  for (const { ctx } of [before, now]) {
    recordRelease(ctx, { type: "Normal", reason: "UpgradeSucceeded", message: "m" }, metadata);
  }
  expect(before.recorded[0]?.relation).toMatchObject({
    from: [{ kind: "OCIRepository", namespace: "apps", name: "chart" }, dependency],
  });
  expect(now.recorded[0]?.relation).toBeUndefined();
});
