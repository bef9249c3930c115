import { describe, expect, test } from "vitest";
import { sourceGroup } from "../../../lib/api/names.ts";
import { digestOf } from "../../../lib/core/digest.ts";
import { isJsonObject } from "../../../lib/core/json.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { GateClosed } from "../../../lib/core/ports/write-gate.ts";
import { objectCache } from "../../../lib/flows/kustomization/object-cache.ts";
import { historyAgeMs } from "../../../lib/flows/kustomization/status.ts";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { configMap, service } from "./sample-manifests.ts";
import { type World, world } from "./world.ts";

const kustomize = "kustomize.toolkit.fluxcd.io/v1";
const sent: string[] = [];
const embedded = fileCluster({
  observe: ({ verb, dryRun, path }) => void sent.push(`${verb}${dryRun ? " dry run" : ""} ${path}`),
});
let worlds = 0;

/** A Kustomization of two objects of two kinds, applied by a run that was asked for. */
async function applied(spec: Parameters<World["kustomization"]>[1] = {}): Promise<World> {
  const { cluster } = embedded;
  const made = await world(cluster, `unchanged-${worlds++}`, (user) => cluster.as(user));
  await made.publish("v1", [configMap("a"), service(80)]);
  await made.kustomization("app", spec);
  await made.run("app");
  expect(await made.ready("app")).toMatch(/^True/);
  return made;
}

/** The requests of this work, sorted. */
async function requestsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  sent.length = 0;
  await work();
  return sent.map((line) => line.replace(/unchanged-\d+/g, "NS")).toSorted();
}

const finishedEvent = "create /api/v1/namespaces/NS/events";
const lists = ["list /api/v1/namespaces/NS/configmaps", "list /api/v1/namespaces/NS/services"];
const ownRead = "get /apis/kustomize.toolkit.fluxcd.io/v1/namespaces/NS/kustomizations/app";
const sourceRead = "get /apis/source.toolkit.fluxcd.io/v1/namespaces/NS/ocirepositories/repo";
const statusWrite = "patch /apis/kustomize.toolkit.fluxcd.io/v1/namespaces/NS/kustomizations/app/status";

const keyOf = ({ namespace }: World) => ({
  cluster: "test",
  group: "kustomize.toolkit.fluxcd.io",
  kind: "Kustomization",
  namespace,
  name: "app",
});

async function countedRuns(world: World): Promise<unknown> {
  const { history } = await world.status("app");
  const [latest] = Array.isArray(history) ? history : [];
  return isJsonObject(latest) ? latest["totalReconciliations"] : undefined;
}

describe("an unchanged run that was not requested", () => {
  test("lists the metadata of each kind once and writes the event of its end, and nothing else", async () => {
    const world = await applied();
    expect(await requestsOf(() => world.runDue("app"))).toEqual([finishedEvent, ...lists]);
    expect(await requestsOf(() => world.runDue("app"))).toEqual([finishedEvent, ...lists]);
    expect(await world.ready("app")).toMatch(/^True/);
    expect((await world.events("app")).filter((event) => event.includes("Reconciliation finished"))).toHaveLength(3);
    expect(world.remembered).toHaveLength(1);
  });

  test("sends Alerts the event of its end once, and after a change only the events of the change", async () => {
    const world = await applied();
    world.told.length = 0;
    await world.runDue("app");
    expect(world.told).toEqual(["ReconciliationSucceeded"]);
    world.told.length = 0;
    const gone = { group: "", version: "v1", kind: "ConfigMap", namespace: world.namespace, name: "a" };
    await world.cluster.delete(gone, { propagation: "Background" }, world.signal);
    await world.runDue("app");
    expect(world.told).toEqual(["Progressing", "ReconciliationSucceeded"]);
  });

  test("reads its object and its source and writes its status if it was requested", async () => {
    const world = await applied();
    expect(await requestsOf(() => world.run("app"))).toEqual(
      [ownRead, sourceRead, statusWrite, finishedEvent, ...lists].toSorted(),
    );
  });

  test("in a process that has not read them it reads its object and its source, and writes no status", async () => {
    const world = await applied();
    world.objects = objectCache();
    expect(await requestsOf(() => world.runDue("app"))).toEqual(
      [ownRead, sourceRead, finishedEvent, ...lists].toSorted(),
    );
    expect(await requestsOf(() => world.runDue("app"))).toEqual([finishedEvent, ...lists]);
  });

  test("once an hour reads everything and writes the status, whose history counts every run", async () => {
    const world = await applied();
    await world.runDue("app");
    await world.runDue("app");
    expect(await countedRuns(world)).toBe(1);
    world.clock.advance(historyAgeMs);
    expect(await requestsOf(() => world.runDue("app"))).toEqual(
      [ownRead, sourceRead, statusWrite, finishedEvent, ...lists].toSorted(),
    );
    expect(await countedRuns(world)).toBe(4);
    expect(await requestsOf(() => world.runDue("app"))).toEqual([finishedEvent, ...lists]);
  });

  test("reads its dependencies other than the source in each run", async () => {
    const world = await applied();
    await world.kustomization("late", { dependsOn: [{ name: "app" }] });
    await world.run("late");
    const requests = await requestsOf(() => world.runDue("late"));
    expect(requests).toContain(ownRead);
    expect(requests).not.toContain(sourceRead);
  });

  test("reads an ExternalArtifact in each run, because another program writes it", async () => {
    const world = await applied();
    world.gates = { ...world.gates, ExternalArtifact: true };
    const bytes = Buffer.from("an artifact");
    const digest = digestOf(bytes);
    world.stored.set(digest, [configMap("a")]);
    world.served.set("http://artifacts.test/app.tar.gz", bytes);
    const ref = {
      group: sourceGroup,
      version: "v1",
      kind: "ExternalArtifact",
      namespace: world.namespace,
      name: "app",
    };
    const metadata = { name: "app", namespace: world.namespace };
    await world.cluster.apply(
      { apiVersion: `${sourceGroup}/v1`, kind: "ExternalArtifact", metadata, spec: {} },
      { manager: "producer", force: true },
      world.signal,
    );
    const lastUpdateTime = "2026-01-01T00:00:00Z";
    const artifact = {
      ...{ url: "http://artifacts.test/app.tar.gz", path: "app.tar.gz", revision: "v1" },
      ...{ digest, lastUpdateTime },
    };
    const how = { manager: "producer", subresource: "status" } as const;
    await world.cluster.patch(ref, { type: "merge", body: { status: { artifact } } }, how, world.signal);
    await world.kustomization("external", { sourceRef: { kind: "ExternalArtifact", name: "app" } });
    await world.run("external");
    expect(await world.ready("external")).toMatch(/^True/);
    const requests = await requestsOf(() => world.runDue("external"));
    expect(requests.filter((line) => line.startsWith("get "))).toEqual([
      "get /apis/source.toolkit.fluxcd.io/v1/namespaces/NS/externalartifacts/app",
    ]);
  });
});

