import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultSettings } from "../../functions/settings/settings.ts";
import { Conditions, findCondition } from "../../lib/api/condition.ts";
import { requestedAtAnnotation } from "../../lib/api/names.ts";
import { defaultGates } from "../../lib/core/feature-gates.ts";
import { isJsonObject, type JsonObject } from "../../lib/core/json.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const never = new AbortController().signal;
let world: CliWorld;

beforeAll(async () => {
  const settings = { ...defaultSettings, "feature-gates": { ...defaultGates, ExternalArtifact: true } };
  world = await cliWorld({ settings });
});
afterAll(() => world.close());

const versions = {
  OCIRepository: "source.toolkit.fluxcd.io/v1",
  ExternalArtifact: "source.toolkit.fluxcd.io/v1",
  ArtifactGenerator: "source.extensions.fluxcd.io/v1beta1",
  Kustomization: "kustomize.toolkit.fluxcd.io/v1",
  ConfigMap: "v1",
} as const;
type Kind = keyof typeof versions;

async function get(kind: Kind, name: string): Promise<LiveObject | undefined> {
  const [group = "", version = "v1"] = kind === "ConfigMap" ? [] : versions[kind].split("/");
  return world.cluster.get({ group, version, kind, namespace: "default", name }, never);
}

async function apply(kind: Kind, name: string, spec: JsonObject): Promise<void> {
  const metadata = { name, namespace: "default" };
  await world.cluster.apply(
    { apiVersion: versions[kind], kind, metadata, spec },
    { manager: "test", force: true },
    never,
  );
}

/** Asks for a run of the generator, also while it is paused. */
async function request(name: string, at: string): Promise<void> {
  const [group = "", version = ""] = versions.ArtifactGenerator.split("/");
  const body = { metadata: { annotations: { [requestedAtAnnotation]: at } } };
  const ref = { group, version, kind: "ArtifactGenerator", namespace: "default", name };
  await world.cluster.patch(ref, { type: "merge", body }, { manager: "test" }, never);
}

async function status(kind: Kind, name: string): Promise<JsonObject> {
  const found = (await get(kind, name))?.["status"];
  return isJsonObject(found) ? found : {};
}

async function ready(kind: Kind, name: string): Promise<string> {
  const condition = findCondition(Conditions.parse((await status(kind, name))["conditions"] ?? []), "Ready");
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
}

async function colour(name: string): Promise<unknown> {
  const data = (await get("ConfigMap", name))?.["data"];
  return isJsonObject(data) ? data["colour"] : undefined;
}

/** Pushes a monorepo of two applications. */
async function push(revision: string, web: string, api: string): Promise<void> {
  const folder = await mkdtemp(join(world.folder, "mono-"));
  for (const [name, value] of Object.entries({ web, api })) {
    const file = join(folder, "apps", name, "app.yaml");
    await mkdir(dirname(file), { recursive: true });
    const metadata = { name, namespace: "default" };
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { colour: value } }));
  }
  const pushed = await world.sh(
    ...["push", "artifact", `oci://${world.registry}/mono:latest`, "-f", folder],
    ...["--source", "https://git.test/mono", "--revision", revision],
  );
  expect(pushed).toMatchObject({ code: 0 });
}

/** Applies a generator that makes an artifact of each of these applications. */
async function applySplit(...applications: readonly string[]): Promise<void> {
  await apply("ArtifactGenerator", "split", {
    sources: [{ alias: "mono", kind: "OCIRepository", name: "mono" }],
    artifacts: applications.map((name) => ({
      name,
      originRevision: "@mono",
      copy: [{ from: `@mono/apps/${name.replace("-again", "")}/**`, to: "@artifact/" }],
    })),
  });
}

const revisionOf = async (name: string) => (await status("Kustomization", name))["lastAppliedRevision"];

