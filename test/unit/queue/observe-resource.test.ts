import { describe, expect, test } from "vitest";
import { declaredArtifactGenerator } from "../../../lib/api/kinds/artifact-generator.ts";
import { declaredImagePolicy } from "../../../lib/api/kinds/image-policy.ts";
import { declaredNotificationProvider } from "../../../lib/api/kinds/notification-provider.ts";
import { barredAnnotation, finalizer, requestedAtAnnotation } from "../../../lib/api/names.ts";
import type { Metadata } from "../../../lib/core/manifest.ts";
import { selectionTopic, specTopic } from "../../../lib/core/topics.ts";
import { formatWorkKey, type WorkKey } from "../../../lib/core/work-key.ts";
import { observeAll, observeGone, observeResource } from "../../../lib/queue/observe-resource.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";

const key = keyOf("web");
const metadata: Metadata = { name: "web", namespace: "apps", uid: "u", generation: 1 };

/** Observed resources in a map, and a log of what was asked for and remembered, in its order. */
function observeWorld() {
  const observed = new Map<string, string>();
  const log: string[] = [];
  const listeners: WorkKey[] = [];
  const deps = {
    observed: {
      get: async (of: typeof key) => observed.get(formatWorkKey(of)),
      put: async (of: typeof key, summary: string) => {
        log.push(`remembers ${of.name}`);
        observed.set(formatWorkKey(of), summary);
      },
      remove: async (of: typeof key) => {
        log.push(`forgets ${of.name}`);
        observed.delete(formatWorkKey(of));
      },
      list: async () => [...observed].map(([text, summary]) => ({ key: keyOf(text.split("/").at(-1) ?? ""), summary })),
    },
    subscriptions: {
      subscribers: async (topic: string) => (topic === selectionTopic(key) ? listeners : []),
    },
    requests: { request: async (of: typeof key, reason: string) => void log.push(`asks for ${of.name}: ${reason}`) },
  };
  return {
    log,
    deps,
    listeners,
    observe: (change: Partial<Metadata> = {}) =>
      observeResource({ key, metadata: { ...metadata, ...change } }, deps, never),
  };
}

describe("a custom resource that is observed", () => {
  test("requests a run if it is new, and is stored last, so that a crash in between loses no run", async () => {
    const { observe, log } = observeWorld();
    expect(await observe()).toBe(true);
    expect(log).toEqual(["asks for web: resource changed", "remembers web"]);
    expect(await observe()).toBe(false);
    expect(log).toHaveLength(2);
  });

  test.each<{ name: string; change: Partial<Metadata>; asks: boolean }>([
    { name: "another spec", change: { generation: 2 }, asks: true },
    { name: "another object of its name", change: { uid: "v" }, asks: true },
    { name: "a requested time", change: { annotations: { [requestedAtAnnotation]: "now" } }, asks: true },
    { name: "its deletion", change: { deletionTimestamp: "2026-01-01T00:00:00Z" }, asks: true },
    { name: "another annotation", change: { annotations: { note: "now" } }, asks: false },
    { name: "a label", change: { labels: { a: "b" } }, asks: false },
    { name: "a written status", change: { resourceVersion: "9" }, asks: false },
  ])("with $name requests a run: $asks", async ({ change, asks }) => {
    const { observe } = observeWorld();
    await observe();
    expect(await observe(change)).toBe(asks);
  });

  test("requests no run if its requestedAt is removed, and one if it is set again, as in Flux", async () => {
    const { observe } = observeWorld();
    const asked = { annotations: { [requestedAtAnnotation]: "now" } };
    await observe(asked);
    expect(await observe({})).toBe(false);
    expect(await observe(asked)).toBe(true);
    expect(await observe({ generation: 2 })).toBe(true);
  });

  test("requests a run if its followed annotation changes, whatever its length", async () => {
    const { deps } = observeWorld();
    const { group, kind } = declaredImagePolicy;
    const asks: boolean[] = [];
    for (const barred of [undefined, "1.3.0", "1.3.0", "1.3.0 slow".repeat(100), undefined]) {
      const annotations = barred === undefined ? {} : { [barredAnnotation]: barred };
      const of = { key: { ...key, group, kind }, metadata: { ...metadata, annotations } };
      asks.push(await observeResource(of, deps, never));
    }
    expect(asks).toEqual([true, true, false, true, true]);
  });

  test("requests a run when an annotation pauses or resumes it, which no other field shows", async () => {
    const { deps } = observeWorld();
    const { pausedBy } = declaredArtifactGenerator;
    const generator = { ...key, group: declaredArtifactGenerator.group, kind: declaredArtifactGenerator.kind };
    const observe = (annotations: Readonly<Record<string, string>>) =>
      observeResource({ key: generator, metadata: { ...metadata, annotations } }, deps, never);
    const asked = { [requestedAtAnnotation]: "now" };
    const paused = { [pausedBy.annotation]: "Disabled" };
    await deps.observed.put(generator, JSON.stringify(["u", 1, null, false]));
    const steps = [{}, paused, { ...paused, ...asked }, paused, { [pausedBy.annotation]: "enabled" }, {}];
    const runs: boolean[] = [];
    for (const annotations of steps) runs.push(await observe(annotations));
    expect(runs).toEqual([false, true, true, false, true, false]);
  });

  test("requests a run when it gets or loses our finalizer, if its kind follows that", async () => {
    const { deps } = observeWorld();
    const steps: readonly (readonly string[])[] = [[], [finalizer], [finalizer, "theirs"], ["theirs"]];
    const runsOf = async (kind: string): Promise<readonly boolean[]> => {
      const of = { ...key, group: declaredNotificationProvider.group, kind };
      const runs: boolean[] = [];
      for (const finalizers of steps) {
        runs.push(
          await observeResource({ key: of, metadata: { ...metadata, finalizers: [...finalizers] } }, deps, never),
        );
      }
      return runs;
    };
    expect(await runsOf("Provider")).toEqual([true, true, false, true]);
    expect(await runsOf("Receiver")).toEqual([true, false, false, false]);
  });

  test("requests a last run when it is deleted, and its summary is removed after that", async () => {
    const { deps, observe, log } = observeWorld();
    await observe();
    await observeGone(key, deps, never);
    expect(log.slice(2)).toEqual(["asks for web: resource gone", "forgets web"]);
    expect(await observe()).toBe(true);
  });
});

