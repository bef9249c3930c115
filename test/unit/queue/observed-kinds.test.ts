import { describe, expect, test } from "vitest";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import type { Metadata } from "../../../lib/core/manifest.ts";
import { configTopic, objectTopic, sourceTopic } from "../../../lib/core/topics.ts";
import { formatWorkKey, type WorkKey } from "../../../lib/core/work-key.ts";
import { observeAll, observeGone, observeResource } from "../../../lib/queue/observe-resource.ts";
import { configKinds, externalArtifactKinds, observedKey, targetKinds } from "../../../lib/queue/observed-kinds.ts";
import { sqliteObservedResources } from "../../../local/state/observed-resources.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";

/** A Secret that the Kustomization `web` subscribes to; what `observe` answers is who was asked to run, and why. */
function configWorld() {
  const database = openStateDatabase(":memory:");
  const asked: string[] = [];
  const subscriptions = {
    subscribers: async (topic: string) =>
      topic === configTopic({ cluster: "home", kind: "Secret", namespace: "apps", name: "vars" })
        ? [keyOf("web"), keyOf("db")]
        : [],
  };
  const [, secrets] = configKinds("watched=Enabled", {
    subscriptions,
    requests: { request: async (key, reason) => void asked.push(`${formatWorkKey(key)}: ${reason}`) },
  });
  if (secrets?.observe === undefined) throw new Error("no Secrets");
  const deps = { observed: sqliteObservedResources(database), subscriptions, ...secrets.observe };
  const of = { cluster: "home", group: "", kind: "Secret" };
  const keyOfSecret = (name: string): WorkKey => ({ ...of, namespace: "apps", name });
  return {
    kind: secrets,
    async observe(...present: readonly Metadata[]) {
      asked.length = 0;
      await observeAll(
        of,
        present.map((metadata) => ({ key: keyOfSecret(metadata.name), metadata })),
        deps,
        never,
      );
      return [...asked];
    },
    [Symbol.dispose]: () => database.close(),
  };
}

describe("a Secret with the watch label", () => {
  const changed = ["web", "db"].map((name) => `${formatWorkKey(keyOf(name))}: Secret/vars: resource changed`);
  const vars = { name: "vars", namespace: "apps", uid: "u", resourceVersion: "1" };

  test("23/64: requests runs of its subscribers when it is created, changed or deleted, and of no others", async () => {
    using world = configWorld();
    expect(world.kind).toMatchObject({ group: "", version: "v1", kind: "Secret", labelSelector: "watched=Enabled" });
    expect(await world.observe(vars, { ...vars, name: "other" })).toEqual(changed);
    expect(await world.observe(vars)).toEqual([]);
    expect(await world.observe({ ...vars, resourceVersion: "2" })).toEqual(changed);
    expect(await world.observe({ ...vars, uid: "v", resourceVersion: "2" })).toEqual(changed);
    expect(await world.observe()).toEqual(changed.map((text) => text.replace("changed", "gone")));
  });
});

test("without a selector no ConfigMap or Secret is listed (gate DisableConfigWatchers)", () => {
  const deps = { subscriptions: { subscribers: async () => [] }, requests: { request: async () => {} } };
  expect(configKinds(undefined, deps)).toEqual([]);
  expect(configKinds("watched=Enabled", deps).map(({ kind }) => kind)).toEqual(["ConfigMap", "Secret"]);
});

