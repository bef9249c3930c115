import { describe, expect, test } from "vitest";
import { declaredCanary } from "../../../lib/api/kinds/canary.ts";
import { servedKind } from "../../../lib/api/kinds/declaration.ts";
import { kustomizeGroup, requestedAtAnnotation } from "../../../lib/api/names.ts";
import { type JsonObject, toJsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster, WriteOptions } from "../../../lib/core/ports/cluster.ts";
import type { ReconcileRequests } from "../../../lib/core/ports/reconcile-requests.ts";
import { objectTopic } from "../../../lib/core/topics.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { configKinds, type ObservedKind, targetKinds } from "../../../lib/queue/observed-kinds.ts";
import { sqliteObservedResources } from "../../../local/state/observed-resources.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { watchKinds } from "../../../local/watch-kinds.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

type Announced = Parameters<typeof targetKinds>[1];

/** The Kustomizations of a world, and the labelled ConfigMaps and Secrets. */
function usualKinds(announced: Announced): readonly ObservedKind[] {
  return [
    { group: kustomizeGroup, version: "v1", kind: "Kustomization" },
    ...configKinds("reconcile.fluxcd.io/watch=Enabled", announced),
  ];
}

/** Watches the namespace of a world as `sluice local` watches a cluster. `requested` has the objects that are to run, in order. */
function watching(
  { cluster, namespace, subscriptions }: Pick<World, "cluster" | "namespace" | "subscriptions">,
  kindsOf = usualKinds,
): AsyncDisposable & { readonly requested: string[] } {
  const stop = new AbortController();
  const database = openStateDatabase(":memory:");
  const requested: string[] = [];
  const requests: ReconcileRequests = { request: async ({ name }) => void requested.push(name) };
  const ofNamespace: Pick<Cluster, "watch"> = {
    watch: (query, signal) => cluster.watch({ ...query, namespace }, signal),
  };
  const observed = sqliteObservedResources(database);
  const deps = { cluster: ofNamespace, clusterId: "test", clock: systemClock, log: silentLog, observed, subscriptions };
  const watches = watchKinds(kindsOf({ subscriptions, requests }), { ...deps, requests }, stop.signal);
  return {
    requested,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(watches);
      database.close();
    },
  };
}

/** A pod template, and how many pods are made of it. */
function deployment(namespace: string, tag: string, replicas = 0): Manifest {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: `web:${tag}` }] } };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace } },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

function canary(namespace: string): Manifest {
  return {
    apiVersion: "flagger.app/v1beta1",
    kind: "Canary",
    metadata: { name: "web-canary", namespace },
    spec: {
      targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      service: { port: 80 },
      analysis: { interval: "10s", threshold: 5, iterations: 2 },
    },
  };
}