test("a monorepo is split: a push that touches one path updates only the artifacts and Kustomizations of that path", async () => {
  await push("main@sha1:1", "red", "green");
  for (const name of ["web", "api"]) {
    const sourceRef = { kind: "ExternalArtifact", name };
    await apply("Kustomization", name, { interval: "1h", prune: true, path: "./", sourceRef });
  }
  await applySplit("web", "api");
  await expect
    .poll(() => ready("ArtifactGenerator", "split"))
    .toBe('False SourceFetchFailed: get sources failed: OCIRepository.source.toolkit.fluxcd.io "mono" not found');
  await apply("OCIRepository", "mono", { interval: "1h", url: `oci://${world.registry}/mono`, insecure: true });
  await expect
    .poll(() => ready("ArtifactGenerator", "split"))
    .toBe("True Succeeded: reconciliation succeeded, generated 2 artifact(s)");
  await expect.poll(() => colour("web")).toBe("red");
  await expect.poll(() => colour("api")).toBe("green");
  await expect.poll(() => ready("Kustomization", "api")).toContain("True ReconciliationSucceeded");
  const [web, api] = [await revisionOf("web"), await revisionOf("api")];
  expect(api).toMatch(/^latest@sha256:/);

  await push("main@sha1:2", "blue", "green");
  await expect.poll(() => colour("web")).toBe("blue");
  await expect.poll(() => revisionOf("web")).not.toBe(web);
  expect(await revisionOf("api")).toBe(api);
});

test("an ExternalArtifact that a user deletes is recreated at once, because it is watched", async () => {
  const uid = (await get("ExternalArtifact", "web"))?.metadata.uid;
  expect(uid).toBeDefined();
  const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "ExternalArtifact" };
  await world.cluster.delete({ ...ref, namespace: "default", name: "web" }, { propagation: "Background" }, never);
  await expect.poll(async () => (await get("ExternalArtifact", "web"))?.metadata.uid ?? uid).not.toBe(uid);
  await expect.poll(() => ready("ExternalArtifact", "web")).toBe("True Succeeded: Artifact is ready");
});

test("the command line shows, runs, pauses and resumes an ArtifactGenerator with flux's texts", async () => {
  const listed = await world.sh("get", "artifact", "generators", "-n", "default");
  expect(listed.out).toMatch(/split.*False\s+True\s+reconciliation succeeded, generated 2 artifact\(s\)/);
  expect(await world.sh("reconcile", "artifact", "generator", "split", "-n", "default")).toMatchObject({ code: 0 });
  const suspended = await world.sh("suspend", "artifact", "generator", "split", "-n", "default");
  expect(suspended.err).toContain("artifact generator suspended");
  expect((await get("ArtifactGenerator", "split"))?.metadata.annotations).toMatchObject({
    "source.extensions.fluxcd.io/reconcile": "disabled",
  });
  expect((await world.sh("get", "artifact", "generators", "-n", "default")).out).toMatch(/split.*True\s+True/);
  await applySplit("web", "api", "api-again");
  await request("split", "while paused");
  await expect
    .poll(async () => (await status("ArtifactGenerator", "split"))["lastHandledReconcileAt"])
    .toBe("while paused");
  expect(await get("ExternalArtifact", "api-again")).toBeUndefined();
  expect((await world.sh("resume", "artifact", "generator", "split", "-n", "default")).code).toBe(0);
  await expect.poll(() => get("ExternalArtifact", "api-again")).toBeDefined();
});

test("a deleted generator deletes its ExternalArtifacts", async () => {
  const ref = { group: "source.extensions.fluxcd.io", version: "v1beta1", kind: "ArtifactGenerator" };
  await world.cluster.delete({ ...ref, namespace: "default", name: "split" }, { propagation: "Background" }, never);
  await expect.poll(() => get("ArtifactGenerator", "split")).toBeUndefined();
  expect(await get("ExternalArtifact", "web")).toBeUndefined();
  expect(await get("ExternalArtifact", "api")).toBeUndefined();
});
