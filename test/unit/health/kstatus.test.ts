import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { verdict } from "../../../lib/health/check-health.ts";
import { kstatus } from "../../../lib/health/kstatus.ts";

const now = Date.parse("2026-01-01T00:01:00Z");
const condition = (type: string, status: string, reason = "") => ({ type, status, reason });

function statusOf(apiVersion: string, kind: string, fields: JsonObject, metadata: JsonObject = {}) {
  return said(apiVersion, kind, fields, metadata).status;
}

function said(apiVersion: string, kind: string, fields: JsonObject, metadata: JsonObject = {}) {
  return kstatus({ apiVersion, kind, ...fields, metadata: { name: "x", uid: "u", generation: 1, ...metadata } }, now);
}

const rolledOut = {
  observedGeneration: 1,
  replicas: 2,
  updatedReplicas: 2,
  readyReplicas: 2,
  availableReplicas: 2,
  conditions: [condition("Available", "True"), condition("Progressing", "True", "NewReplicaSetAvailable")],
};
const deployment = (status: JsonObject, spec: JsonObject = {}) =>
  statusOf("apps/v1", "Deployment", {
    spec: { replicas: 2, progressDeadlineSeconds: 600, ...spec },
    status: { ...rolledOut, ...status },
  });

describe("Deployment (kustomization 3.17)", () => {
  test.each([
    ["rolled out", {}, "Current"],
    ["not observed yet", { observedGeneration: 0 }, "InProgress"],
    ["too few replicas", { replicas: 1 }, "InProgress"],
    ["old replicas left", { replicas: 3 }, "InProgress"],
    ["not updated", { updatedReplicas: 1 }, "InProgress"],
    ["not available", { availableReplicas: 1 }, "InProgress"],
    ["not ready", { readyReplicas: 1 }, "InProgress"],
    [
      "no Available condition",
      { conditions: [condition("Progressing", "True", "NewReplicaSetAvailable")] },
      "InProgress",
    ],
    [
      "still progressing",
      { conditions: [condition("Available", "True"), condition("Progressing", "True", "ReplicaSetUpdated")] },
      "InProgress",
    ],
    [
      "past its deadline (107)",
      { conditions: [condition("Progressing", "False", "ProgressDeadlineExceeded")] },
      "Failed",
    ],
  ])("%s", (_name, status, expected) => {
    expect(deployment(status)).toBe(expected);
  });

  test("without a deadline the Progressing condition is ignored", () => {
    expect(
      deployment({ conditions: [condition("Available", "True")] }, { progressDeadlineSeconds: 2_147_483_647 }),
    ).toBe("Current");
  });
});

