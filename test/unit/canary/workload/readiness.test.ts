import { describe, expect, test } from "vitest";
import { daemonSetKind } from "../../../../lib/canary/workload/daemon-set.ts";
import { deploymentKind } from "../../../../lib/canary/workload/deployment.ts";
import type { Role } from "../../../../lib/canary/workload/pod-kind.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { kubernetesTime } from "../../../../lib/core/kubernetes-time.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";
import { canaryOf } from "./workload-world.ts";

const clock = steppedClock();
const secondsAgo = (seconds: number): string => kubernetesTime(clock.now() - seconds * 1_000);
const live = (kind: string, name: string, status: JsonObject, more: JsonObject = {}) => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name, namespace: "test", uid: "1", generation: 2 },
  spec: { replicas: 3 },
  status: { observedGeneration: 2, ...status },
  ...more,
});
const stepOf = (options: Parameters<typeof canaryOf>[1] = {}) => ({
  canary: canaryOf("test", options),
  clock,
});

const full = { replicas: 3, updatedReplicas: 3, availableReplicas: 3 };
const unavailable = (seconds: number) => [
  { type: "Progressing", status: "True", reason: "ReplicaSetUpdated" },
  { type: "Available", status: "False", reason: "MinimumReplicasUnavailable", lastUpdateTime: secondsAgo(seconds) },
];
const exceeded = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }];

describe("a Deployment", () => {
  const readiness = (status: JsonObject, role: Role = "primary", options: Parameters<typeof canaryOf>[1] = {}) => {
    const name = role === "primary" ? "podinfo-primary" : "podinfo";
    return deploymentKind.readiness(live("Deployment", name, status), role, stepOf(options));
  };

  test("serves when all its pods are updated and available", () => {
    expect(readiness(full)).toEqual({ isReady: true });
    expect(readiness(full, "canary")).toEqual({ isReady: true });
  });

  test.each([
    { status: { observedGeneration: 1 }, text: "observed deployment generation less than desired generation" },
    { status: { ...full, updatedReplicas: 1 }, text: "1 out of 3 new replicas have been updated" },
    { status: { ...full, replicas: 5 }, text: "2 old replicas are pending termination" },
    { status: { ...full, availableReplicas: 2 }, text: "2 of 3 (readyThreshold 100%) updated replicas are available" },
    { status: {}, text: "0 out of 3 new replicas have been updated" },
  ])("waits: $text", ({ status, text }) => {
    const message = `not ready: waiting for rollout to finish: ${text}`;
    expect(readiness(status)).toEqual({
      isReady: false,
      message: `podinfo-primary.test ${message}`,
      isRetriable: true,
    });
    expect(readiness(status, "canary")).toMatchObject({ message: `canary deployment podinfo.test ${message}` });
  });

  test("that is the primary does not serve with no replicas, unless an autoscaler may want none", () => {
    const empty = live("Deployment", "podinfo-primary", {}, { spec: { replicas: 0 } });
    expect(deploymentKind.readiness(empty, "primary", stepOf())).toEqual({
      isReady: false,
      message: "podinfo-primary.test not ready: waiting for rollout to finish: 0 replicas are wanted",
      isRetriable: true,
    });
    const autoscalerRef = { apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", name: "podinfo" };
    const scaled = stepOf({ spec: { autoscalerRef } });
    expect(deploymentKind.readiness(empty, "primary", scaled)).toEqual({ isReady: true });
  });

  test("waits no longer once its own deadline has passed", () => {
    expect(readiness({ ...full, conditions: exceeded })).toEqual({
      isReady: false,
      message: 'podinfo-primary.test not ready: deployment "podinfo-primary" exceeded its progress deadline',
      isRetriable: false,
    });
  });

  test("waits for the deadline of the Canary, which is ten minutes by default", () => {
    const late = (seconds: number, options: Parameters<typeof canaryOf>[1] = {}) =>
      readiness({ ...full, availableReplicas: 0, conditions: unavailable(seconds) }, "primary", options);
    expect(late(600)).toMatchObject({ isReady: false, isRetriable: true });
    expect(late(601)).toMatchObject({ isReady: false, isRetriable: false });
    const spec = { progressDeadlineSeconds: 60 };
    expect(late(60, { spec })).toMatchObject({ isRetriable: true });
    expect(late(61, { spec })).toMatchObject({ isRetriable: false });
  });

  test("serves with a share of its pods where the Canary says so, one for each of the two", () => {
    const analysis = {
      interval: "10s",
      threshold: 5,
      stepWeight: 10,
      primaryReadyThreshold: 67,
      canaryReadyThreshold: 50,
    };
    const readyWith = (availableReplicas: number, role: Role) =>
      readiness({ ...full, availableReplicas }, role, { spec: { analysis } });
    expect(readyWith(2, "primary")).toEqual({ isReady: true });
    expect(readyWith(1, "primary")).toMatchObject({
      message: expect.stringContaining("1 of 2 (readyThreshold 67%) updated replicas are available"),
    });
    expect(readyWith(1, "canary")).toEqual({ isReady: true });
  });

  test("takes a share of its pods in 32 bit floating point, as Flagger does", () => {
    const analysis = { interval: "10s", threshold: 5, stepWeight: 10, primaryReadyThreshold: 29 };
    const hundred = { replicas: 100, updatedReplicas: 100, availableReplicas: 28 };
    expect(readiness(hundred, "primary", { spec: { analysis } })).toMatchObject({
      message: expect.stringContaining("28 of 29 (readyThreshold 29%)"),
    });
  });
});

describe("a DaemonSet", () => {
  const scheduled = { desiredNumberScheduled: 4, updatedNumberScheduled: 4, numberAvailable: 4 };
  const readiness = (status: JsonObject, role: Role = "primary", options: Parameters<typeof canaryOf>[1] = {}) => {
    const name = role === "primary" ? "podinfo-primary" : "podinfo";
    const inTime = { status: { lastTransitionTime: secondsAgo(600) } };
    return daemonSetKind.readiness(live("DaemonSet", name, status), role, stepOf({ ...inTime, ...options }));
  };

  test("serves when all its pods are updated and available, also if there are none", () => {
    expect(readiness(scheduled)).toEqual({ isReady: true });
    expect(readiness({}, "canary")).toEqual({ isReady: true });
  });

  test.each([
    { status: { observedGeneration: 1 }, text: "observed daemonset generation less than desired generation" },
    { status: { ...scheduled, updatedNumberScheduled: 1 }, text: "1 out of 4 new pods have been updated" },
    { status: { ...scheduled, numberAvailable: 1 }, text: "1 of 4 (readyThreshold 100%) updated pods are available" },
  ])("waits: $text", ({ status, text }) => {
    const message = `waiting for rollout to finish: ${text}`;
    expect(readiness(status)).toEqual({
      isReady: false,
      message: `primary daemonset podinfo-primary.test not ready: ${message}`,
      isRetriable: true,
    });
    expect(readiness(status, "canary")).toMatchObject({
      message: `canary damonset podinfo.test not ready with retryable true: ${message}`,
    });
  });

  test("waits no longer than the deadline after the last change of the Canary's status", () => {
    const status = { lastTransitionTime: secondsAgo(601) };
    expect(readiness({ ...scheduled, numberAvailable: 1 }, "canary", { status })).toEqual({
      isReady: false,
      message: "canary damonset podinfo.test not ready with retryable false: exceeded its progressDeadlineSeconds: 600",
      isRetriable: false,
    });
    expect(readiness({ observedGeneration: 1 }, "canary", { status })).toMatchObject({ isRetriable: true });
  });
});
