import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultSettings } from "../../functions/settings/settings.ts";
import { Conditions, findCondition } from "../../lib/api/condition.ts";
import { digestOf } from "../../lib/core/digest.ts";
import { defaultGates } from "../../lib/core/feature-gates.ts";
import { isJsonObject, type JsonObject } from "../../lib/core/json.ts";
import { closeServer } from "../doubles/close-server.ts";
import { portOnLoopback } from "../doubles/port-on-loopback.ts";
import { artifactOf } from "../unit/manifests/build-files.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const never = new AbortController().signal;
const served = new Map<string, Uint8Array>();
const server = createServer((request, response) => {
  const body = served.get(request.url ?? "");
  response.writeHead(body === undefined ? 404 : 200).end(body);
});
let world: CliWorld;
let port = 0;

beforeAll(async () => {
  port = await portOnLoopback(server);
  const settings = { ...defaultSettings, "feature-gates": { ...defaultGates, ExternalArtifact: true } };
  world = await cliWorld({ settings });
});
afterAll(async () => {
  await world.close();
  await closeServer(server);
});

const named = { namespace: "default", name: "app" };
const external = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "ExternalArtifact", ...named };
const kustomization = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization", ...named };

async function apply({ group, version, kind }: typeof external, spec: JsonObject): Promise<void> {
  const manifest = { apiVersion: `${group}/${version}`, kind, metadata: named, spec };
  await world.cluster.apply(manifest, { manager: "test", force: true }, never);
}

/** Serves an artifact under a path of its own, and says so in the status, as a producer does. */
async function produce(revision: string): Promise<void> {
  const path = `/${revision}.tar.gz`;
  const metadata = { name: "paint", namespace: "default" };
  const file = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { of: revision } });
  const bytes = await artifactOf({ "paint.yaml": file });
  served.set(path, bytes);
  const artifact = { digest: digestOf(bytes), path, url: `http://127.0.0.1:${port}${path}`, revision };
  const body = { status: { artifact: { ...artifact, lastUpdateTime: "2026-01-01T00:00:00Z" } } };
  await world.cluster.patch(external, { type: "merge", body }, { manager: "test", subresource: "status" }, never);
}

async function ready(): Promise<string> {
  const live = await world.cluster.get(kustomization, never);
  const status: JsonObject = isJsonObject(live?.["status"]) ? live["status"] : {};
  const condition = findCondition(Conditions.parse(status["conditions"] ?? []), "Ready");
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
}

test("a new revision of an ExternalArtifact is applied at once, because it is watched (19)", async () => {
  const sourceRef = { kind: "ExternalArtifact", name: "app" };
  await apply(kustomization, { interval: "1h", retryInterval: "1h", prune: true, sourceRef });
  await expect.poll(ready).toContain('ExternalArtifact.source.toolkit.fluxcd.io "app" not found');
  await apply(external, {});
  await produce("v1");
  await expect.poll(ready).toBe("True ReconciliationSucceeded: Applied revision: v1");
  await produce("v2");
  await expect.poll(ready).toBe("True ReconciliationSucceeded: Applied revision: v2");
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "paint" };
  expect((await world.cluster.get(ref, never))?.["data"]).toEqual({ of: "v2" });
});
