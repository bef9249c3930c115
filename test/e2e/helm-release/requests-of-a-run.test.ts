import { describe, expect, test } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { type FlowScene, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

/** Notes requests about whole objects: `VERB KIND`, with the subresource. */
function noting(cluster: Cluster, requests: string[]): Cluster {
  return {
    ...cluster,
    resource: (query, signal) => cluster.resource(query, signal),
    get: (ref, signal) => {
      requests.push(`get ${ref.kind}`);
      return cluster.get(ref, signal);
    },
    list: (query, signal) => {
      requests.push(`list ${query.kind}`);
      return cluster.list(query, signal);
    },
    listMetadata: (query, signal) => {
      requests.push(`list metadata of ${query.kind}`);
      return cluster.listMetadata(query, signal);
    },
    patch: (ref, patch, options, signal) => {
      requests.push(`patch ${ref.kind}${options.subresource === undefined ? "" : `/${options.subresource}`}`);
      return cluster.patch(ref, patch, options, signal);
    },
  };
}

interface CountingScene {
  readonly scene: FlowScene;
  /** How often a run sends such a request. */
  readonly countedIn: (run: () => Promise<unknown>) => Promise<Readonly<Record<string, number>>>;
}

async function newScene(): Promise<CountingScene> {
  const requests: string[] = [];
  const scene = await flowScene(noting(embedded.cluster, requests), `requests-of-a-run-${scenes++}`, helm);
  return {
    scene,
    countedIn: async (run) => {
      requests.length = 0;
      await run();
      const counts = new Map<string, number>();
      for (const request of requests) counts.set(request, (counts.get(request) ?? 0) + 1);
      return Object.fromEntries(counts);
    },
  };
}

const configMaps = ["a", "b", "c"].map((name) => {
  const metadata = { name, labels: { color: "{{ .Values.color }}" } };
  return [name, JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata })] as const;
});

async function installing(): Promise<CountingScene> {
  const counting = await newScene();
  await counting.scene.publish({ version: "1.0.0", templates: Object.fromEntries(configMaps) });
  await counting.scene.release({ values: { color: "blue" } });
  return counting;
}

async function installed(): Promise<CountingScene> {
  const counting = await installing();
  await counting.scene.run();
  expect(await counting.scene.revisions()).toEqual(["v1 deployed"]);
  return counting;
}

describe("the requests of one run of a HelmRelease", () => {
  test("an install writes the status twice: before it begins, and when the release is Ready", async () => {
    const { countedIn, scene } = await installing();
    expect(await countedIn(() => scene.run())).toMatchObject({ "patch HelmRelease/status": 2 });
    expect(await scene.condition("Ready")).toContain("True InstallSucceeded: ");
  });

  test("an install lists the release's Secrets twice: before its first write, and when it has ended", async () => {
    const { countedIn, scene } = await installing();
    expect(await countedIn(() => scene.run())).toMatchObject({ "list metadata of Secret": 2 });
  });

  test("a requested run that finds the release as wanted writes the status once", async () => {
    const { countedIn, scene } = await installed();
    await scene.release({ values: { color: "blue" } }, { "reconcile.fluxcd.io/requestedAt": "1" });
    const counted = await countedIn(() => scene.run());
    expect(counted).toMatchObject({ "patch HelmRelease/status": 1 });
    expect(counted).not.toHaveProperty("get Secret");
    expect(await scene.status()).toMatchObject({ lastHandledReconcileAt: "1" });
    expect(await scene.condition("Reconciling")).toBeUndefined();
  });

  test("an upgrade reads the record of the revision that it replaces once, and none that it has written itself", async () => {
    const { countedIn, scene } = await installed();
    await scene.release({ values: { color: "white" } });
    expect(await countedIn(() => scene.run())).toMatchObject({ "get Secret": 1 });
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
  });

  test("the health of objects of one kind is read by one list", async () => {
    const { countedIn, scene } = await installing();
    const counted = await countedIn(() => scene.run());
    expect(counted).toMatchObject({ "list ConfigMap": 1 });
    expect(counted).not.toHaveProperty("get ConfigMap");
  });
});
