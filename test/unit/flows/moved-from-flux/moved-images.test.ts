import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ImagePolicyStatus } from "../../../../lib/api/image-policy.ts";
import { type EmbeddedCluster, embeddedCluster } from "../../../doubles/embedded-cluster.ts";
import { gitPrograms } from "../../../doubles/git-server.ts";
import { policyWorld } from "../image-policy/policy-world.ts";
import { type RepositoryWorld, repositoryWorld } from "../image-repository/repository-world.ts";
import { automationScenes } from "../image-update-automation/opened-world.ts";
import { leftByAutomation, leftByReflector, leftOf } from "./recorded-objects.ts";

const { signal } = new AbortController();
const recordedImage = "127.0.0.1:26000/golden-image-policy-semver/app";
const time = "2026-11-29T11:59:00Z";
const tags = ["1.0.0", "1.2.0", "1.10.0", "2.0.0", "1.11", "latest", "1.12.0-rc.1", "1.11.0"];

describe("the first run of an ImageRepository that Flux has scanned", () => {
  let world: RepositoryWorld | undefined;
  afterEach(() => world?.close());

  test("scans, finds the same checksum and announces nothing new", async () => {
    world = await repositoryWorld();
    await world.push(tags);
    const texts = { [recordedImage]: `${world.address}/app`, "<time>": time };
    const { spec, status } = leftOf("ImageRepository", await leftByReflector("image-policy-semver", "new-tag", texts));
    const annotations = { "reconcile.fluxcd.io/requestedAt": "<requested-2>" };
    const metadata = { name: "app", namespace: "apps", annotations, finalizers: ["finalizers.fluxcd.io"] };
    world.put({
      ...{ apiVersion: "image.toolkit.fluxcd.io/v1", kind: "ImageRepository", spec, status },
      metadata: { ...metadata, generation: 1 },
    });
    expect(await world.run()).toMatchObject({ outcome: "unchanged" });
    const { conditions, lastScanResult, ...rest } = world.status();
    const { conditions: _conditions, lastScanResult: _scan, ...before } = status;
    expect(rest).toEqual(before);
    expect(lastScanResult).toMatchObject({ revision: "1429212899", tagCount: 8 });
    expect(conditions).toHaveLength(1);
    expect(world.conditions()).toEqual([
      "Ready=True Succeeded: successful scan: found 8 tags with checksum 1429212899",
    ]);
    expect(world.events()).toEqual(["Normal Succeeded: tags did not change, next scan in 1h0m0s"]);
    expect(world.toldReasons).toEqual([]);
    expect(world.woken).toEqual(["ImagePolicy/newest"]);
  });
});

describe("the first runs of an ImagePolicy that Flux has reconciled", () => {
  let embedded: EmbeddedCluster | undefined;
  afterEach(() => embedded?.[Symbol.asyncDispose]());

  /** A policy and its repository as Flux has left them; the store has no tags yet. */
  async function moved(repository: { readonly suspend?: boolean } = {}) {
    embedded = await embeddedCluster();
    const namespace = "moved";
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    await embedded.cluster.create(manifest, { manager: "test" }, signal);
    const world = policyWorld(embedded.cluster, namespace);
    const left = await leftByReflector("image-policy-semver", "new-tag", { "<time>": time });
    for (const kind of ["ImageRepository", "ImagePolicy"] as const) {
      const { spec, status } = leftOf(kind, left);
      await world.apply(kind, "app", kind === "ImageRepository" ? { ...spec, ...repository } : spec);
      const ref = { group: "image.toolkit.fluxcd.io", version: "v1", kind, namespace, name: "app" };
      const options = { manager: "image-reflector-controller", subresource: "status" };
      await embedded.cluster.patch(ref, { type: "merge", body: { status } }, options, signal);
    }
    await world.annotate({ "reconcile.fluxcd.io/requestedAt": "<requested-1>" });
    await world.automation("app");
    const status = ImagePolicyStatus.parse(leftOf("ImagePolicy", left).status);
    return { world, status };
  }

  test("keep its status before the first scan, and select the same tag after it", async () => {
    const { world, status } = await moved();
    expect(await world.run()).toMatchObject({ outcome: "unscanned", dueInMs: 30_000, isQuiet: true });
    expect(await world.status()).toEqual(status);
    expect(await world.events()).toEqual([]);
    await world.tags(tags);
    expect(await world.run()).toMatchObject({ outcome: "unchanged", isQuiet: true });
    expect(await world.status()).toEqual(status);
    expect(await world.events()).toEqual([`Normal Succeeded: ${status.conditions?.[0]?.message}`]);
    expect(world.requested).toEqual([]);
  });

  test("report that there are no tags if a user requests a run and no scan is due", async () => {
    const noTags = "Ready=False DependencyNotReady: retrying in 30s error: no tags in database";
    const { world, status } = await moved({ suspend: true });
    await world.run();
    expect((await world.conditions()).at(-1)).toBe(noTags);
    expect((await world.status()).latestRef).toEqual(status.latestRef);
    await embedded?.[Symbol.asyncDispose]();
    const { world: other } = await moved();
    await other.annotate({ "reconcile.fluxcd.io/requestedAt": "now" });
    await other.run();
    expect((await other.conditions()).at(-1)).toBe(noTags);
    expect((await other.status()).lastHandledReconcileAt).toBe("now");
  });
});

