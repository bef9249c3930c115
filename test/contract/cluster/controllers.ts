import { beforeEach, describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { objectOf, objectsOf, textOf } from "../../../packages/embedded-kubernetes/src/core/json-fields.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { workspace } from "./workspace.ts";

const refusal = (name: string, namespace: string): string =>
  `pods "${name}" is forbidden: error looking up service account ${namespace}/none: serviceaccount "none" not found`;

/** What people see of the controllers of workloads, in the words of kube-controller-manager v1.35.4. */
export function controllersContract(start: StartCluster): void {
  describe("controllers", () => {
    const space = workspace(start);
    const { create, deployment, signal } = space;

    const list = (group: string, kind: string): Promise<readonly LiveObject[]> =>
      space.cluster.list({ group, version: "v1", kind, namespace: space.namespace }, signal);
    const only = async (group: string, kind: string): Promise<LiveObject> => {
      const found = await list(group, kind);
      expect(found).toHaveLength(1);
      return found[0] ?? expect.fail(`no ${kind}`);
    };
    const named = (group: string, kind: string, name: string) =>
      space.get({ group, version: group === "autoscaling" ? "v2" : "v1", kind, namespace: space.namespace, name });
    const statusOf = async (group: string, kind: string, name: string): Promise<JsonObject> => {
      const status = (await named(group, kind, name))?.["status"];
      return isJsonObject(status) ? status : {};
    };
    const eventsOf = async (): Promise<readonly JsonObject[]> =>
      (await list("", "Event"))
        .toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
        .filter((event) => isJsonObject(event));
    const conditionOf = async (group: string, kind: string, name: string, type: string) =>
      objectsOf(await statusOf(group, kind, name), "conditions").find((condition) => condition["type"] === type);
    /** What its events say, in the order of their names, which is that of time. */
    const toldOf = async (kind: string, name: string): Promise<readonly string[]> =>
      (await eventsOf())
        .filter((event) => {
          const about = objectOf(event, "involvedObject");
          return textOf(about, "kind") === kind && textOf(about, "name") === name;
        })
        .map((event) => `${textOf(event, "type")} ${textOf(event, "reason")}: ${textOf(event, "message")}`);
    const patch = (group: string, kind: string, name: string, body: JsonObject) =>
      space.cluster.patch(
        { group, version: "v1", kind, namespace: space.namespace, name },
        { type: "merge", body },
        { manager: "beta" },
        signal,
      );
    // A controller makes it. A Pod that comes before it is refused, which is an event more.
    beforeEach(async () => {
      await expect.poll(() => named("", "ServiceAccount", "default")).toBeDefined();
    });
    const workload = (kind: string, spec: JsonObject, podSpec: JsonObject = {}): Manifest => ({
      apiVersion: kind === "Job" ? "batch/v1" : "apps/v1",
      kind,
      metadata: { name: "app", namespace: space.namespace },
      spec: {
        ...(kind === "Job" ? {} : { selector: { matchLabels: { app: "app" } } }),
        template: {
          metadata: { labels: { app: "app" } },
          spec: { containers: [{ name: "app", image: "example.test/app:1" }], ...podSpec },
        },
        ...spec,
      },
    });
    const rolledOut = async (image: string): Promise<void> => {
      await expect
        .poll(async () => {
          const sets = (await list("apps", "ReplicaSet")).filter((set) => JSON.stringify(set).includes(`"${image}"`));
          const { replicas, availableReplicas, updatedReplicas } = await statusOf("apps", "Deployment", "app");
          return [sets.length, replicas, availableReplicas, updatedReplicas];
        })
        .toEqual([1, 1, 1, 1]);
    };

    test("write events about the scaling of a Deployment and its ReplicaSet", async () => {
      await create(deployment("example.test/app:1", { replicas: 2 }));
      await expect.poll(() => statusOf("apps", "Deployment", "app")).toMatchObject({ availableReplicas: 2 });
      const { name } = (await only("apps", "ReplicaSet")).metadata;
      await patch("apps", "Deployment", "app", { spec: { replicas: 1 } });
      const told = [
        `Normal ScalingReplicaSet: Scaled up replica set ${name} from 0 to 2`,
        `Normal ScalingReplicaSet: Scaled down replica set ${name} from 2 to 1`,
      ];
      await expect.poll(() => toldOf("Deployment", "app")).toEqual(told);
      await expect
        .poll(async () => (await toldOf("ReplicaSet", name)).map((told) => told.slice(0, told.indexOf(name))))
        .toEqual([
          "Normal SuccessfulCreate: Created pod: ",
          "Normal SuccessfulCreate: Created pod: ",
          "Normal SuccessfulDelete: Deleted pod: ",
        ]);
      const event = (await eventsOf()).find((each) => textOf(each, "message").startsWith("Scaled up"));
      expect(event).toMatchObject({
        metadata: { name: expect.stringMatching(/^app\.[0-9a-f]{16}$/) },
        involvedObject: { apiVersion: "apps/v1", kind: "Deployment", namespace: space.namespace },
        source: { component: "deployment-controller" },
        reportingComponent: "deployment-controller",
        reportingInstance: "",
        count: 1,
        eventTime: null,
      });
    });

    test("roll out a new template as far as maxSurge and maxUnavailable allow", async () => {
      await create(deployment("example.test/app:1", { replicas: 2 }));
      await expect.poll(() => statusOf("apps", "Deployment", "app")).toMatchObject({ availableReplicas: 2 });
      const { name: former } = (await only("apps", "ReplicaSet")).metadata;
      const template = { spec: { containers: [{ name: "app", image: "example.test/app:2" }] } };
      await patch("apps", "Deployment", "app", { spec: { template } });
      await expect.poll(async () => (await toldOf("Deployment", "app")).length).toBe(5);
      const sets = await list("apps", "ReplicaSet");
      const latter = sets.find((set) => set.metadata.name !== former)?.metadata.name;
      expect((await toldOf("Deployment", "app")).map((told) => told.replace("Normal ScalingReplicaSet: ", ""))).toEqual(
        [
          `Scaled up replica set ${former} from 0 to 2`,
          `Scaled up replica set ${latter} from 0 to 1`,
          `Scaled down replica set ${former} from 2 to 1`,
          `Scaled up replica set ${latter} from 1 to 2`,
          `Scaled down replica set ${former} from 1 to 0`,
        ],
      );
    });

    test("keep the newest old ReplicaSets, as many as revisionHistoryLimit", async () => {
      await create(deployment("example.test/app:1", { replicas: 1, revisionHistoryLimit: 1 }));
      await rolledOut("example.test/app:1");
      for (const image of ["example.test/app:2", "example.test/app:3"]) {
        await patch("apps", "Deployment", "app", {
          spec: { template: { spec: { containers: [{ name: "app", image }] } } },
        });
        await rolledOut(image);
      }
      const revisions = async () =>
        (await list("apps", "ReplicaSet")).map(
          ({ metadata }) => metadata.annotations?.["deployment.kubernetes.io/revision"],
        );
      await expect.poll(async () => new Set(await revisions())).toEqual(new Set(["2", "3"]));
    });

    test("give an orphaned ReplicaSet and its Pods to the Deployment that selects it", async () => {
      await create(deployment("example.test/app:1", { replicas: 1 }));
      await rolledOut("example.test/app:1");
      const [set, pod] = [await only("apps", "ReplicaSet"), await only("", "Pod")];
      const ref = { group: "apps", version: "v1", kind: "Deployment", namespace: space.namespace, name: "app" };
      await space.remove(ref, { propagation: "Orphan" });
      await expect.poll(() => named("apps", "Deployment", "app")).toBeUndefined();
      const owners = async () => (await only("apps", "ReplicaSet")).metadata.ownerReferences;
      expect(await owners()).toBeUndefined();
      // What the controller of ReplicaSets has observed, that of Deployments has too: both look at one copy. One that still took
      // the set for the former Deployment's would make a second one.
      for (const minReadySeconds of [1, 0]) {
        await patch("apps", "ReplicaSet", set.metadata.name, { spec: { minReadySeconds } });
        const { generation } = (await only("apps", "ReplicaSet")).metadata;
        await expect
          .poll(() => statusOf("apps", "ReplicaSet", set.metadata.name))
          .toMatchObject({ observedGeneration: generation });
      }
      const { metadata } = await create(deployment("example.test/app:1", { replicas: 1 }));
      await expect.poll(owners).toMatchObject([{ kind: "Deployment", uid: metadata.uid, controller: true }]);
      await rolledOut("example.test/app:1");
      expect((await only("apps", "ReplicaSet")).metadata.uid).toBe(set.metadata.uid);
      expect((await only("", "Pod")).metadata.uid).toBe(pod.metadata.uid);
    });

    test("release a Pod that the selector no longer matches, and create another", async () => {
      await create(deployment("example.test/app:1", { replicas: 1 }));
      await rolledOut("example.test/app:1");
      const { name } = (await only("", "Pod")).metadata;
      await patch("", "Pod", name, { metadata: { labels: { app: "other" } } });
      await expect.poll(() => list("", "Pod")).toHaveLength(2);
      expect((await named("", "Pod", name))?.metadata.ownerReferences).toBeUndefined();
      await rolledOut("example.test/app:1");
    });

    test("report in conditions and a Warning that a Deployment's Pods are refused, until they are accepted", async () => {
      const { namespace } = space;
      const none = { serviceAccountName: "none" };
      await create(workload("Deployment", { replicas: 1 }, none));
      await expect.poll(() => conditionOf("apps", "Deployment", "app", "ReplicaFailure")).toBeDefined();
      const { name } = (await only("apps", "ReplicaSet")).metadata;
      const message = refusal(`${name}-`, namespace);
      const failure = { status: "True", reason: "FailedCreate", message };
      expect(await conditionOf("apps", "Deployment", "app", "ReplicaFailure")).toMatchObject(failure);
      expect(await conditionOf("apps", "ReplicaSet", name, "ReplicaFailure")).toMatchObject(failure);
      await expect.poll(() => toldOf("ReplicaSet", name)).toEqual([`Warning FailedCreate: Error creating: ${message}`]);
      await create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "none", namespace } });
      await expect.poll(() => conditionOf("apps", "Deployment", "app", "ReplicaFailure")).toBeUndefined();
      expect(await conditionOf("apps", "ReplicaSet", name, "ReplicaFailure")).toBeUndefined();
    });

    test.each(["DaemonSet", "Job"])("report in a Warning that the Pods of a %s are refused", async (kind) => {
      const none = { serviceAccountName: "none", ...(kind === "Job" ? { restartPolicy: "Never" } : {}) };
      await create(workload(kind, {}, none));
      const told = [`Warning FailedCreate: Error creating: ${refusal("app-", space.namespace)}`];
      await expect.poll(() => toldOf(kind, "app")).toEqual(told);
    });

    test("write events about the progress of a Job", async () => {
      await create(workload("Job", {}, { restartPolicy: "Never" }));
      await expect
        .poll(() => toldOf("Job", "app"))
        .toEqual([
          expect.stringMatching(/^Normal SuccessfulCreate: Created pod: app-/),
          "Normal Completed: Job completed",
        ]);
    });

    const claims = [
      {
        metadata: { name: "data", labels: { l: "v" } },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ];
    test("create a claim and the Pod that mounts it for a StatefulSet, and write events", async () => {
      const podSpec = {
        containers: [{ name: "app", image: "x:1", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
        volumes: [
          { name: "other", emptyDir: {} },
          { name: "data", emptyDir: {} },
        ],
      };
      await create(workload("StatefulSet", { serviceName: "s", volumeClaimTemplates: claims }, podSpec));
      await expect.poll(() => named("", "Pod", "app-0")).toBeDefined();
      const spec = (await named("", "Pod", "app-0"))?.["spec"];
      expect(spec).toMatchObject({ hostname: "app-0", subdomain: "s" });
      const volumes = isJsonObject(spec) ? objectsOf(spec, "volumes") : [];
      expect(volumes.filter(({ projected }) => projected === undefined)).toEqual([
        { name: "data", persistentVolumeClaim: { claimName: "data-app-0" } },
        { name: "other", emptyDir: {} },
      ]);
      const claim = await named("", "PersistentVolumeClaim", "data-app-0");
      expect(claim?.metadata.labels).toEqual({ app: "app", l: "v" });
      await expect
        .poll(() => toldOf("StatefulSet", "app"))
        .toEqual([
          "Normal SuccessfulCreate: Create Claim data-app-0 Pod app-0 in StatefulSet app success",
          "Normal SuccessfulCreate: Create Pod app-0 in StatefulSet app successful",
        ]);
    });

    test("report in a Warning that the Pod of a StatefulSet is refused", async () => {
      await create(workload("StatefulSet", { serviceName: "s" }, { serviceAccountName: "none" }));
      const failed = `Create Pod app-0 in StatefulSet app failed error: ${refusal("app-0", space.namespace)}`;
      await expect.poll(() => toldOf("StatefulSet", "app")).toEqual([`Warning FailedCreate: ${failed}`]);
    });

    test("count a repeated event in one object", async () => {
      await create(workload("DaemonSet", {}, { serviceAccountName: "none" }));
      const counts = async () => (await eventsOf()).map((event) => Number(event["count"]));
      await expect.poll(async () => (await counts()).map((count) => count > 2)).toEqual([true]);
    });

    test("report that an autoscaler's target is missing", async () => {
      await create({
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "app", namespace: space.namespace },
        spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "none" } },
      });
      const reason = 'deployments.apps "none" not found';
      await expect.poll(() => toldOf("HorizontalPodAutoscaler", "app")).toEqual([`Warning FailedGetScale: ${reason}`]);
      const message = `the HPA controller was unable to get the target's current scale: ${reason}`;
      expect(await conditionOf("autoscaling", "HorizontalPodAutoscaler", "app", "AbleToScale")).toMatchObject({
        status: "False",
        reason: "FailedGetScale",
        message,
      });
    });
  });
}