test("any write to an ExternalArtifact runs its consumers while its gate is on", async () => {
  const asked: string[] = [];
  const key: WorkKey = {
    cluster: "home",
    group: "source.toolkit.fluxcd.io",
    kind: "ExternalArtifact",
    namespace: "apps",
    name: "web",
  };
  const deps = {
    subscriptions: { subscribers: async (topic: string) => (topic === sourceTopic(key) ? [keyOf("app")] : []) },
    requests: { request: async (one: WorkKey, why: string) => void asked.push(`${formatWorkKey(one)}: ${why}`) },
  };
  expect(externalArtifactKinds(defaultGates, deps)).toEqual([]);
  const [kind] = externalArtifactKinds({ ExternalArtifact: true }, deps);
  expect(kind).toMatchObject({ group: key.group, version: "v1", kind: "ExternalArtifact" });
  expect(kind).not.toHaveProperty("labelSelector");
  if (kind?.observe === undefined) throw new Error("it is not observed");
  const database = openStateDatabase(":memory:");
  const observeDeps = { ...deps, observed: sqliteObservedResources(database), ...kind.observe };
  const written = (resourceVersion: string) =>
    observeResource({ key, metadata: { name: "web", uid: "u", resourceVersion, generation: 1 } }, observeDeps, never);
  await written("1");
  await written("1");
  await written("2");
  await observeGone(key, observeDeps, never);
  const app = formatWorkKey(keyOf("app"));
  expect(asked).toEqual([
    `${app}: ExternalArtifact/web: resource changed`,
    `${app}: ExternalArtifact/web: resource changed`,
    `${app}: ExternalArtifact/web: resource gone`,
  ]);
});

describe("the objects that a Canary follows", () => {
  const canary = { group: "flagger.app", kind: "Canary" };
  const canaryKey = { cluster: "home", ...canary, namespace: "apps", name: "web" };

  /** Who is asked to run, for the Canary `web` that follows one object. */
  function targetWorld(group: string, kind: string) {
    const database = openStateDatabase(":memory:");
    const asked: string[] = [];
    const followed = objectTopic({ cluster: "home", group, kind, namespace: "apps", name: "web" });
    const subscriptions = { subscribers: async (topic: string) => (topic === followed ? [canaryKey] : []) };
    const request = async (key: WorkKey, why: string) => void asked.push(`${formatWorkKey(key)}: ${why}`);
    const observedKind = targetKinds([canary], { subscriptions, requests: { request } }).find(
      (one) => one.group === group && one.kind === kind,
    );
    if (observedKind?.observe === undefined) throw new Error(`no ${kind}`);
    const deps = { observed: sqliteObservedResources(database), subscriptions, ...observedKind.observe };
    return {
      kind: observedKind,
      asked,
      async observe(metadata: Metadata) {
        asked.length = 0;
        await observeResource({ key: observedKey(observedKind, "home", metadata), metadata }, deps, never);
        return [...asked];
      },
      [Symbol.dispose]: () => database.close(),
    };
  }

  const object = { name: "web", namespace: "apps", uid: "u", resourceVersion: "1" };

  test.each(["Deployment", "DaemonSet"])(
    "canary/18: a %s wakes it with a new generation, and not with a new status",
    async (kind) => {
      using world = targetWorld("apps", kind);
      const changed = [`${formatWorkKey(canaryKey)}: ${kind}/web: resource changed`];
      expect(await world.observe({ ...object, generation: 1 })).toEqual(changed);
      expect(await world.observe({ ...object, generation: 1, resourceVersion: "2" })).toEqual([]);
      expect(await world.observe({ ...object, generation: 2, resourceVersion: "3" })).toEqual(changed);
      expect(await world.observe({ ...object, name: "other", generation: 1 })).toEqual([]);
    },
  );

  test.each(["Service", "ConfigMap", "Secret"])(
    "canary/19: a %s wakes it with each write, with or without the watch label",
    async (kind) => {
      using world = targetWorld("", kind);
      const changed = [`${formatWorkKey(canaryKey)}: ${kind}/web: resource changed`];
      expect(await world.observe(object)).toEqual(changed);
      expect(await world.observe(object)).toEqual([]);
      expect(await world.observe({ ...object, resourceVersion: "2" })).toEqual(changed);
      expect(world.kind).not.toHaveProperty("labelSelector");
      expect(observedKey(world.kind, "home", object)).not.toEqual({
        cluster: "home",
        group: "",
        kind,
        namespace: "apps",
        name: "web",
      });
    },
  );

  test("are listed only if Canaries are reconciled, in addition to them", () => {
    const nobody = { subscriptions: { subscribers: async () => [] }, requests: { request: async () => {} } };
    expect(targetKinds([{ group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization" }], nobody)).toEqual([]);
    expect(new Set(targetKinds([canary], nobody).map(({ beside }) => beside?.kind))).toEqual(new Set(["Canary"]));
  });
});
