import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { PartialObject } from "../../../lib/core/ports/cluster.ts";
import { blamedImages, maxBlamedObjects } from "../../../lib/health/blamed-images.ts";
import { maxConfigObjects } from "../../../lib/health/config-changes.ts";
import {
  badDigest,
  failing,
  failingPod,
  image,
  type Rollout,
  readyPod,
  rollout,
  startedAt,
  targetWith,
  written,
} from "./failing-rollout.ts";

const { signal } = new AbortController();
const before = "2026-11-30T07:00:00Z";
const after = "2026-11-30T08:30:00Z";

async function blamedOf(changes: Rollout, configs: readonly PartialObject[] = []) {
  const { observed, objects } = rollout(changes);
  return blamedImages([observed], targetWith(objects, { configs }).target, signal);
}

/** A Pod template that names a ConfigMap. */
const withMap = { podSpec: { volumes: [{ name: "c", configMap: { name: "settings" } }] } };

describe("the image of a Deployment whose rollout is stuck", () => {
  const why = "Deployment/apps/web: container app ended with exit code 1 (Error), and Pods with 1.3.0 are Ready";

  test("is blamed if the new container ends with an error again and again, while a Pod that differs only in this image is Ready", async () => {
    expect(await blamedOf({})).toEqual([{ name: image, tag: "1.4.0", digest: badDigest, why }]);
  });

  test.each([
    ["containerd", `${image}@${badDigest}`],
    ["docker", `docker-pullable://${image}@${badDigest}`],
  ])("is blamed with the digest that %s has pulled, if the template has none", async (_, imageID) => {
    const presentPods = [failingPod({ ...failing, imageID })];
    expect(await blamedOf({ presentImage: `${image}:1.4.0`, presentPods })).toMatchObject([{ digest: badDigest }]);
  });

  test("is blamed if the former image had a digest too", async () => {
    const former = `${image}:1.3.0@sha256:${"a".repeat(64)}`;
    expect(await blamedOf({ formerImage: former })).toMatchObject([{ name: image, tag: "1.4.0", why }]);
  });

  test("is blamed although another container of the Pod is not ready, if that one runs", async () => {
    const presentPods = [failingPod(failing, { name: "proxy", state: { running: {} } })];
    expect(await blamedOf({ presentPods })).toHaveLength(1);
  });

  test.each<[string, Rollout]>([
    ["one of the new Pods is Ready", { presentPods: [failingPod(), readyPod] }],
    ["one of the new Pods is not scheduled", { presentPods: [failingPod(), { conditions: [] }] }],
    ["the status of one of the new Pods cannot be read", { presentPods: [failingPod(), { startTime: 1 }] }],
    ["there is no new Pod", { presentPods: [] }],
    ["the container has restarted only once", { presentPods: [failingPod({ ...failing, restartCount: 1 })] }],
    [
      "the container ends without an error",
      { presentPods: [failingPod({ ...failing, lastState: { terminated: { exitCode: 0 } } })] },
    ],
    [
      "the image cannot be pulled",
      { presentPods: [failingPod({ name: "app", state: { waiting: { reason: "ImagePullBackOff" } } })] },
    ],
    [
      "the container runs and does not become ready",
      { presentPods: [failingPod({ name: "app", state: { running: {} } })] },
    ],
    ["the node has evicted the Pod", { presentPods: [{ ...failingPod(), reason: "Evicted" }] }],
    ["two containers fail", { presentPods: [failingPod(failing, { ...failing, name: "proxy" })] }],
    [
      "another container has not started",
      { presentPods: [failingPod(failing, { name: "proxy", state: { waiting: { reason: "ImagePullBackOff" } } })] },
    ],
    [
      "two new Pods fail by different containers",
      { presentPods: [failingPod(), failingPod({ ...failing, name: "proxy" })] },
    ],
    ["no Pod with the former image is Ready", { formerPods: [failingPod()] }],
    ["the former image is of another repository", { formerImage: "registry.example.com/other:1.3.0" }],
    ["the former image is the same", { formerImage: `${image}:1.4.0@${badDigest}` }],
    ["the templates differ in a label too", { presentTemplate: { metadata: { labels: { app: "web", tier: "x" } } } }],
    ["the image has no tag", { presentImage: `${image}@${badDigest}` }],
    ["its digest is unknown", { presentImage: `${image}:1.4.0` }],
  ])("is not blamed if %s", async (_, changes) => {
    expect(await blamedOf(changes)).toEqual([]);
  });

  test("is not blamed if what is needed to decide may not be read", async () => {
    const { observed, objects } = rollout();
    for (const forbidden of ["ReplicaSet", "Pod"])
      expect(await blamedImages([observed], targetWith(objects, { forbidden }).target, signal)).toEqual([]);
  });

  test("is not blamed if another object is unhealthy too, whose image is not the cause", async () => {
    const one = rollout();
    const other = rollout({ name: "other", presentPods: [readyPod] });
    const { target } = targetWith([...one.objects, ...other.objects]);
    expect(await blamedImages([one.observed, other.observed], target, signal)).toEqual([]);
    const { object: _, ...missing } = other.observed;
    expect(await blamedImages([one.observed, { ...missing, status: "NotFound" }], target, signal)).toEqual([]);
    const set = { ...other.observed, ref: { ...other.observed.ref, kind: "StatefulSet" } };
    expect(await blamedImages([one.observed, set], target, signal)).toEqual([]);
  });

  test("is not looked for if more than ten objects are unhealthy", async () => {
    const many = Array.from({ length: maxBlamedObjects + 1 }, (_, at) => rollout({ name: `web-${at}` }));
    const { asked, target } = targetWith(many.flatMap(({ objects }) => objects));
    const observed = many.map((one) => one.observed);
    expect(await blamedImages(observed, target, signal)).toEqual([]);
    expect(asked).toEqual([]);
    expect(await blamedImages(observed.slice(1), target, signal)).toHaveLength(maxBlamedObjects);
  });

  test("is blamed without the reason of the container's end, if that is not a single word", async () => {
    const end = { exitCode: 2, reason: "password=hunter2" };
    const [blamed] = await blamedOf({ presentPods: [failingPod({ ...failing, lastState: { terminated: end } })] });
    expect(blamed?.why).toBe(
      "Deployment/apps/web: container app ended with exit code 2, and Pods with 1.3.0 are Ready",
    );
  });
});

