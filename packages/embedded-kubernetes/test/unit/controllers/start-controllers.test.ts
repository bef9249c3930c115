import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import { silentLog } from "../../../src/core/log.ts";
import { type Kubernetes, startKubernetes } from "../../../src/start-kubernetes.ts";

let folder = "";
let cluster: Kubernetes;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-controllers-"));
  cluster = await startKubernetes({ stateFolder: folder, port: 0, controllers: true, log: silentLog });
  await create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } });
  await vi.waitUntil(async () => (await codeOf("/api/v1/namespaces/x/serviceaccounts/default")) === 200);
});

afterEach(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
});

async function call(method: string, path: string, body?: JsonObject, type = "application/json"): Promise<Response> {
  return fetch(`${cluster.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${cluster.token}`, "content-type": type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function create(path: string, body: JsonObject): Promise<JsonObject> {
  const response = await call("POST", path, body);
  expect(response.status).toBe(201);
  return parsed(await response.json());
}

async function merge(path: string, body: JsonObject): Promise<void> {
  expect((await call("PATCH", path, body, "application/merge-patch+json")).status).toBe(200);
}

async function read(path: string): Promise<JsonObject> {
  return parsed(await (await call("GET", path)).json());
}

function parsed(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new Error("the answer is no object");
  return value;
}

async function codeOf(path: string): Promise<number> {
  return (await call("GET", path)).status;
}

async function statusOf(path: string): Promise<Json> {
  return (await read(path))["status"] ?? null;
}

async function condition(path: string, type: string): Promise<JsonObject | undefined> {
  const status = await statusOf(path);
  const conditions = isJsonObject(status) && Array.isArray(status["conditions"]) ? status["conditions"] : [];
  return conditions.filter(isJsonObject).find((one) => one["type"] === type);
}

async function namesIn(path: string): Promise<readonly string[]> {
  const { items } = await read(path);
  return (Array.isArray(items) ? items : []).map((item) =>
    JSON.stringify(parsed(parsed(item)["metadata"])["name"]).slice(1, -1),
  );
}

const apps = "/apis/apps/v1/namespaces/x";
const core = "/api/v1/namespaces/x";
const faultAnnotation = "local.sluice.dev/simulate";

function workload(kind: string, spec: JsonObject, fault?: string): JsonObject {
  const annotations = fault === undefined ? {} : { annotations: { [faultAnnotation]: fault } };
  const template = {
    metadata: { labels: { app: "a" } },
    spec: { containers: [{ name: "app", image: "example.test/app:1" }] },
  };
  const selector = { matchLabels: { app: "a" } };
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name: "a", ...annotations },
    spec: { selector, template, ...spec },
  };
}