describe.skipIf(gitPrograms === undefined)("the first run of an ImageUpdateAutomation that Flux has reconciled", () => {
  const { world } = automationScenes("moved");

  /** The branch, the policy and the automation as image-automation-controller has left them after its first commit. */
  async function moved(scenario: string, step: string, branches: readonly string[] = ["main"]) {
    const one = await world();
    const marker = `# {"$imagepolicy": "${one.namespace}:app"}`;
    const file = `image: 127.0.0.1:26000/golden-${scenario}/app:1.1.0 ${marker}\n`;
    await one.repository.commit({ "apps/app.yaml": file.replace("1.1.0", branches.length > 1 ? "1.0.0" : "1.1.0") });
    const main = await one.head();
    for (const branch of branches.slice(1)) await one.repository.commit({ "apps/app.yaml": file }, branch);
    const head = await one.head(branches.at(-1));
    const texts = { "<commit-1>": head, "<time>": time, [`golden-${scenario}:app`]: `${one.namespace}:app` };
    const left = await leftByAutomation(scenario, step, texts);
    const { spec, status, metadata } = leftOf("ImageUpdateAutomation", left);
    await one.source();
    await one.policy("app", { name: `127.0.0.1:26000/golden-${scenario}/app`, tag: "1.1.0" });
    await one.apply("ImageUpdateAutomation", "app", spec);
    const before = { ...status, observedSourceRevision: `main@sha1:${main}` };
    await one.patchStatus("ImageUpdateAutomation", "app", before);
    await one.annotate(z.record(z.string(), z.string()).parse(metadata["annotations"] ?? {}));
    return { one, before, heads: await Promise.all(branches.map((branch) => one.head(branch))) };
  }

  test("makes no commit, pushes nothing and writes only the time of the run", async () => {
    const { one, before, heads } = await moved("image-automation", "02-unchanged");
    expect(await one.run()).toMatchObject({ outcome: "skipped" });
    expect(await one.head()).toBe(heads[0]);
    expect(await one.status()).toEqual({ ...before, lastAutomationRunTime: "2026-11-29T12:00:00Z" });
    expect(one.events()).toEqual(["Normal Succeeded: no change since last reconciliation"]);
    expect(one.server.seen.filter(({ path }) => path.includes("receive-pack"))).toEqual([]);
  });

  test("makes no commit if it pushes to another branch", async () => {
    const { one, before, heads } = await moved("image-automation-push-branch", "02-unchanged", ["main", "updates"]);
    expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    expect(await Promise.all(["main", "updates"].map((branch) => one.head(branch)))).toEqual(heads);
    expect(await one.status()).toEqual({ ...before, lastAutomationRunTime: "2026-11-29T12:00:00Z" });
    expect(one.events()).toEqual(["Normal Succeeded: repository up-to-date"]);
  });
});
