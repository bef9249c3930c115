import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { type FlowScene, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const newScene = () => flowScene(embedded.cluster, `spec-changes-${scenes++}`, helm);
const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {color: blue}\n";
const refused = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 99999}]}\n";
const hook = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h, annotations: {helm.sh/hook: pre-upgrade}}\n";
const testHook = JSON.stringify({
  ...{ apiVersion: "batch/v1", kind: "Job", metadata: { name: "t", annotations: { "helm.sh/hook": "test" } } },
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "i" }] } } },
});

async function released(spec: JsonObject, templates: Readonly<Record<string, string>> = { a: configMap }) {
  const scene = await newScene();
  await scene.publish({ version: "1.0.0", templates });
  await scene.release(spec);
  await scene.run();
  return scene;
}

/** What another generation of the spec makes of a release. */
async function changed(scene: FlowScene, spec: JsonObject): Promise<readonly string[]> {
  await scene.release(spec);
  await scene.run();
  expect(await scene.status()).toMatchObject({ observedGeneration: (await scene.live()).metadata.generation });
  return scene.revisions();
}

describe("a change of only the spec", () => {
  const labelled = (team: string) => {
    const patch = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {team: ${team}}}\n`;
    return [{ kustomize: { patches: [{ patch }] } }];
  };

  test.each([
    { what: "postRenderers", before: { postRenderers: labelled("a") }, after: { postRenderers: labelled("b") } },
    {
      what: "commonMetadata",
      before: { commonMetadata: { labels: { team: "a" } } },
      after: { commonMetadata: { labels: { team: "b" } } },
    },
  ])("23/41: of $what upgrades the release; a run at the interval does not", async ({ after, before }) => {
    const scene = await released(before);
    expect(await scene.get("v1", "ConfigMap", "a")).toMatchObject({ metadata: { labels: { team: "a" } } });
    scene.clock.advance(60 * 60_000);
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 deployed"]);

    expect(await changed(scene, after)).toEqual(["v1 superseded", "v2 deployed"]);
    expect(await scene.get("v1", "ConfigMap", "a")).toMatchObject({ metadata: { labels: { team: "b" } } });
  });

  test("23/41: of postRenderStrategy does not upgrade it", async () => {
    const scene = await released({}, { a: configMap, h: hook });
    expect(await changed(scene, { postRenderStrategy: "nohooks" })).toEqual(["v1 deployed"]);
  });

  test("23/46: that disables the tests removes TestSuccess", async () => {
    const scene = await released({ test: { enable: true } }, { a: configMap, t: testHook });
    await scene.settle("t", "Complete");
    await scene.run();
    expect(await scene.condition("TestSuccess")).toMatch(/^True TestSucceeded/);
    expect(await scene.condition("Ready")).toMatch(/^True TestSucceeded/);

    expect(await changed(scene, { test: { enable: false } })).toEqual(["v1 deployed"]);
    expect(await scene.condition("TestSuccess")).toBeUndefined();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
  });

  test("23/30: a success with RetryOnFailure sets all counters to zero", async () => {
    const strategy = { name: "RetryOnFailure" };
    const namespace = `late-${scenes}`;
    const elsewhere = configMap.replace("{name: a}", `{name: a, namespace: ${namespace}}`);
    const scene = await released({ install: { strategy }, upgrade: { strategy } }, { a: elsewhere });
    await scene.run();
    expect(await scene.status()).toMatchObject({ failures: 2, installFailures: 1, upgradeFailures: 1 });
    await scene.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True UpgradeSucceeded/);
    const { failures, installFailures, upgradeFailures } = await scene.status();
    expect([failures, installFailures, upgradeFailures]).toEqual([undefined, undefined, undefined]);
  });
});

describe("server-side apply of a release", () => {
  const managers = async (scene: FlowScene) =>
    (await scene.get("v1", "ConfigMap", "a"))?.metadata.managedFields?.map(
      ({ manager, operation }) => `${manager} ${operation}`,
    );

  test("23/47: in an install takes fields over from other managers", async () => {
    const scene = await newScene();
    await scene.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { color: "red" } });
    await scene.publish({ version: "1.0.0", templates: { a: configMap } });
    await scene.release({});
    await scene.run();
    expect(await scene.get("v1", "ConfigMap", "a")).toMatchObject({ data: { color: "blue" } });
    expect(await managers(scene)).toContain("helm-controller Apply");
  });

  test("23/48: upgrade.force replaces nothing: an immutable field is refused with and without it", async () => {
    const fixed = (color: string) => `${configMap.replace("blue", color)}immutable: true\n`;
    const scene = await released({ upgrade: { force: true } }, { a: fixed("blue") });
    const uid = (await scene.get("v1", "ConfigMap", "a"))?.metadata.uid;
    await scene.publish({ version: "2.0.0", templates: { a: fixed("red") } });
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(
      /^False UpgradeFailed: .*immutable.*; to have it created again, delete it with kubectl: upgrade.force has no effect/,
    );
    expect(await scene.get("v1", "ConfigMap", "a")).toMatchObject({ data: { color: "blue" }, metadata: { uid } });
  });
});

describe("status.observedGeneration", () => {
  const generations = async (scene: FlowScene) => {
    const { observedGeneration } = await scene.status();
    return [observedGeneration, (await scene.live()).metadata.generation];
  };

  test("23/63: advances with a success, and with an error that only a change of the spec fixes", async () => {
    const scene = await released({});
    expect(await generations(scene)).toEqual([1, 1]);
    await scene.publish({ version: "1.0.0", templates: { a: refused } });
    await scene.release({ values: { new: true } });
    await scene.run();
    expect(await scene.condition("Stalled")).toMatch(/^True RetriesExceeded/);
    expect(await generations(scene)).toEqual([2, 2]);
  });

  test("23/63: advances while a retry interval passes", async () => {
    const strategy = { name: "RetryOnFailure" };
    const scene = await released({ install: { strategy }, upgrade: { strategy } }, { a: refused });
    expect(await scene.condition("Reconciling")).toMatch(/^True ProgressingWithRetry: retrying after /);
    expect(await generations(scene)).toEqual([1, 1]);
  });

  test.each([
    { what: "a dependency", spec: { dependsOn: [{ name: "none" }] }, reason: "DependencyNotReady" },
    { what: "a source", spec: { chartRef: { kind: "OCIRepository", name: "empty" } }, reason: "SourceNotReady" },
  ])("23/63: stays while the release waits for $what", async ({ reason, spec }) => {
    const scene = await released({});
    const url = "oci://registry.test/empty";
    const metadata = { name: "empty" };
    const source = { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata };
    await scene.apply({ ...source, spec: { interval: "1h", url } });
    await scene.release(spec);
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(new RegExp(`^False ${reason}`));
    expect(await generations(scene)).toEqual([1, 2]);
  });

  test("23/63: stays until the attempt after a remediation", async () => {
    const scene = await released({ install: { remediation: { retries: 1 } } }, { a: refused });
    expect(await scene.condition("Reconciling")).toMatch(/^True ProgressingWithRetry/);
    expect(await scene.condition("Remediated")).toMatch(/^True UninstallSucceeded/);
    expect(await generations(scene)).toEqual([-1, 1]);
    await scene.run();
    expect(await scene.condition("Stalled")).toMatch(/^True RetriesExceeded/);
    expect(await generations(scene)).toEqual([1, 1]);
  });
});

describe("the event of an action that has failed", () => {
  test("23/65: ends with Helm's log, and the conditions do not", async () => {
    const scene = await released({}, { a: refused });
    const [event = ""] = await scene.told();
    const [message = "", log = ""] = event.split("\n\nLast Helm logs:\n\n");
    expect(log).toMatch(/install failed/);
    expect(`Warning ${(await scene.condition("Ready"))?.replace(/^False /, "")}`).toBe(message);

    await scene.release({ values: { new: true } });
    await scene.run();
    const upgraded = (await scene.told()).at(-1);
    expect(upgraded).toMatch(/^Warning UpgradeFailed: [^]*\n\nLast Helm logs:\n\n.*upgrade failed/);
    expect(await scene.condition("Released")).not.toContain("Last Helm logs");
  });

  test("23/65: has no log of an install that does not render", async () => {
    const scene = await released({}, { a: '{{ fail "no color" }}' });
    const [event = ""] = await scene.told();
    expect(event).toMatch(/^Warning InstallFailed: .*no color/);
    expect(event).not.toContain("Last Helm logs");
  });
});
