import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { only } from "../../../../lib/canary/workload/fields.ts";
import { isJsonObject, toJsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../../lib/core/manifest.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { canaryUid, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

const Recorded = z.custom<Manifest>(isJsonObject);
const Recording = z.object({
  input: z.array(Recorded),
  canary: z.object({ spec: z.looseObject({}) }),
  created: z.array(Recorded),
  promoted: z.array(Recorded).default([]),
  status: z.looseObject({}),
});

function recording(name: string) {
  const file = join(import.meta.dirname, "../../../fixtures/canary-workload", `${name}.json`);
  return Recording.parse(JSON.parse(readFileSync(file, "utf8")));
}

const embedded = fileCluster({ definitions: false, controllers: false });

/** An object as the recordings have it. */
function recordable(live: LiveObject | undefined, ids: Map<string, string>): unknown {
  const json = toJsonObject(live ?? {});
  const metadata = only(toJsonObject(live?.metadata ?? {}), ["name", "namespace", "labels", "ownerReferences"]);
  const text = JSON.stringify({ ...only(json, ["apiVersion", "kind", "spec", "data"]), metadata });
  const numbered = text.replaceAll(/(?<="flagger-id":")[^"]*/g, (id) => {
    const known = ids.get(id) ?? `<flagger-id-${ids.size + 1}>`;
    ids.set(id, known);
    return known;
  });
  return JSON.parse(numbered.replaceAll(canaryUid, "<uid>"));
}

async function expectRecorded(world: WorkloadWorld, recorded: readonly Manifest[], ids: Map<string, string>) {
  for (const expected of recorded) {
    const live = await world.get(expected.apiVersion, expected.kind, expected.metadata.name);
    expect(recordable(live, ids)).toEqual(expected);
  }
}

async function initialized(name: string) {
  const { input, canary, created, promoted, status } = recording(name);
  const world = await workloadWorld(embedded.cluster, `canary-${name}`);
  for (const manifest of input) await world.put(manifest);
  const options = { spec: canary.spec, status: { phase: "Initializing" } };
  await world.step(options).ensurePrimary();
  const ids = new Map<string, string>();
  await expectRecorded(world, created, ids);
  return { world, options, promoted, status, ids };
}

const atRest = {
  type: "Promoted",
  message: "",
  status: "True",
  reason: "Succeeded",
  lastTransitionTime: "2026-11-22T12:00:00Z",
};
const inRun = { ...atRest, status: "Unknown", reason: "Progressing", lastTransitionTime: "2026-11-22T12:01:00Z" };

describe("a primary is the same as Flagger's", () => {
  test("canary/3, 4, 56: of a Deployment, when it is created and when another image is promoted", async () => {
    const { world, options, promoted, status, ids } = await initialized("seed");
    expect(await world.step(options).revision()).toEqual({ spec: status["lastAppliedSpec"], configs: {} });
    const image = { name: "podinfod", image: "ghcr.io/stefanprodan/podinfo:6.0.1" };
    const containers = [{ ...image, ports: [{ name: "http", containerPort: 9898, protocol: "TCP" }] }];
    await world.change("apps/v1", "Deployment", "podinfo", { spec: { template: { spec: { containers } } } });
    const run = { ...options, status: { phase: "Progressing", conditions: [inRun] } };
    await world.step(run).promote();
    await expectRecorded(world, promoted, ids);
    await world.step(run).promote();
    expect(world.writes).toEqual([]);
  });

  test("canary/13, 15, 19: with a ConfigMap, which is copied and tracked, and copied again at a promotion", async () => {
    const { world, options, promoted, status, ids } = await initialized("config-change");
    const before = await world.step(options).revision();
    expect({ lastAppliedSpec: before.spec, trackedConfigs: before.configs }).toEqual({
      lastAppliedSpec: status["lastAppliedSpec"],
      trackedConfigs: status["trackedConfigs"],
    });
    await world.change("v1", "ConfigMap", "settings", { data: { color: "green" } });
    const after = await world.step({ ...options, status: { ...status, phase: "Initialized" } }).revision();
    expect(after).toEqual({ spec: before.spec, configs: { "configmap/settings": "b1c0d2a81c6839b3" } });
    await world.step({ ...options, status: { phase: "Progressing", conditions: [inRun] } }).promote();
    await expectRecorded(world, promoted, ids);
  });
});