describe("a run that was not requested", () => {
  test("and waits for health reads its objects too, however long that takes, and writes no status", async () => {
    const world = await applied({ wait: true });
    world.clock.advance(600_000);
    // Not the same duration twice.
    world.fault = () => world.clock.advance(7);
    const looks = ["get /api/v1/namespaces/NS/configmaps/a", "get /api/v1/namespaces/NS/services/s"];
    const requests = await requestsOf(() => world.runDue("app"));
    expect(requests.filter((line) => !looks.includes(line))).toEqual([finishedEvent, ...lists]);
    expect(await world.ready("app")).toMatch(/^True/);
  });

  test("reads the ConfigMaps of its substitutions in each run", async () => {
    const world = await applied();
    const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: world.namespace, name: "vars" };
    const put = (value: string) =>
      world.cluster.apply(
        configMap("vars", { value }, { namespace: world.namespace }),
        { manager: "test", force: true },
        world.signal,
      );
    await put("one");
    await world.publish("v2", [configMap("a", { k: "${value}" })]);
    await world.kustomization("app", { postBuild: { substituteFrom: [{ kind: ref.kind, name: ref.name }] } });
    await world.run("app");
    expect(await requestsOf(() => world.runDue("app"))).toEqual([
      finishedEvent,
      "get /api/v1/namespaces/NS/configmaps/vars",
      "list /api/v1/namespaces/NS/configmaps",
    ]);
    await put("two");
    await world.runDue("app");
    expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "two" });
  });

  test("as a service account lists as that account, also with cached objects", async () => {
    const { cluster } = embedded;
    const users: string[] = [];
    const as = (user: string): Cluster => {
      users.push(user);
      return cluster;
    };
    const made = await world(cluster, `unchanged-${worlds++}`, as);
    await made.publish("v1", [configMap("a"), service(80)]);
    await made.kustomization("app", { serviceAccountName: "deployer" });
    await made.run("app");
    users.length = 0;
    expect(await requestsOf(() => made.runDue("app"))).toEqual([finishedEvent, ...lists]);
    expect(users).toEqual([`system:serviceaccount:${made.namespace}:deployer`]);
    await made.kustomization("app", { serviceAccountName: "other" });
    await made.run("app");
    users.length = 0;
    await made.runDue("app");
    expect(users).toEqual([`system:serviceaccount:${made.namespace}:other`]);
  });

  test("writes a status that another client has changed, whatever the age of its history", async () => {
    const world = await applied();
    await world.patch("app", { status: { lastAttemptedRevision: "none" } }, { manager: "test", subresource: "status" });
    world.objects = objectCache();
    expect(await requestsOf(() => world.runDue("app"))).toContain(statusWrite);
    expect((await world.status("app"))["lastAttemptedRevision"]).not.toBe("none");
  });

  test("stops if the cluster is paused meanwhile, and writes no event", async () => {
    const world = await applied();
    const told = await world.events("app");
    world.fault = (call) => {
      if (call === "cluster.create") throw new GateClosed("this cluster is paused", "paused");
    };
    await expect(world.runDue("app")).rejects.toThrow(GateClosed);
    expect(await world.events("app")).toEqual(told);
  });
});