describe("the configuration of a Deployment whose rollout is stuck", () => {
  test.each<[string, "ConfigMap" | "Secret", JsonObject]>([
    ["a volume", "ConfigMap", { volumes: [{ configMap: { name: "c" } }] }],
    ["a volume", "Secret", { volumes: [{ secret: { secretName: "c" } }] }],
    ["a projected volume", "ConfigMap", { volumes: [{ projected: { sources: [{ configMap: { name: "c" } }] } }] }],
    ["a projected volume", "Secret", { volumes: [{ projected: { sources: [{ secret: { name: "c" } }] } }] }],
    ["an init container's envFrom", "ConfigMap", { initContainers: [{ envFrom: [{ configMapRef: { name: "c" } }] }] }],
    ["an init container's envFrom", "Secret", { initContainers: [{ envFrom: [{ secretRef: { name: "c" } }] }] }],
    [
      "a variable",
      "ConfigMap",
      { initContainers: [{ env: [{ valueFrom: { configMapKeyRef: { name: "c", key: "k" } } }] }] },
    ],
    ["a variable", "Secret", { initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: "c", key: "k" } } }] }] }],
  ])("is the cause if %s comes from a %s that was written after the former Pod started", async (_, kind, podSpec) => {
    expect(await blamedOf({ podSpec }, [written(kind, "c", after)])).toEqual([]);
    expect(await blamedOf({ podSpec }, [written(kind, "c", startedAt)])).toEqual([]);
    expect(await blamedOf({ podSpec }, [written(kind, "c", before)])).toHaveLength(1);
  });

  test("may be the cause if a ConfigMap is missing, or its last write is unknown", async () => {
    const { metadata, ...map } = written("ConfigMap", "settings", before);
    const { managedFields: _, ...silent } = metadata;
    expect(await blamedOf(withMap, [])).toEqual([]);
    expect(await blamedOf(withMap, [{ ...map, metadata: silent }])).toEqual([]);
    expect(await blamedOf(withMap, [written("ConfigMap", "settings", "yesterday")])).toEqual([]);
    expect(await blamedOf(withMap, [written("ConfigMap", "settings", before)])).toHaveLength(1);
  });

  test("may be the cause, and is not read, if a template names more than fifty ConfigMaps and Secrets", async () => {
    const names = Array.from({ length: maxConfigObjects + 1 }, (_, at) => `c-${at}`);
    const volumes = names.map((name) => ({ name, configMap: { name } }));
    const configs = names.map((name) => written("ConfigMap", name, before));
    const { observed, objects } = rollout({ podSpec: { volumes } });
    const { asked, target } = targetWith(objects, { configs });
    expect(await blamedImages([observed], target, signal)).toEqual([]);
    expect(asked).not.toContain("ConfigMap");
    expect(await blamedOf({ podSpec: { volumes: volumes.slice(1) } }, configs)).toHaveLength(1);
  });
});