describe("a Receiver that may select an observed object", () => {
  const hook = { ...key, group: "notification.toolkit.fluxcd.io", kind: "Receiver", name: "hook" };

  test.each<{ name: string; change: Partial<Metadata>; wakes: boolean }>([
    { name: "other labels", change: { labels: { team: "x" } }, wakes: true },
    { name: "other annotations", change: { annotations: { note: "now" } }, wakes: true },
    { name: "another spec", change: { generation: 2 }, wakes: false },
    { name: "a requested time", change: { annotations: { [requestedAtAnnotation]: "now" } }, wakes: false },
    { name: "a written status", change: { resourceVersion: "9" }, wakes: false },
  ])("is woken by $name of the object: $wakes", async ({ change, wakes }) => {
    const { listeners, log, observe } = observeWorld();
    await observe();
    listeners.push(hook);
    log.length = 0;
    await observe(change);
    expect(log.includes("asks for hook: what it selects changed")).toBe(wakes);
  });

  test("is woken by a new object and by a deleted one, each time before that is stored", async () => {
    const { deps, listeners, log, observe } = observeWorld();
    listeners.push(hook);
    await observe();
    await observeGone(key, deps, never);
    expect(log.filter((line) => !line.startsWith("asks for web"))).toEqual([
      "asks for hook: what it selects changed",
      "remembers web",
      "asks for hook: what it selects changed",
      "forgets web",
    ]);
  });

  test("is woken once more if an older release has stored the object", async () => {
    const { deps, listeners, log, observe } = observeWorld();
    await deps.observed.put(key, JSON.stringify(["u", 1, null, false]));
    listeners.push(hook);
    log.length = 0;
    expect(await observe()).toBe(false);
    expect(log).toEqual(["asks for hook: what it selects changed", "remembers web"]);
    await observe();
    expect(log).toHaveLength(2);
  });
});

test("a whole list requests runs for new, changed and missing resources, and counts them", async () => {
  const { deps, log } = observeWorld();
  const seen = (name: string, generation = 1) => ({ key: keyOf(name), metadata: { name, uid: name, generation } });
  expect(await observeAll(key, [seen("a"), seen("b"), seen("c")], deps, never)).toEqual({ asked: 3, notReady: [] });
  log.length = 0;
  expect(await observeAll(key, [seen("a"), seen("b", 2), seen("d")], deps, never)).toEqual({
    asked: 3,
    notReady: [],
  });
  expect(log).toEqual([
    "asks for b: resource changed",
    "remembers b",
    "asks for d: resource changed",
    "remembers d",
    "asks for c: resource gone",
    "forgets c",
  ]);
});

describe("a GitRepository that is observed", () => {
  const repository: WorkKey = { ...key, group: "source.toolkit.fluxcd.io", kind: "GitRepository", name: "app" };
  const automation: WorkKey = { ...key, group: "image.toolkit.fluxcd.io", kind: "ImageUpdateAutomation", name: "auto" };

  async function world() {
    const { deps, log } = observeWorld();
    const subscriptions = {
      subscribers: async (topic: string) => (topic === specTopic(repository) ? [automation] : []),
    };
    const observe = async (change: Partial<Metadata> = {}) => {
      log.length = 0;
      await observeResource(
        { key: repository, metadata: { ...metadata, ...change } },
        { ...deps, subscriptions },
        never,
      );
      return log.filter((line) => line.includes("auto"));
    };
    const gone = async () => {
      await observeGone(repository, { ...deps, subscriptions }, never);
      return log.filter((line) => line.includes("auto"));
    };
    return { gone, observe };
  }
  const asked = ["asks for auto: spec of GitRepository/apps/app changed"];

  test("wakes the users of its spec when it is new and when its spec changes, before that is stored", async () => {
    const { observe } = await world();
    expect(await observe()).toEqual(asked);
    expect(await observe({ generation: 2 })).toEqual(asked);
    expect(await observe({ uid: "v", generation: 2 })).toEqual(asked);
  });

  test("wakes the users of its spec when it is deleted", async () => {
    const { gone } = await world();
    expect(await gone()).toEqual(asked);
  });

  test.each<{ name: string; change: Partial<Metadata> }>([
    { name: "a request", change: { annotations: { [requestedAtAnnotation]: "now" } } },
    { name: "a label", change: { labels: { a: "b" } } },
    { name: "a new artifact", change: { resourceVersion: "9" } },
    { name: "its deletion", change: { deletionTimestamp: "2026-01-01T00:00:00Z" } },
  ])("does not wake them for $name", async ({ change }) => {
    const { observe } = await world();
    await observe();
    expect(await observe(change)).toEqual([]);
  });
});