describe("other workloads", () => {
  test.each([
    [
      "ready",
      { replicas: 2, readyReplicas: 2, currentReplicas: 2, currentRevision: "a", updateRevision: "a" },
      {},
      "Current",
    ],
    [
      "rolling",
      { replicas: 2, readyReplicas: 2, currentReplicas: 1, currentRevision: "a", updateRevision: "b" },
      {},
      "InProgress",
    ],
    [
      "rolling, as the API server defaults it",
      { replicas: 2, readyReplicas: 2, updatedReplicas: 2, currentRevision: "a", updateRevision: "b" },
      { updateStrategy: { rollingUpdate: { partition: 0 } } },
      "Current",
    ],
    ["on delete", {}, { updateStrategy: { type: "OnDelete" } }, "Current"],
    [
      "partition done",
      { replicas: 2, readyReplicas: 2, updatedReplicas: 1 },
      { updateStrategy: { rollingUpdate: { partition: 1 } } },
      "Current",
    ],
    [
      "partition open",
      { replicas: 2, readyReplicas: 2, updatedReplicas: 0 },
      { updateStrategy: { rollingUpdate: { partition: 1 } } },
      "InProgress",
    ],
  ])("StatefulSet %s", (_name, status, spec, expected) => {
    expect(statusOf("apps/v1", "StatefulSet", { spec: { replicas: 2, ...spec }, status })).toBe(expected);
  });

  test.each([
    ["not scheduled yet", {}, "InProgress"],
    [
      "ready",
      {
        observedGeneration: 1,
        desiredNumberScheduled: 1,
        currentNumberScheduled: 1,
        updatedNumberScheduled: 1,
        numberAvailable: 1,
        numberReady: 1,
      },
      "Current",
    ],
    [
      "one missing",
      {
        observedGeneration: 1,
        desiredNumberScheduled: 2,
        currentNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
        numberReady: 1,
      },
      "InProgress",
    ],
    ["no node wants it", { observedGeneration: 1, desiredNumberScheduled: 0 }, "Current"],
  ])("DaemonSet %s", (_name, status, expected) => {
    expect(statusOf("apps/v1", "DaemonSet", { status })).toBe(expected);
  });

  test.each([
    ["running", {}, [], "InProgress"],
    ["complete", {}, [condition("Complete", "True")], "Current"],
    ["failed", {}, [condition("Failed", "True")], "Failed"],
    ["suspended", { suspend: true }, [], "Current"],
  ])("Job %s (108)", (_name, spec, conditions, expected) => {
    expect(statusOf("batch/v1", "Job", { spec, status: { conditions } })).toBe(expected);
  });

  test.each([
    ["succeeded", { phase: "Succeeded" }, "Current"],
    ["failed has ended", { phase: "Failed" }, "Current"],
    ["running and ready", { phase: "Running", conditions: [condition("Ready", "True")] }, "Current"],
    [
      "crash looping",
      { phase: "Running", containerStatuses: [{ state: { waiting: { reason: "CrashLoopBackOff" } } }] },
      "Failed",
    ],
    ["starting", { phase: "Running" }, "InProgress"],
    [
      "without a node for long",
      { phase: "Pending", conditions: [condition("PodScheduled", "False", "Unschedulable")] },
      "Failed",
    ],
    ["of an unknown phase", { phase: "Odd" }, "Unknown"],
  ])("Pod %s", (_name, status, expected) => {
    expect(statusOf("v1", "Pod", { status }, { creationTimestamp: "2026-01-01T00:00:00Z" })).toBe(expected);
  });

  test("a Pod without a node gets 15 seconds", () => {
    const status = { phase: "Pending", conditions: [condition("PodScheduled", "False", "Unschedulable")] };
    expect(statusOf("v1", "Pod", { status }, { creationTimestamp: "2026-01-01T00:00:50Z" })).toBe("InProgress");
  });
});