/** What starts a run of a Kustomization. */
export function watchStories(name: string, newWorld: () => Promise<World>): void {
  describe(`a run starts on ${name}`, () => {
    test("after a new spec or a new requested time, and after no other label, annotation or status (12)", async () => {
      const world = await newWorld();
      const metadata = (body: JsonObject) => world.patch("app", { metadata: body }, { manager: "test" });
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await using watch = watching(world);
      await expect.poll(() => watch.requested).toEqual(["app"]);

      await metadata({ labels: { team: "a" }, annotations: { team: "a" } });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True /);
      // The events of a kind come in their order: once this one is here, those before it have been seen.
      await world.kustomization("next");
      await expect.poll(() => watch.requested).toContain("next");
      expect(watch.requested).toEqual(["app", "next"]);

      await metadata({ annotations: { [requestedAtAnnotation]: "now" } });
      await expect.poll(() => watch.requested).toEqual(["app", "next", "app"]);
      await world.patch("app", { spec: { interval: "20m" } }, { manager: "test" });
      await expect.poll(() => watch.requested).toEqual(["app", "next", "app", "app"]);
    });

    test("after a change or the deletion of a Secret with its variables, if the Secret has the watch label (124)", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      const put = (object: string, color: string, labels: Readonly<Record<string, string>>) =>
        cluster.apply(
          { apiVersion: "v1", kind: "Secret", metadata: { name: object, namespace, labels }, stringData: { color } },
          { manager: "test", force: true },
          signal,
        );
      const deleteSecret = (object: string) =>
        cluster.delete(
          { group: "", version: "v1", kind: "Secret", namespace, name: object },
          { propagation: "Background" },
          signal,
        );
      const watched = { "reconcile.fluxcd.io/watch": "Enabled" };
      const labels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
        labelled: watched,
        unlabelled: {},
        next: watched,
      };
      await world.publish("v1", [], {
        folders: Object.fromEntries(Object.keys(labels).map((one) => [one, [configMap(one, { k: "${color}" })]])),
      });
      for (const [one, its] of Object.entries(labels)) {
        await put(one, "blue", its);
        const postBuild = { substituteFrom: [{ kind: "Secret", name: one }] };
        await world.kustomization(one, { path: one, postBuild });
        await world.run(one);
      }
      await using watch = watching(world);
      let changes = 0;
      /** The runs that are requested by `change` and, for certain after it, by a change of the Secret `next`. */
      const requestedBy = async (change: () => Promise<unknown>): Promise<readonly string[]> => {
        watch.requested.length = 0;
        await change();
        await put("next", `color-${changes++}`, watched);
        await expect.poll(() => watch.requested).toContain("next");
        return watch.requested;
      };
      // Of each Kustomization, and of each labelled Secret.
      await expect
        .poll(() => watch.requested.toSorted())
        .toEqual(["labelled", "labelled", "next", "next", "unlabelled"]);

      expect(await requestedBy(() => put("labelled", "green", watched))).toEqual(["labelled", "next"]);
      await world.run("labelled");
      expect((await world.get("ConfigMap", "labelled"))?.["data"]).toEqual({ k: "green" });
      expect(await requestedBy(() => deleteSecret("labelled"))).toEqual(["labelled", "next"]);
      await world.run("labelled");
      expect(await world.ready("labelled")).toContain("substitute from 'Secret/labelled' error");

      expect(await requestedBy(() => put("unlabelled", "green", {}))).toEqual(["next"]);
      expect(await requestedBy(() => deleteSecret("unlabelled"))).toEqual(["next"]);
    });

    test("canary/18: after a new pod template of a Canary's target, by any writer, and after no label or status of the target", async () => {
      const { cluster, namespace, signal } = await newWorld();
      const user = { manager: "kubectl", force: true };
      const ref = { group: "apps", kind: "Deployment", namespace, name: "web" };
      const followed = objectTopic({ ...ref, cluster: "test" });
      const key = { cluster: "test", group: "flagger.app", kind: "Canary", namespace, name: "web-canary" };
      const subscribers = async (topic: string) => (topic === followed ? [key] : []);
      const subscriptions = { subscribers, followers: async () => [], subscribe: async () => {} };
      await cluster.apply(deployment(namespace, "1"), user, signal);
      await using watch = watching({ cluster, namespace, subscriptions }, (announced) => [
        servedKind(declaredCanary),
        ...targetKinds([declaredCanary], announced),
      ]);
      await cluster.apply(canary(namespace), user, signal);
      // Of the Canary, and of the first look at its target.
      await expect.poll(() => watch.requested).toEqual(["web-canary", "web-canary"]);

      const write = { manager: "kubectl", subresource: "status" };
      const patch = (metadata: object, how: WriteOptions) =>
        cluster.patch({ ...ref, version: "v1" }, { type: "merge", body: toJsonObject(metadata) }, how, signal);
      watch.requested.length = 0;
      await patch({ metadata: { labels: { team: "a" } } }, { manager: "kubectl" });
      await patch({ status: { observedGeneration: 1 } }, write);
      await cluster.apply(deployment(namespace, "2"), user, signal);
      await expect.poll(() => watch.requested).toEqual(["web-canary"]);
      await cluster.delete({ ...ref, version: "v1" }, { propagation: "Background" }, signal);
      await expect.poll(() => watch.requested).toEqual(["web-canary", "web-canary"]);
    });

    /** A Canary follows the Deployment `web`, and a Kustomization has it. `requestedBy`: which Canaries an act and the run after it request. */
    async function followedDeployment() {
      const world = await newWorld();
      const { namespace } = world;
      const key = { cluster: "test", group: "flagger.app", kind: "Canary", namespace, name: "web-canary" };
      const followed = { cluster: "test", group: "apps", kind: "Deployment", namespace, name: "web" };
      await world.subscribe(key, objectTopic(followed));
      await world.kustomization("app");
      const requestedBy = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
        const before = world.requested.length;
        await act();
        await world.run("app");
        return world.requested.slice(before).filter((one) => one.startsWith("Canary/"));
      };
      return { requestedBy, world };
    }

    test("canary/18: after an apply that has changed a Canary's target, and after no repeated apply", async () => {
      const { requestedBy, world } = await followedDeployment();
      const publish = (tag: string) => requestedBy(() => world.publish(tag, [deployment(world.namespace, tag)]));
      expect(await publish("1")).toEqual(["Canary/web-canary"]);
      expect(await publish("1")).toEqual([]);
      expect(await publish("2")).toEqual(["Canary/web-canary"]);
    });

    test("canary/18: after a prune of a Canary's target, and after the deletion of the Kustomization that has it", async () => {
      const { requestedBy, world } = await followedDeployment();
      const { namespace } = world;
      const publish = (tag: string, ...manifests: readonly Manifest[]) =>
        requestedBy(() => world.publish(tag, [configMap("other", {}), ...manifests]));
      await publish("1", deployment(namespace, "1"));
      expect(await publish("2")).toEqual(["Canary/web-canary"]);
      expect(await publish("2")).toEqual([]);
      await publish("3", deployment(namespace, "1"));
      expect(await requestedBy(() => world.remove("app"))).toEqual(["Canary/web-canary"]);
    });
  });
}
