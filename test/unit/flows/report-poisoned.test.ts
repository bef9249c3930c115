import { describe, expect, test } from "vitest";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster, Patch } from "../../../lib/core/ports/cluster.ts";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import type { Run } from "../../../lib/core/run.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { reportPoisoned } from "../../../lib/flows/report-poisoned.ts";
import { keyOf } from "../../contract/state-back-end.ts";
import { noCluster } from "../../doubles/no-cluster.ts";

const key = keyOf("web");
const live: LiveObject = {
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: { name: "web", namespace: "apps", uid: "uid-1", generation: 3 },
  spec: { nonsense: true },
  status: {
    conditions: [
      {
        type: "Ready",
        status: "Unknown",
        reason: "Progressing",
        message: "",
        lastTransitionTime: "2026-11-20T00:00:00Z",
      },
      {
        type: "Reconciling",
        status: "True",
        reason: "Progressing",
        message: "",
        lastTransitionTime: "2026-11-20T00:00:00Z",
      },
    ],
  },
};

async function reported(found: LiveObject | undefined, assertLease: () => void = () => undefined) {
  const patches: Patch[] = [];
  const created: Manifest[] = [];
  const cluster: Cluster = {
    ...noCluster,
    get: async () => found,
    patch: async (_ref, patch) => {
      patches.push(patch);
      return live;
    },
    create: async (manifest) => {
      created.push(manifest);
      return live;
    },
  };
  const run: Run = {
    key,
    signal: new AbortController().signal,
    fence: { key, token: 1 },
    assertLease,
    memo: undefined,
    superseded: async () => false,
  };
  await reportPoisoned(run, "parked, since its runs do not end", { cluster, clock: systemClock });
  return { patches, created };
}

describe("telling that an object is parked", () => {
  test("sets Ready=False and Stalled=True with reason Poisoned, ends Reconciling, and writes an Event", async () => {
    const { patches, created } = await reported(live);
    const said = { reason: "Poisoned", message: "parked, since its runs do not end", observedGeneration: 3 };
    expect(patches).toMatchObject([
      {
        type: "merge",
        body: {
          status: {
            conditions: [
              { ...said, type: "Stalled", status: "True" },
              { ...said, type: "Ready", status: "False" },
            ],
          },
        },
      },
    ]);
    expect(created).toMatchObject([
      { kind: "Event", type: "Warning", reason: "Poisoned", involvedObject: { name: "web", uid: "uid-1" } },
    ]);
  });

  test("an object that is gone is told nothing", async () => {
    expect(await reported(undefined)).toEqual({ patches: [], created: [] });
  });

  test("without the lease nothing is written", async () => {
    const lost = (): void => {
      throw new LeaseLost("another holds it");
    };
    await expect(reported(live, lost)).rejects.toThrow(LeaseLost);
  });
});
