import { afterAll, beforeAll, expect, test } from "vitest";
import { Conditions, findCondition } from "../../lib/api/condition.ts";
import { isJsonObject, type JsonObject } from "../../lib/core/json.ts";
import { kinds } from "../../lib/flows/kinds/kinds.ts";
import { memoryKind, shelves } from "../doubles/memory-source.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const never = new AbortController().signal;
const all = shelves();
let world: CliWorld;

beforeAll(async () => {
  world = await cliWorld({ kinds: [...kinds.filter(({ kind }) => kind !== "Bucket"), memoryKind(all)] });
});
afterAll(() => world.close());

const source = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "Bucket" };
const kustomization = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };

async function ready({ group, version, kind }: typeof source, name: string): Promise<string> {
  const live = await world.cluster.get({ group, version, kind, namespace: "default", name }, never);
  const status: JsonObject = isJsonObject(live?.["status"]) ? live["status"] : {};
  const condition = findCondition(Conditions.parse(status["conditions"] ?? []), "Ready");
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
}

async function apply({ group, version, kind }: typeof source, name: string, spec: JsonObject): Promise<void> {
  const metadata = { name, namespace: "default" };
  const manifest = { apiVersion: `${group}/${version}`, kind, metadata, spec };
  await world.cluster.apply(manifest, { manager: "test", force: true }, never);
}

async function colour(): Promise<unknown> {
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "paint" };
  const data = (await world.cluster.get(ref, never))?.["data"];
  return isJsonObject(data) ? data["colour"] : undefined;
}

function hold(version: string, colourOfIt: string): void {
  const metadata = { name: "paint", namespace: "default" };
  const file = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { colour: colourOfIt } });
  all.held.set("paints", { version, files: { "paint.yaml": file } });
}

test("a kind of source that is declared in one file is fetched, and its Kustomization applies each revision", async () => {
  hold("v1", "red");
  await apply(kustomization, "app", {
    interval: "1h",
    prune: true,
    path: "./",
    sourceRef: { kind: "Bucket", name: "paints" },
  });
  await expect.poll(() => ready(kustomization, "app")).toContain("ArtifactFailed");
  await apply(source, "paints", { interval: "1h", shelf: "paints" });
  await expect.poll(() => ready(kustomization, "app")).toBe("True ReconciliationSucceeded: Applied revision: v1");
  expect(await ready(source, "paints")).toBe("True Succeeded: stored artifact: revision 'v1'");
  expect(await colour()).toBe("red");

  hold("v2", "blue");
  const { err } = await world.sh("reconcile", "source", "bucket", "paints", "-n", "default");
  expect(err).toContain("✔ fetched revision v2\n");
  // Woken by the source: its own interval is an hour.
  await expect.poll(() => ready(kustomization, "app")).toBe("True ReconciliationSucceeded: Applied revision: v2");
  expect(await colour()).toBe("blue");
});

test("a failure of this kind of source is shown, and the last artifact stays applied", async () => {
  all.held.delete("paints");
  // The command waits for a success until its time is up, and says then what it has seen.
  const reconcile = () => world.sh("reconcile", "source", "bucket", "paints", "-n", "default", "--timeout", "3s");
  await expect.poll(reconcile).toMatchObject({ code: 1, err: expect.stringContaining("shelf 'paints' not found") });
  expect(await ready(source, "paints")).toBe("False ReadOperationFailed: shelf 'paints' not found");
  expect((await world.sh("reconcile", "kustomization", "app", "-n", "default")).err).toContain(
    "✔ applied revision v2\n",
  );
  expect(await colour()).toBe("blue");
});

test("an ExternalArtifact is refused while its gate is off", async () => {
  await apply(kustomization, "external", {
    interval: "1h",
    prune: true,
    sourceRef: { kind: "ExternalArtifact", name: "repo" },
  });
  await expect
    .poll(() => ready(kustomization, "external"))
    .toBe(
      "False AccessDenied: can't access 'ExternalArtifact/default/repo', ExternalArtifact feature gate is disabled",
    );
});
