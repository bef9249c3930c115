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

  test("used as primary is not ready at 0 replicas, unless the Canary has an autoscaler", () => {
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

  test("stops waiting once its own deadline has passed", () => {
    expect(readiness({ ...full, conditions: exceeded })).toEqual({
      isReady: false,
      message: 'podinfo-primary.test not ready: deployment "podinfo-primary" exceeded its progress deadline',
      isRetriable: false,
    });
  });

  test("waits for the deadline of the Canary, ten minutes by default", () => {
    const late = (seconds: number, options: Parameters<typeof canaryOf>[1] = {}) =>
      readiness({ ...full, availableReplicas: 0, conditions: unavailable(seconds) }, "primary", options);
    expect(late(600)).toMatchObject({ isReady: false, isRetriable: true });
    expect(late(601)).toMatchObject({ isReady: false, isRetriable: false });
    const spec = { progressDeadlineSeconds: 60 };
    expect(late(60, { spec })).toMatchObject({ isRetriable: true });
    expect(late(61, { spec })).toMatchObject({ isRetriable: false });
  });

  test("counts the deadline from the start of the phase if a condition has an older time", () => {
    const conditions = unavailable(900);
    const begun = (phase: string, role: Role) =>
      readiness({ ...full, availableReplicas: 0, conditions }, role, {
        status: { phase, lastTransitionTime: secondsAgo(5) },
      });
    expect(begun("Progressing", "canary")).toMatchObject({ isRetriable: true });
    expect(begun("Promoting", "primary")).toMatchObject({ isRetriable: true });
    expect(begun("Progressing", "primary")).toMatchObject({ isRetriable: false });
  });

  test("ignores a time in the future when it counts the deadline", () => {
    const status = { phase: "Progressing", lastTransitionTime: secondsAgo(700) };
    const conditions = unavailable(-7_200);
    expect(readiness({ ...full, availableReplicas: 0, conditions }, "canary", { status })).toMatchObject({
      isRetriable: false,
    });
    const future = { ...status, lastTransitionTime: secondsAgo(-7_200) };
    const late = { ...full, availableReplicas: 0, conditions: unavailable(601) };
    expect(readiness(late, "canary", { status: future })).toMatchObject({ isRetriable: false });
  });

  const autoscalerRef = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name: "podinfo" };
  test.each([
    { what: "no pod serves", status: { ...full, availableReplicas: 0 }, isLost: true },
    { what: "no pod serves yet", status: { replicas: 1, updatedReplicas: 1 }, isLost: true },
    { what: "one of its pods no longer serves", status: { ...full, availableReplicas: 2 }, isLost: true },
    {
      what: "a pod has yet to be created",
      status: { ...full, updatedReplicas: 2, availableReplicas: 2 },
      isLost: false,
    },
    { what: "a pod is terminating", status: { ...full, replicas: 4, availableReplicas: 2 }, isLost: false },
    { what: "the controller has not seen the last change", status: { observedGeneration: 1 }, isLost: false },
    {
      what: "an autoscaler may just have added the pod that does not serve",
      status: { ...full, availableReplicas: 2 },
      spec: { autoscalerRef },
      isLost: false,
    },
    {
      what: "no pod serves, with an autoscaler",
      status: { ...full, availableReplicas: 0 },
      spec: { autoscalerRef },
      isLost: true,
    },
  ])("has lost pods or not: $what", ({ status, spec = {}, isLost }) => {
    const found = readiness(status, "canary", { spec });
    expect("isLost" in found).toBe(isLost);
  });

  test("serves with the share of ready pods that the Canary sets, separately for primary and canary", () => {
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

  test("computes the share of its pods in 32-bit floating point, as Flagger does", () => {
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

  test("serves when all its pods are updated and available, also if it has none", () => {
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

  test("stops waiting at the deadline after the last change of the Canary's status", () => {
    const status = { lastTransitionTime: secondsAgo(601) };
    expect(readiness({ ...scheduled, numberAvailable: 1 }, "canary", { status })).toEqual({
      isReady: false,
      message: "canary damonset podinfo.test not ready with retryable false: exceeded its progressDeadlineSeconds: 600",
      isRetriable: false,
    });
    expect(readiness({ observedGeneration: 1 }, "canary", { status })).toMatchObject({ isRetriable: true });
  });

  test("has lost its pods if none of them serves; if some serve, it waits for new nodes", () => {
    expect(readiness({ ...scheduled, numberAvailable: 0 }, "canary")).toMatchObject({ isLost: true });
    expect("isLost" in readiness({ ...scheduled, numberAvailable: 1 }, "canary")).toBe(false);
  });

  test("does not extend its deadline because of a status in the future", () => {
    const status = { lastTransitionTime: secondsAgo(-7_200) };
    expect(readiness({ ...scheduled, numberAvailable: 1 }, "canary", { status })).toMatchObject({ isRetriable: true });
  });
});
