import { describe, expect, test } from "vitest";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import type { Patch } from "../../../lib/core/ports/cluster.ts";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import type { HomeCluster } from "../../../lib/core/ports/home-and-target.ts";
import type { Run } from "../../../lib/core/ports/run.ts";
import { kinds } from "../../../lib/flows/kinds/kinds.ts";
import { reportParked } from "../../../lib/flows/kinds/status-reporter.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { keyOf } from "../../contract/state-back-end.ts";
import { noHome } from "../../doubles/no-cluster.ts";

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
  const order: string[] = [];
  const cluster: HomeCluster = {
    ...noHome,
    get: async () => found,
    patch: async (_ref, patch) => {
      order.push("status");
      patches.push(patch);
      return live;
    },
    create: async (manifest) => {
      order.push("event");
      created.push(manifest);
      return live;
    },
  };
  const run: Run = {
    key,
    signal: new AbortController().signal,
    fence: { key, token: 1 },
    assertLease,
    carried: undefined,
    isRequested: true,
    superseded: async () => false,
  };
  await reportParked(run, "parked, since its runs do not end", { home: cluster, clock: systemClock, kinds });
  return { patches, created, order };
}

describe("reporting that an object is parked", () => {
  test("sends the event before the status, so that a process killed in between has sent it", async () => {
    expect((await reported(live)).order).toEqual(["event", "status"]);
  });

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

  test("sends nothing for a missing object", async () => {
    expect(await reported(undefined)).toEqual({ patches: [], created: [], order: [] });
  });

  test("writes nothing without the lease", async () => {
    const lost = (): void => {
      throw new LeaseLost("another holds it");
    };
    await expect(reported(live, lost)).rejects.toThrow(LeaseLost);
  });
});