describe("workloads", () => {
  test("a Deployment becomes available, with as many Pods as it wants", async () => {
    await create(`${apps}/deployments`, workload("Deployment", { replicas: 2 }));
    await expect.poll(() => statusOf(`${apps}/deployments/a`)).toMatchObject({ readyReplicas: 2, updatedReplicas: 2 });
    expect(await condition(`${apps}/deployments/a`, "Progressing")).toMatchObject({ reason: "NewReplicaSetAvailable" });
    expect(await namesIn(`${core}/pods`)).toHaveLength(2);
    expect(await read(`${apps}/deployments/a`)).toMatchObject({
      metadata: { annotations: { "deployment.kubernetes.io/revision": "1" } },
      status: { observedGeneration: 1 },
    });
  });

  test("a new template is a new revision, and the old Pods are deleted", async () => {
    await create(`${apps}/deployments`, workload("Deployment", {}));
    await expect.poll(() => statusOf(`${apps}/deployments/a`)).toMatchObject({ readyReplicas: 1 });
    const [former] = await namesIn(`${core}/pods`);
    await merge(`${apps}/deployments/a`, { spec: { template: { metadata: { annotations: { again: "1" } } } } });
    await expect
      .poll(() => statusOf(`${apps}/deployments/a`))
      .toMatchObject({ observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1 });
    await expect.poll(() => namesIn(`${core}/pods`)).not.toContain(former);
    expect(await read(`${apps}/deployments/a`)).toMatchObject({
      metadata: { annotations: { "deployment.kubernetes.io/revision": "2" } },
    });
  });

  test("a Deployment with the fault never-ready becomes ready when the fault is removed", async () => {
    await create(`${apps}/deployments`, workload("Deployment", {}, "never-ready"));
    await expect.poll(() => condition(`${apps}/deployments/a`, "Available")).toMatchObject({ status: "False" });
    await expect.poll(() => statusOf(`${apps}/deployments/a`)).toMatchObject({ replicas: 1, unavailableReplicas: 1 });
    await merge(`${apps}/deployments/a`, { metadata: { annotations: { [faultAnnotation]: null } } });
    await expect.poll(() => condition(`${apps}/deployments/a`, "Available")).toMatchObject({ status: "True" });
  });

  test("a fault of a new Pod template affects only its own Pods, and the Pods of the old template keep running", async () => {
    await create(`${apps}/deployments`, workload("Deployment", { replicas: 2 }));
    await expect.poll(() => statusOf(`${apps}/deployments/a`)).toMatchObject({ readyReplicas: 2 });
    const template = { metadata: { annotations: { [faultAnnotation]: "fail" } } };
    await merge(`${apps}/deployments/a`, { spec: { template } });
    await expect
      .poll(() => condition(`${apps}/deployments/a`, "Progressing"))
      .toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });
    // The new ReplicaSet counts its Pod after the Deployment has reported the fault.
    await expect.poll(() => statusOf(`${apps}/deployments/a`)).toMatchObject({ updatedReplicas: 1, readyReplicas: 2 });
    await merge(`${apps}/deployments/a`, { spec: { template: { metadata: { annotations: null } } } });
    await expect
      .poll(() => statusOf(`${apps}/deployments/a`))
      .toMatchObject({ observedGeneration: 3, replicas: 2, updatedReplicas: 2, readyReplicas: 2 });
  });

  test.each([
    ["StatefulSet", { currentReplicas: 1 }],
    ["DaemonSet", { currentNumberScheduled: 1 }],
  ])("a fault of the Pod template of a %s affects its Pods", async (kind, counted) => {
    const path = `${apps}/${kind.toLowerCase()}s`;
    const template = {
      metadata: { labels: { app: "a" }, annotations: { [faultAnnotation]: "never-ready" } },
      spec: { containers: [{ name: "app", image: "example.test/app:1" }] },
    };
    await create(path, workload(kind, { template }));
    // The status is written after the Pods.
    await expect.poll(() => statusOf(`${path}/a`)).toMatchObject(counted);
    const [pod] = await namesIn(`${core}/pods`);
    expect(await read(`${core}/pods/${pod}`)).toMatchObject({
      metadata: { annotations: template.metadata.annotations },
    });
  });

  test("a Deployment that fails exceeds its deadline", async () => {
    await create(`${apps}/deployments`, workload("Deployment", {}, "fail"));
    await expect
      .poll(() => condition(`${apps}/deployments/a`, "Progressing"))
      .toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });
  });

  test("a fault of an image tag affects only Pods with this tag, whose containers have ended several times", async () => {
    await create(`${apps}/deployments`, workload("Deployment", { progressDeadlineSeconds: 600 }, "fail-image=2"));
    await expect.poll(() => statusOf(`${apps}/deployments/a`)).toMatchObject({ readyReplicas: 1 });
    const containers = [{ name: "app", image: `example.test/app:2@sha256:${"a".repeat(64)}` }];
    await merge(`${apps}/deployments/a`, { spec: { template: { spec: { containers } } } });
    await expect.poll(() => namesIn(`${core}/pods`)).toHaveLength(2);
    await expect
      .poll(async () => JSON.stringify((await read(`${core}/pods`))["items"]))
      .toMatch(/"restartCount":3,"lastState":\{"terminated":\{"exitCode":1/);
    expect(await statusOf(`${apps}/deployments/a`)).toMatchObject({ readyReplicas: 1 });
  });

  test("a slow workload becomes ready later", async () => {
    await create(`${apps}/deployments`, workload("Deployment", {}, "slow=200ms"));
    await expect.poll(() => statusOf(`${apps}/deployments/a`)).toMatchObject({ availableReplicas: 1 });
  });

  test("a StatefulSet numbers its Pods and binds a claim for each", async () => {
    const claims = [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ];
    const spec = { replicas: 2, serviceName: "a", volumeClaimTemplates: claims };
    await create(`${apps}/statefulsets`, workload("StatefulSet", spec));
    await expect.poll(() => statusOf(`${apps}/statefulsets/a`)).toMatchObject({ readyReplicas: 2, updatedReplicas: 2 });
    expect(await namesIn(`${core}/pods`)).toEqual(["a-0", "a-1"]);
    await expect.poll(() => statusOf(`${core}/persistentvolumeclaims/data-a-1`)).toMatchObject({ phase: "Bound" });
  });

  test("a DaemonSet runs as on one node", async () => {
    await create(`${apps}/daemonsets`, workload("DaemonSet", {}));
    await expect
      .poll(() => statusOf(`${apps}/daemonsets/a`))
      .toMatchObject({ desiredNumberScheduled: 1, numberAvailable: 1, updatedNumberScheduled: 1 });
  });

  test.each([
    [undefined, "Complete"],
    ["fail", "Failed"],
  ])("a Job told %s ends as %s", async (fault, type) => {
    const annotations = fault === undefined ? {} : { annotations: { [faultAnnotation]: fault } };
    const spec = { template: { spec: { restartPolicy: "Never", containers: [{ name: "app", image: "x:1" }] } } };
    await create("/apis/batch/v1/namespaces/x/jobs", {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "a", ...annotations },
      spec,
    });
    await expect.poll(() => condition("/apis/batch/v1/namespaces/x/jobs/a", type)).toMatchObject({ status: "True" });
  });

  test("a Job that names another controller is left to that controller", async () => {
    const jobs = "/apis/batch/v1/namespaces/x/jobs";
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "app", image: "x:1" }] } };
    const job = (name: string, more: JsonObject): JsonObject => ({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name },
      spec: { template, ...more },
    });
    await create(jobs, job("theirs", { managedBy: "example.test/other" }));
    await create(jobs, job("ours", { managedBy: "kubernetes.io/job-controller" }));
    await expect.poll(() => condition(`${jobs}/ours`, "Complete")).toMatchObject({ status: "True" });
    expect(await statusOf(`${jobs}/theirs`)).toEqual({});
  });

  test("deleting a Deployment deletes its ReplicaSet and Pods", async () => {
    await create(`${apps}/deployments`, workload("Deployment", {}));
    await expect.poll(() => statusOf(`${apps}/deployments/a`)).toMatchObject({ readyReplicas: 1 });
    expect((await call("DELETE", `${apps}/deployments/a`)).status).toBe(200);
    await expect.poll(() => namesIn(`${apps}/replicasets`)).toEqual([]);
    await expect.poll(() => namesIn(`${core}/pods`)).toEqual([]);
  });
});

