import { describe, expect, test } from "vitest";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { type FlowScene, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const newScene = () => flowScene(embedded.cluster, `requests-${scenes++}`, helm);
const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
const refused = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 99999}]}\n";

const asked = (token: string) => ({ "reconcile.fluxcd.io/requestedAt": token });
const forced = (token: string) => ({ "reconcile.fluxcd.io/forceAt": token });
const reset = (token: string) => ({ "reconcile.fluxcd.io/resetAt": token });

async function installed(): Promise<FlowScene> {
  const scene = await newScene();
  await scene.publish({ version: "1.0.0", templates: { a: configMap } });
  await scene.release({});
  await scene.run();
  expect(await scene.revisions()).toEqual(["v1 deployed"]);
  return scene;
}

async function stalled(): Promise<FlowScene> {
  const scene = await newScene();
  await scene.publish({ version: "1.0.0", templates: { a: refused } });
  await scene.release({});
  await scene.run();
  expect(await scene.condition("Stalled")).toBe("True RetriesExceeded: Failed to install after 1 attempt(s)");
  return scene;
}

describe("a HelmRelease with a request annotation", () => {
  test("23/33: forceAt with the token of the request upgrades a release in sync once, and not again with the same token", async () => {
    const scene = await installed();
    await scene.release({}, { ...asked("1"), ...forced("1") });
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
    expect(await scene.status()).toMatchObject({ lastHandledForceAt: "1", lastHandledReconcileAt: "1" });

    await scene.run();
    await scene.release({}, { ...asked("2"), ...forced("1") });
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
  });

  test("23/33: forceAt retries a release without retries left", async () => {
    const scene = await stalled();
    await scene.release({}, { ...asked("1"), ...forced("1") });
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 failed", "v2 failed"]);
  });

  test.each([
    { what: "without a request", annotations: forced("1") },
    { what: "with the token of another request", annotations: { ...asked("2"), ...forced("1") } },
  ])("23/34: forceAt $what is recorded as handled, and does nothing", async ({ annotations }) => {
    const scene = await installed();
    await scene.release({}, annotations);
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 deployed"]);
    expect(await scene.status()).toMatchObject({ lastHandledForceAt: "1" });
  });

  test("23/35: resetAt with the token of the request resets the counters, and a stalled release is retried", async () => {
    const scene = await stalled();
    await scene.release({}, asked("1"));
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 failed"]);
    expect(await scene.status()).toMatchObject({ failures: 1, installFailures: 1 });

    await scene.release({}, { ...asked("2"), ...reset("2") });
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 failed", "v2 failed"]);
    const { installFailures, ...status } = await scene.status();
    expect(installFailures).toBeUndefined();
    expect(status).toMatchObject({ failures: 1, upgradeFailures: 1, lastHandledResetAt: "2" });
  });
});
