import { expect, test, vi } from "vitest";
import { barredAnnotation, barUnhealthyAnnotation, imageGroup } from "../../../lib/api/names.ts";
import { embeddedCluster } from "../../doubles/embedded-cluster.ts";
import { world } from "./world.ts";

const { signal } = new AbortController();
const manager = { manager: "test" };
const image = "registry.example.com/web";
const digest = `sha256:${"b".repeat(64)}`;
const policies = `${imageGroup}/v1`;

function deployment(tag: string) {
  const template = {
    metadata: { labels: { app: "web" } },
    spec: { containers: [{ name: "app", image: `${image}:${tag}` }] },
  };
  const annotations = { "local.sluice.dev/simulate": "fail-image=1.4.0" };
  const spec = { replicas: 2, selector: { matchLabels: { app: "web" } }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", annotations }, spec };
}

test("an image whose containers end at once is barred when the health check has failed, neither before nor twice", async () => {
  await using embedded = await embeddedCluster();
  const { cluster } = embedded;
  const app = await world(cluster, "barring", (user) => cluster.as(user));
  const { namespace } = app;
  const metadata = { name: "web", namespace, annotations: { [barUnhealthyAnnotation]: "true" } };
  const spec = { imageRepositoryRef: { name: "web" }, policy: { semver: { range: "1.x" } } };
  await cluster.create({ apiVersion: policies, kind: "ImagePolicy", metadata, spec }, manager, signal);
  const ref = { group: imageGroup, version: "v1", kind: "ImagePolicy", namespace, name: "web" };
  const body = { status: { latestRef: { name: image, tag: "1.4.0", digest } } };
  await cluster.patch(ref, { type: "merge", body }, { ...manager, subresource: "status" }, signal);
  const barred = async (): Promise<string | undefined> =>
    (await app.get("ImagePolicy", "web", policies))?.metadata.annotations?.[barredAnnotation];
  const updatedPods = async (): Promise<string> => {
    const pods = await cluster.list({ group: "", version: "v1", kind: "Pod", namespace }, signal);
    return JSON.stringify(pods.filter((pod) => JSON.stringify(pod["spec"]).includes(":1.4.0")));
  };

  await app.publish("v1", [deployment("1.3.0")]);
  await app.kustomization("app", { wait: true, timeout: "30s" });
  await vi.waitUntil(async () => (await app.run("app")).outcome === "applied", { timeout: 60_000 });
  await app.publish("v2", [deployment(`1.4.0@${digest}`)]);
  expect(await app.run("app")).toMatchObject({ outcome: "waiting" });
  await vi.waitUntil(async () => (await updatedPods()).includes("CrashLoopBackOff"), { timeout: 60_000 });
  expect(await app.run("app")).toMatchObject({ outcome: "waiting" });
  expect(await barred()).toBeUndefined();

  app.clock.advance(31_000);
  expect(await app.run("app")).toMatchObject({ outcome: "failed" });
  const why = `Deployment/${namespace}/web: container app ended with exit code 1 (Error), and Pods with 1.3.0 are Ready`;
  const line = `1.4.0@${digest} Kustomization/${namespace}/app: ${why}`;
  expect(await barred()).toBe(line);
  const told = `ImagePolicy/${namespace}/web bars 1.4.0@${digest}: ${why}`;
  expect((await app.ready("app")).split("\n").at(-1)).toBe(told);
  expect((await app.events("app")).at(-1)).toContain(told);

  const before = await app.get("ImagePolicy", "web", policies);
  await app.run("app");
  app.clock.advance(31_000);
  expect(await app.run("app")).toMatchObject({ outcome: "failed" });
  expect((await app.ready("app")).split("\n").at(-1)).toBe(told);
  expect(await app.get("ImagePolicy", "web", policies)).toEqual(before);
});
