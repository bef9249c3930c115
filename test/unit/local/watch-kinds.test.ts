import { expect, test } from "vitest";
import type { WatchEvent, WatchQuery } from "../../../lib/core/ports/cluster.ts";
import type { WorkKey } from "../../../lib/core/work-key.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { targetKinds } from "../../../lib/queue/observed-kinds.ts";
import { sqliteObservedResources } from "../../../local/state/observed-resources.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { watchKinds } from "../../../local/watch-kinds.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const canary = { group: "flagger.app", version: "v1beta1", kind: "Canary" };
const listed: WatchEvent = { type: "BOOKMARK", resourceVersion: "1", initialEventsEnd: true };

function event(type: "ADDED" | "MODIFIED" | "DELETED", kind: string, namespace: string, generation = 1): WatchEvent {
  const metadata = { name: "web", namespace, uid: `${kind}-${namespace}`, generation };
  return { type, object: { apiVersion: "v1", kind, metadata } };
}

/** Watches that a test feeds, by kind; each is first given the end of an empty list. */
function fedCluster() {
  const open = new Map<string, ReadableStreamDefaultController<WatchEvent>>();
  const begun: string[] = [];
  return {
    begun,
    isOpen: (kind: string) => open.has(kind),
    send: (kind: string, ...events: readonly WatchEvent[]) => {
      for (const one of events) open.get(kind)?.enqueue(one);
    },
    async *watch({ kind }: WatchQuery, signal: AbortSignal): AsyncGenerator<WatchEvent> {
      begun.push(kind);
      const stream = new ReadableStream<WatchEvent>({ start: (controller) => void open.set(kind, controller) });
      signal.addEventListener("abort", () => open.get(kind)?.error(signal.reason), { once: true });
      try {
        yield* stream;
      } finally {
        open.delete(kind);
      }
    },
  };
}

test("canary/18: targets are watched only while there are Canaries, and only in their namespaces", async () => {
  const cluster = fedCluster();
  const database = openStateDatabase(":memory:");
  const stop = new AbortController();
  const asked: string[] = [];
  const requests = { request: async ({ namespace, kind }: WorkKey) => void asked.push(`${kind}/${namespace}`) };
  const subscribers = async (topic: string): Promise<WorkKey[]> => {
    const namespace = /^obj#home\/apps\/Deployment\/(.+)\/web$/.exec(topic)?.[1];
    return namespace === undefined ? [] : [{ cluster: "home", ...canary, namespace, name: "web" }];
  };
  const subscriptions = { subscribers };
  const [deployments] = targetKinds([canary], { subscriptions, requests });
  if (deployments === undefined) throw new Error("no targets");
  const observed = sqliteObservedResources(database);
  const deps = { clusterId: "home", clock: systemClock, log: silentLog, observed, requests, subscriptions, cluster };
  const watches = watchKinds([canary, deployments], deps, stop.signal);
  try {
    await expect.poll(() => cluster.begun).toEqual(["Canary"]);
    cluster.send("Canary", listed, event("ADDED", "Canary", "apps"));
    await expect.poll(() => cluster.begun).toEqual(["Canary", "Deployment"]);
    await expect.poll(() => asked).toEqual(["Canary/apps"]);

    cluster.send("Deployment", event("ADDED", "Deployment", "apps"), event("ADDED", "Deployment", "other"), listed);
    await expect.poll(() => asked).toEqual(["Canary/apps", "Canary/apps"]);
    asked.length = 0;
    cluster.send("Deployment", event("MODIFIED", "Deployment", "other", 2), event("MODIFIED", "Deployment", "apps", 2));
    await expect.poll(() => asked).toEqual(["Canary/apps"]);

    cluster.send("Canary", event("DELETED", "Canary", "apps"));
    await expect.poll(() => cluster.isOpen("Deployment")).toBe(false);
    cluster.send("Canary", event("ADDED", "Canary", "apps"));
    await expect.poll(() => cluster.begun).toEqual(["Canary", "Deployment", "Deployment"]);
  } finally {
    stop.abort();
    await Promise.all(watches);
    database.close();
  }
});