describe("other kinds", () => {
  test.each([
    ["v1", "ConfigMap", {}, "Current"],
    ["v1", "PersistentVolumeClaim", { status: { phase: "Pending" } }, "InProgress"],
    ["v1", "PersistentVolumeClaim", { status: { phase: "Bound" } }, "Current"],
    ["v1", "Service", { spec: { type: "LoadBalancer" } }, "InProgress"],
    ["v1", "Service", { spec: { type: "LoadBalancer", clusterIP: "10.0.0.1" } }, "Current"],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", {}, "InProgress"],
    [
      "apiextensions.k8s.io/v1",
      "CustomResourceDefinition",
      { status: { conditions: [condition("Established", "True")] } },
      "Current",
    ],
    [
      "apiextensions.k8s.io/v1",
      "CustomResourceDefinition",
      { status: { conditions: [condition("NamesAccepted", "False")] } },
      "Failed",
    ],
    ["example.com/v1", "Widget", {}, "Current"],
    ["example.com/v1", "Widget", { status: { conditions: [condition("Ready", "False")] } }, "InProgress"],
    ["example.com/v1", "Widget", { status: { conditions: [condition("Reconciling", "True")] } }, "InProgress"],
    ["example.com/v1", "Widget", { status: { conditions: [condition("Stalled", "True")] } }, "Failed"],
    ["example.com/v1", "Widget", { status: { observedGeneration: 0 } }, "InProgress"],
  ])("%s %s %o is %s", (apiVersion, kind, fields, expected) => {
    expect(statusOf(apiVersion, kind, fields)).toBe(expected);
  });

  test("an object that is being deleted is Terminating, whatever its kind", () => {
    expect(statusOf("v1", "ConfigMap", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" })).toBe("Terminating");
  });
});

describe("the message why an object is not Current, with kstatus' text", () => {
  const observed = { observedGeneration: 1 };
  test.each<[string, string, JsonObject, string]>([
    ["apps/v1", "Deployment", { spec: { replicas: 2 }, status: { replicas: 1 } }, "Replicas: 1/2"],
    ["apps/v1", "Deployment", { status: { replicas: 1, updatedReplicas: 1, availableReplicas: 0 } }, "Available: 0/1"],
    [
      "apps/v1",
      "Deployment",
      { status: { observedGeneration: 0 } },
      "Deployment generation is 1, but latest observed generation is 0",
    ],
    [
      "apps/v1",
      "Deployment",
      { status: { conditions: [condition("Progressing", "False", "ProgressDeadlineExceeded")] } },
      "Progress deadline exceeded",
    ],
    ["apps/v1", "StatefulSet", { spec: { replicas: 3 }, status: { replicas: 3, readyReplicas: 1 } }, "Ready: 1/3"],
    ["apps/v1", "ReplicaSet", { status: { replicas: 1, fullyLabeledReplicas: 1 } }, "Available: 0/1"],
    ["apps/v1", "DaemonSet", { status: { ...observed, desiredNumberScheduled: 2 } }, "Current: 0/2"],
    [
      "batch/v1",
      "Job",
      { status: { conditions: [condition("Failed", "True")], failed: 3 } },
      "Job Failed. failed: 3/1",
    ],
    ["batch/v1", "Job", { status: { startTime: "x", active: 1 } }, "Job in progress. success:0, active: 1, failed: 0"],
    ["v1", "PersistentVolumeClaim", { status: { phase: "Pending" } }, "PVC is not Bound. phase: Pending"],
    ["v1", "Service", { spec: { type: "LoadBalancer" } }, "ClusterIP not set. Service type: LoadBalancer"],
    [
      "v1",
      "Pod",
      {
        status: {
          phase: "Running",
          containerStatuses: [{ name: "web", state: { waiting: { reason: "CrashLoopBackOff" } } }],
        },
      },
      "Containers in CrashLoop state: web",
    ],
    ["v1", "Pod", { status: { phase: "Odd" } }, "unknown phase Odd"],
    [
      "example.com/v1",
      "Widget",
      { status: { conditions: [{ ...condition("Ready", "False"), message: "no quota" }] } },
      "no quota",
    ],
    ["example.com/v1", "Widget", { status: { conditions: [condition("Ready", "False")] } }, ""],
    ["v1", "ConfigMap", {}, ""],
  ])("%s %s %o: %s", (apiVersion, kind, fields, message) => {
    expect(said(apiVersion, kind, fields).message).toBe(message);
  });
});

test("a Ready condition with a status other than True, False or Unknown is ignored (104)", () => {
  const status = { conditions: [condition("Ready", "Maybe")] };
  expect(statusOf("example.com/v1", "Widget", { status })).toBe("Current");
  const after = { conditions: [condition("Ready", "Maybe"), condition("Ready", "False")] };
  expect(statusOf("example.com/v1", "Widget", { status: after })).toBe("InProgress");
});

describe("the verdict", () => {
  const ref = (name: string) => ({ group: "apps", version: "v1", kind: "Deployment", namespace: "t", name });

  test("waits for all objects that are not Current, with Flux's message (104)", () => {
    const missing = { group: "", version: "v1", kind: "ConfigMap", namespace: "t", name: "does-not-exists" };
    expect(
      verdict([
        { ref: ref("a"), status: "Current" },
        { ref: missing, status: "NotFound" },
      ]),
    ).toMatchObject({
      kind: "waiting",
      message: "timeout waiting for: [ConfigMap/t/does-not-exists status: 'NotFound']",
    });
  });

  test("fails early, naming only the failed objects (107)", () => {
    expect(
      verdict([
        { ref: ref("a"), status: "Failed" },
        { ref: ref("b"), status: "InProgress" },
      ]),
    ).toMatchObject({
      kind: "failed",
      message: "failed early due to stalled resources: [Deployment/t/a status: 'Failed']",
    });
  });

  test("without fail-fast waits for the others, and ends once each is Current or Failed (107)", () => {
    const stalled = { ref: ref("a"), status: "Failed" } as const;
    expect(verdict([stalled, { ref: ref("b"), status: "InProgress" }], { isFailFast: false })).toMatchObject({
      kind: "waiting",
      message: "timeout waiting for: [Deployment/t/a status: 'Failed', Deployment/t/b status: 'InProgress']",
    });
    expect(verdict([stalled, { ref: ref("b"), status: "Current" }], { isFailFast: false })).toMatchObject({
      kind: "failed",
      message: "failed early due to stalled resources: [Deployment/t/a status: 'Failed']",
    });
  });

  test("is healthy if there is nothing to wait for", () => {
    expect(verdict([{ ref: ref("a"), status: "Current" }])).toEqual({ kind: "healthy", unknown: [] });
    expect(verdict([])).toEqual({ kind: "healthy", unknown: [] });
  });
});