describe("garbage collection", () => {
  function configMap(name: string, owner?: JsonObject): JsonObject {
    const metadata = owner === undefined ? undefined : parsed(owner["metadata"]);
    const reference = metadata && {
      apiVersion: "v1",
      kind: "ConfigMap",
      name: metadata["name"] ?? "",
      uid: metadata["uid"] ?? "",
    };
    return {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, ...(reference === undefined ? {} : { ownerReferences: [reference] }) },
    };
  }

  test("an object whose owner never existed is deleted", async () => {
    const owner = { metadata: { name: "never", uid: "00000000-0000-4000-8000-000000000000" } };
    await create(`${core}/configmaps`, configMap("dep", owner));
    await expect.poll(() => codeOf(`${core}/configmaps/dep`)).toBe(404);
  });

  test("an orphaned object stays, without an owner reference", async () => {
    const owner = await create(`${core}/configmaps`, configMap("owner"));
    await create(`${core}/configmaps`, configMap("dep", owner));
    await call("DELETE", `${core}/configmaps/owner?propagationPolicy=Orphan`);
    await expect.poll(() => codeOf(`${core}/configmaps/owner`)).toBe(404);
    expect(parsed((await read(`${core}/configmaps/dep`))["metadata"])).not.toHaveProperty("ownerReferences");
  });
});

describe("namespaces", () => {
  test("a deleted namespace deletes everything in it, including claims", async () => {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const metadata = { name: "c" };
    await create(`${core}/persistentvolumeclaims`, { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec });
    await create(`${apps}/deployments`, workload("Deployment", {}));
    expect((await call("DELETE", "/api/v1/namespaces/x")).status).toBe(200);
    await expect.poll(() => codeOf("/api/v1/namespaces/x")).toBe(404);
    expect(await namesIn(`${core}/pods`)).toEqual([]);
  });

  test("its default objects are recreated", async () => {
    await expect.poll(() => codeOf(`${core}/configmaps/kube-root-ca.crt`)).toBe(200);
    await call("DELETE", `${core}/configmaps/kube-root-ca.crt`);
    await expect.poll(() => codeOf(`${core}/configmaps/kube-root-ca.crt`)).toBe(200);
  });
});