describe("a run with cached objects changes nothing before it has read them again", () => {
  test("reverts drift, with the current object and source", async () => {
    const world = await applied();
    await world.cluster.patch(
      { group: "", version: "v1", kind: "ConfigMap", namespace: world.namespace, name: "a" },
      { type: "merge", body: { data: { k: "drift" } } },
      { manager: "kubectl-edit" },
      world.signal,
    );
    const requests = await requestsOf(() => world.runDue("app"));
    expect(requests).toContain(ownRead);
    expect(requests).toContain(sourceRead);
    expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v" });
    expect(await world.ready("app")).toMatch(/^True/);
    const told = (await world.events("app")).filter((event) => event.includes("configured"));
    expect(told).toHaveLength(1);
  });

  test("reverts no drift of an object that was suspended meanwhile", async () => {
    const world = await applied();
    await world.kustomization("app", { suspend: true });
    await world.cluster.patch(
      { group: "", version: "v1", kind: "ConfigMap", namespace: world.namespace, name: "a" },
      { type: "merge", body: { data: { k: "drift" } } },
      { manager: "kubectl-edit" },
      world.signal,
    );
    expect(await world.runDue("app")).toMatchObject({ outcome: "suspended" });
    expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "drift" });
  });

  test("creates nothing from an artifact that the source no longer has", async () => {
    const world = await applied();
    await world.cluster.delete(
      { group: "", version: "v1", kind: "ConfigMap", namespace: world.namespace, name: "a" },
      { propagation: "Background" },
      world.signal,
    );
    await world.publish("v2", [service(80), configMap("b")]);
    await world.runDue("app");
    expect(await world.get("ConfigMap", "a")).toBeUndefined();
    expect(await world.get("ConfigMap", "b")).toBeDefined();
  });

  test("does not write the status from an outdated cached one", async () => {
    const world = await applied();
    const live = await world.get("Kustomization", "app", kustomize);
    if (live === undefined) throw new Error("the Kustomization is gone");
    const status = { ...(await world.status("app")), lastAttemptedRevision: "none" };
    world.objects.put(keyOf(world), { ...live, status });
    const requests = await requestsOf(() => world.runDue("app"));
    expect(requests).toContain(ownRead);
    expect(requests).not.toContain(statusWrite);
  });

  test("applies a change in the run that the change requests", async () => {
    const world = await applied();
    const second = await world.publish("v2", [configMap("a", { k: "2" }), service(80)]);
    await world.run("app");
    expect(await world.ready("app")).toContain(second);
    expect(await requestsOf(() => world.runDue("app"))).toEqual([finishedEvent, ...lists]);
  });
});

describe("a run reads its object again unless the run before it succeeded", () => {
  test("after a run that was killed, whatever that has written", async () => {
    const world = await applied();
    world.fault = (call) => {
      if (call === "cluster.listMetadata") throw new Error("killed");
    };
    await expect(world.runDue("app")).rejects.toThrow("killed");
    world.fault = () => {};
    const requests = await requestsOf(() => world.runDue("app"));
    expect(requests).toContain(ownRead);
    expect(requests).toContain(sourceRead);
  });

  test("after a run that failed, whose Ready=False a later one ends", async () => {
    const world = await applied();
    const [digest = ""] = world.stored.keys();
    const manifests = world.stored.get(digest) ?? [];
    await world.publish("v2", [{ ...configMap("a"), kind: "Unknown" }]);
    expect(await world.run("app")).toMatchObject({ outcome: "failed" });
    expect(await world.ready("app")).toMatch(/^False/);
    await world.publish("v3", manifests);
    await world.runDue("app");
    expect(await world.ready("app")).toMatch(/^True/);
  });

  test("after a report of an outage, which it ends", async () => {
    const world = await applied();
    world.fault = (call) => {
      if (call === "cluster.listMetadata") throw new TypeError("away");
    };
    await world.runDue("app").catch(() => undefined);
    world.fault = () => {};
    const away = { type: "Ready", status: "False", reason: "ReconciliationFailed", message: "away" };
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const body = { status: { conditions: [{ ...away, lastTransitionTime, observedGeneration: 1 }] } };
    await world.patch("app", body, { manager: "test", subresource: "status" });
    await world.runDue("app");
    expect(await world.ready("app")).toMatch(/^True/);
  });

  test("after an object of the same name was recreated", async () => {
    const world = await applied();
    await world.runDue("app");
    world.objects.put(keyOf(world), {
      apiVersion: kustomize,
      kind: "Kustomization",
      metadata: { name: "app", uid: "another", resourceVersion: "1" },
    });
    expect(await requestsOf(() => world.runDue("app"))).toContain(ownRead);
  });
});
