import { describe, expect, test } from "vitest";
import { declaredKinds } from "../../../../lib/api/kinds/declared-kinds.ts";
import { maxReceiverEvents, maxReceiverResources, type ReceiverResource } from "../../../../lib/api/receiver.ts";
import type { Cel } from "../../../../lib/cel/cel.ts";
import { digestOf } from "../../../../lib/core/digest.ts";
import { parseApiVersion } from "../../../../lib/core/object-ref.ts";
import { configTopic, selectionTopic } from "../../../../lib/core/topics.ts";
import { noCel } from "../../../doubles/no-cel.ts";
import { namespace, receiverWorld, token } from "../../receiver/receiver-world.ts";

const { signal: never } = new AbortController();
const path = "/hook/3907e385660662cde070490705fcf1afafdc63e83e0c40e29f95a30a535c409e";

/** A Receiver that is ready. */
async function ready(
  change: Parameters<ReturnType<typeof receiverWorld>["receiver"]>[0] = {},
  options: Parameters<typeof receiverWorld>[0] = {},
) {
  const world = receiverWorld(options);
  world.secret({ token });
  world.source("shop");
  world.receiver(change);
  await world.run();
  return world;
}

describe("a Receiver", () => {
  test("1: gets a path made of token, name and namespace, and another path with another token", async () => {
    const world = await ready();
    expect(world.status()).toMatchObject({ webhookPath: path, observedGeneration: 1 });
    expect(await world.receivers.find(path, never)).toMatchObject([{ key: world.keyOf("shop-hook") }]);
    world.secret({ token: "another" });
    await world.run();
    expect(world.path()).not.toBe(path);
    expect(await world.receivers.find(path, never)).toEqual([]);
    expect(await world.receivers.find(world.path(), never)).toHaveLength(1);
  });

  test("that is ready has Flux's message, one event and the finalizer", async () => {
    const world = await ready();
    expect(world.get()?.metadata.finalizers).toEqual(["finalizers.fluxcd.io"]);
    expect(world.conditions()).toEqual(["Ready=True Succeeded"]);
    expect(world.messageOf("Ready")).toBe(`Receiver initialized for path: ${path}`);
    expect(world.told()).toEqual(["Normal Succeeded Reconciliation finished, next run in 10m0s"]);
  });

  test("runs at its interval, sends an event each time, and writes only changes", async () => {
    const world = await ready({ interval: "1h" });
    const writes = world.writes.length;
    world.state.isRequested = false;
    expect(await world.run()).toMatchObject({ dueInMs: 3_600_000, isQuiet: true });
    expect(world.writes.slice(writes)).toMatchObject([{ verb: "create", body: { kind: "Event" } }]);
  });

  test("that was woken without need writes nothing and sends nothing", async () => {
    const world = await ready();
    const writes = world.writes.length;
    expect(await world.run()).toMatchObject({ outcome: "initialized", isQuiet: true });
    expect(world.writes).toHaveLength(writes);
  });

  test("keeps finalizers of other controllers when it adds its own, and when it is deleted", async () => {
    const world = await ready();
    const finalizersOf = () => world.get()?.metadata.finalizers;
    const set = (finalizers: readonly string[]) => {
      const live = world.get();
      if (live === undefined) throw new Error("the Receiver is gone");
      world.objects.set("Receiver/retail/shop-hook", { ...live, metadata: { ...live.metadata, finalizers } });
    };
    set(["example.com/before", "example.com/finalizers.fluxcd.io"]);
    await world.run();
    expect(finalizersOf()).toEqual(["example.com/before", "example.com/finalizers.fluxcd.io", "finalizers.fluxcd.io"]);
    world.delete("Receiver", "shop-hook");
    await world.run();
    expect(finalizersOf()).toEqual(["example.com/before", "example.com/finalizers.fluxcd.io"]);
    await world.run();
    expect(finalizersOf()).toEqual(["example.com/before", "example.com/finalizers.fluxcd.io"]);
  });

  test("that keeps failing waits twice as long each time, up to 15 minutes, and starts again after a success", async () => {
    const world = receiverWorld();
    world.receiver({});
    const waits: unknown[] = [];
    for (let run = 0; run < 13; run++) waits.push((await world.run()).dueInMs);
    expect(waits).toEqual([...Array.from({ length: 11 }, (_, failures) => 750 * 2 ** failures), 900_000, 900_000]);
    world.secret({ token });
    await world.run();
    world.delete("Secret", "token");
    expect((await world.run()).dueInMs).toBe(750);
  });

  const ends = {
    ready: { spec: {}, conditions: ["Ready=True Succeeded"] },
    failed: {
      spec: { secretRef: { name: "missing" } },
      conditions: ["Ready=False TokenNotFound", "Reconciling=True ProgressingWithRetry"],
    },
    stalled: {
      spec: { secretRef: null },
      conditions: ["Ready=False ValidationFailed", "Stalled=True ValidationFailed"],
    },
  };
  const named = Object.entries(ends);
  const pairs = named.flatMap(([before, first]) =>
    named.map(([after, second]) => ({ before, after, runs: [first, second] })),
  );
  test.each(pairs)("that was $before and is $after has only the conditions of the latest result", async ({ runs }) => {
    const world = receiverWorld();
    world.secret({ token });
    for (const { spec, conditions } of runs) {
      world.receiver(spec);
      await world.run();
      expect(world.conditions().toSorted()).toEqual(conditions);
      expect(world.status().conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual(
        conditions.map(() => world.get()?.metadata.generation),
      );
    }
  });

  test("that is suspended still follows its Secret", async () => {
    const world = await ready({ suspend: true });
    const secret = configTopic({ cluster: "here", kind: "Secret", namespace, name: "token" });
    expect(await world.subscribers(secret)).toEqual(["shop-hook"]);
  });

  test.each([
    { end: "ready", spec: {} },
    { end: "suspended", spec: { suspend: true } },
    { end: "stalled", spec: { secretRef: null } },
    { end: "failed", spec: { secretRef: { name: "missing" } } },
  ])("that ends $end has handled every request made until then", async ({ spec }) => {
    const world = await ready();
    const request = async (at: string) => {
      world.receiver(spec);
      const live = world.get();
      if (live === undefined) throw new Error("the Receiver is gone");
      const annotations = { "reconcile.fluxcd.io/requestedAt": at };
      world.objects.set("Receiver/retail/shop-hook", { ...live, metadata: { ...live.metadata, annotations } });
      await world.run();
      return world.status().lastHandledReconcileAt;
    };
    expect([await request("noon"), await request("one"), await request("two")]).toEqual(["noon", "one", "two"]);
  });

  test("records the handled request in its status", async () => {
    const world = await ready();
    const live = world.get();
    if (live === undefined) throw new Error("the Receiver is gone");
    const annotations = { "reconcile.fluxcd.io/requestedAt": "noon" };
    world.objects.set("Receiver/retail/shop-hook", { ...live, metadata: { ...live.metadata, annotations } });
    await world.run();
    expect(world.status().lastHandledReconcileAt).toBe("noon");
    expect(world.told()).toHaveLength(2);
  });

  test("loses its index entry and subscriptions when it is deleted, also if the object is already gone", async () => {
    for (const isGone of [false, true]) {
      const world = await ready();
      if (isGone) world.objects.delete("Receiver/retail/shop-hook");
      else world.delete("Receiver", "shop-hook");
      expect(await world.run()).toEqual({ outcome: isGone ? "absent" : "deleted", dueInMs: undefined });
      expect(world.get()).toBeUndefined();
      // As in Flux its last run ends like any other.
      const finished = "Normal Succeeded Reconciliation finished, next run in 10m0s";
      expect(world.told()).toEqual(isGone ? [finished] : [finished, finished]);
      expect(await world.receivers.find(path, never)).toEqual([]);
      expect(await world.subscribers(topicOfShop)).toEqual([]);
    }
  });

  test("that is suspended keeps its conditions, records its generation and sends an event; its index entry says suspended", async () => {
    const world = await ready();
    world.receiver({ suspend: true });
    world.lists.length = 0;
    expect(await world.run()).toMatchObject({ outcome: "suspended", dueInMs: undefined });
    expect(world.lists).toEqual([]);
    const conditions = [expect.objectContaining({ type: "Ready", status: "True", observedGeneration: 1 })];
    expect(world.status()).toMatchObject({ observedGeneration: 2, webhookPath: path, conditions });
    expect(world.told()[1]).toBe("Normal Succeeded Reconciliation finished, next run in 10m0s");
    expect(await world.receivers.find(path, never)).toMatchObject([{ entry: { state: "suspended", resources: [] } }]);
    world.receiver({ suspend: false });
    await world.run();
    expect(await world.receivers.find(path, never)).toMatchObject([{ entry: { state: "ready" } }]);
  });

  test("that had failed and is suspended changes only Reconciling, and is deleted without an event", async () => {
    const world = receiverWorld();
    world.receiver({});
    await world.run();
    const told = [...world.told()];
    world.receiver({ suspend: true });
    await world.run();
    expect(world.status()).toMatchObject({
      observedGeneration: -1,
      conditions: [
        { type: "Reconciling", reason: "ProgressingWithRetry", observedGeneration: 2 },
        { type: "Ready", reason: "TokenNotFound", observedGeneration: 1 },
      ],
    });
    world.delete("Receiver", "shop-hook");
    await world.run();
    expect([world.get(), world.told()]).toEqual([undefined, told]);
  });

  test("that was never ready is suspended without an event", async () => {
    const world = receiverWorld();
    world.receiver({ suspend: true });
    await world.run();
    expect([world.told(), world.status()]).toEqual([[], { observedGeneration: -1 }]);
  });
});

describe("the token of a Receiver", () => {
  const cases: readonly { name: string; data: Record<string, string> | undefined; message: string }[] = [
    {
      name: "whose Secret is missing",
      data: undefined,
      message: `unable to read token from secret 'retail/token' error: secrets "token" not found`,
    },
    {
      name: "that its Secret does not have",
      data: { password: "x" },
      message: "invalid 'retail/token' secret data: required fields 'token'",
    },
    {
      name: "that is empty, which Flux accepts",
      data: { token: "" },
      message: "invalid 'retail/token' secret data: the field 'token' is empty: store a long random text in it",
    },
  ];
  test.each(cases)(
    "22: $name gives TokenNotFound, and the run retries with longer and longer waits",
    async ({ data, message }) => {
      const world = receiverWorld();
      if (data !== undefined) world.secret(data);
      world.receiver({});
      expect(await world.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
      expect(world.conditions()).toEqual(["Reconciling=True ProgressingWithRetry", "Ready=False TokenNotFound"]);
      expect(world.messageOf("Ready")).toBe(message);
      expect(world.messageOf("Reconciling")).toBe("Reconciliation in progress");
      expect(world.status().observedGeneration).toBe(-1);
      expect(world.told()).toEqual([`Warning Failed ${message}`]);
      expect(await world.run()).toMatchObject({ dueInMs: 1_500 });
      expect(world.told()).toHaveLength(1);
      world.secret({ token });
      await world.run();
      expect(world.conditions()).toEqual(["Ready=True Succeeded"]);
    },
  );

  test("21: that is deleted removes the path from the status and from service", async () => {
    const world = await ready();
    world.delete("Secret", "token");
    await world.run();
    expect(world.status().webhookPath).toBeUndefined();
    expect(await world.receivers.find(path, never)).toEqual([]);
  });

  test("may contain any bytes, and never appears in status, event, log or index entry", async () => {
    const world = receiverWorld();
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x41]);
    world.secret({});
    const secret = world.objects.get("Secret/retail/token");
    if (secret === undefined) throw new Error("no Secret");
    world.objects.set("Secret/retail/token", { ...secret, data: { token: bytes.toString("base64") } });
    world.receiver({});
    await world.run();
    // Of sha256(ff fe 00 41 ‖ "shop-hook" ‖ "retail").
    expect(world.path()).toBe("/hook/14fee0279713327ef23bc5ad6e723033d8a5b376af1bc93e737f32062e277123");
    const found = JSON.stringify(await world.receivers.find(world.path(), never));
    for (const text of [world.text(), found]) {
      expect(text).not.toContain(bytes.toString("base64"));
      expect(text).not.toContain(bytes.toString("latin1"));
    }
  });

  test("with an invalid Secret name gives TokenNotFound without any request", async () => {
    const world = receiverWorld();
    world.receiver({ secretRef: { name: "../x" } });
    await world.run();
    expect(world.messageOf("Ready")).toContain("invalid resource name");
  });
});

describe("a Receiver whose spec is invalid", () => {
  test.each([
    { name: "no secretRef", spec: { secretRef: null }, fault: "secretRef is required when type is not generic-oidc" },
    {
      name: "oidcProviders of another type",
      spec: { oidcProviders: [{ issuerURL: "https://a", validations: [{ expression: "true", message: "x" }] }] },
      fault: "oidcProviders can only be set when type is generic-oidc",
    },
  ])("33: and stored with $name stalls with ValidationFailed", async ({ spec, fault }) => {
    const world = receiverWorld();
    world.secret({ token });
    world.receiver(spec);
    expect(await world.run()).toMatchObject({ outcome: "stalled", dueInMs: undefined });
    expect(world.conditions()).toEqual(["Stalled=True ValidationFailed", "Ready=False ValidationFailed"]);
    const message = `Reconciliation failed terminally due to configuration error: ${fault}`;
    expect([world.messageOf("Ready"), world.messageOf("Stalled")]).toEqual([message, message]);
    expect(world.told()).toEqual([`Warning ValidationFailed ${message}`]);
    expect(world.status().observedGeneration).toBe(1);
  });

  test("sends one more event if the spec changes and fails in the same way", async () => {
    const world = receiverWorld();
    for (const interval of ["10m", "20m"]) {
      world.receiver({ secretRef: null, interval });
      await world.run();
      await world.run();
    }
    const fault = "secretRef is required when type is not generic-oidc";
    const told = `Warning ValidationFailed Reconciliation failed terminally due to configuration error: ${fault}`;
    expect(world.told()).toEqual([told, told]);
  });

  test("answers at its path that it is not ready, if it was ready before", async () => {
    const world = await ready();
    world.receiver({ secretRef: null });
    await world.run();
    expect(world.path()).toBe(path);
    expect(await world.receivers.find(path, never)).toMatchObject([{ entry: { state: "not ready" } }]);
  });

  test("without resources, or of an unknown type, names the field", async () => {
    for (const [spec, field] of [
      [{ resources: null }, "spec.resources"],
      [{ type: "gitea" }, "spec.type"],
    ] as const) {
      const world = receiverWorld();
      world.receiver(spec);
      await world.run();
      expect(world.conditions()).toEqual(["Stalled=True InvalidSpec", "Ready=False InvalidSpec"]);
      expect(world.messageOf("Ready")).toContain(`Receiver/retail/shop-hook is invalid: ${field}: `);
    }
  });

  test("with empty lists is accepted, as in Flux, and wakes nothing", async () => {
    const world = await ready({ resources: [], oidcProviders: [] });
    expect(world.conditions()).toEqual(["Ready=True Succeeded"]);
    expect(await world.deliver()).toBe(200);
    expect(world.requested).toEqual([]);
  });

  test("with too many resources or events names the limit", async () => {
    const world = receiverWorld();
    const resources = Array.from({ length: maxReceiverResources + 1 }, (_, index) => ({
      kind: "OCIRepository",
      name: `a${index}`,
    }));
    world.receiver({ resources, events: Array.from({ length: maxReceiverEvents + 1 }, () => "push") });
    await world.run();
    expect(world.messageOf("Ready")).toContain("spec.resources: has 1001 items, 1000 are allowed");
    expect(world.messageOf("Ready")).toContain("spec.events: has 1001 items, 1000 are allowed");
  });
});

const topicOfShop = selectionTopic({
  cluster: "here",
  group: "source.toolkit.fluxcd.io",
  kind: "OCIRepository",
  namespace,
});

describe("the resources that a Receiver selects", () => {
  test("are in its index entry by name, one list per kind and namespace", async () => {
    const world = receiverWorld();
    world.secret({ token });
    for (const [name, team] of Object.entries({ a: "x", b: "x", c: "y" })) world.source(name, { team });
    const kind = "OCIRepository";
    world.receiver({
      resources: [
        { kind, name: "c" },
        { kind, name: "*", matchLabels: { team: "x" } },
        { kind, name: "*", matchLabels: {} },
        { kind, name: "*", matchLabels: { team: "z" } },
      ],
    });
    await world.run();
    const [{ entry } = { entry: undefined }] = await world.receivers.find(world.path(), never);
    expect(entry?.resources.map(({ objects }) => objects.map(({ name }) => name))).toEqual([
      ["c"],
      ["a", "b"],
      ["a", "b", "c"],
      [],
    ]);
    expect(entry?.resources.flatMap(({ objects }) => objects.map(({ metadata }) => metadata))).toEqual(
      Array.from({ length: 6 }, () => undefined),
    );
    expect(world.lists).toEqual(["OCIRepository of retail"]);
  });

  test("are watched: the Receiver follows changes of the objects that it may select, and of its Secret", async () => {
    const world = await ready();
    expect(await world.subscribers(topicOfShop)).toEqual(["shop-hook"]);
    const secret = configTopic({ cluster: "here", kind: "Secret", namespace, name: "token" });
    expect(await world.subscribers(secret)).toEqual(["shop-hook"]);
    world.objects.delete("OCIRepository/retail/shop");
    await world.run();
    const [{ entry } = { entry: undefined }] = await world.receivers.find(path, never);
    expect(entry?.resources).toMatchObject([{ fault: "OCIRepository/retail/shop does not exist", objects: [] }]);
  });

  test("are watched for each entry, in its kind and namespace", async () => {
    const kind = "OCIRepository";
    const world = await ready({
      resources: [
        { kind, name: "shop" },
        { kind, name: "shop-old" },
        { kind, name: "*", matchLabels: { team: "x", tier: "y" } },
        { kind, name: "mail", namespace: "retail-old" },
        { kind: "GitRepository", name: "shop" },
        { kind: "Kustomization", apiVersion: "kustomize.toolkit.fluxcd.io/v1", name: "shop" },
      ],
    });
    const selectors = async (of: string, within: string, group = "source.toolkit.fluxcd.io") => {
      const topic = selectionTopic({ cluster: "here", group, kind: of, namespace: within });
      const followers = await world.deps.subscriptions.followers(topic, never);
      return followers.map(({ follows }) => follows);
    };
    const objects = (...all: readonly object[]) => [{ kind: "objects", selectors: all }];
    expect(await selectors(kind, "retail")).toEqual(
      objects({ name: "shop" }, { name: "shop-old" }, { labels: { team: "x", tier: "y" } }),
    );
    expect(await selectors(kind, "retail-old")).toEqual(objects({ name: "mail" }));
    expect(await selectors("GitRepository", "retail")).toEqual(objects({ name: "shop" }));
    expect(await selectors("Kustomization", "retail", "kustomize.toolkit.fluxcd.io")).toEqual(
      objects({ name: "shop" }),
    );
    expect(world.lists.toSorted()).toEqual([
      "GitRepository of retail",
      "Kustomization of retail",
      "OCIRepository of retail",
      "OCIRepository of retail-old",
    ]);
  });

  test("are told apart by API group if two groups have a kind of the same name", async () => {
    const kind = "Bucket";
    const groups = ["source.toolkit.fluxcd.io", "buckets.example.com"];
    const world = receiverWorld({ reconciled: groups.map((group) => ({ group, kind, versions: ["v1"] })) });
    world.secret({ token });
    for (const [index, group] of groups.entries()) {
      world.apply({ apiVersion: `${group}/v1`, kind, metadata: { name: `of-${index}`, namespace } });
    }
    world.receiver({
      resources: groups.map((group) => ({ apiVersion: `${group}/v1`, kind, name: "*", matchLabels: {} })),
    });
    await world.run();
    const [{ entry } = { entry: undefined }] = await world.receivers.find(path, never);
    expect(entry?.resources).toMatchObject([
      { group: groups[0], objects: [{ name: "of-0" }] },
      { group: groups[1], objects: [{ name: "of-1" }] },
    ]);
  });

  test("are filtered on the metadata of each object that seldom changes", async () => {
    const cel: Cel = {
      ...noCel,
      compileBool: async () => ({ evaluate: async () => true, evaluateEach: async () => [] }),
      withBudget: () => cel,
    };
    const world = receiverWorld({ cel });
    world.secret({ token });
    const metadata = {
      name: "shop",
      namespace,
      creationTimestamp: "2026-11-23T12:00:00Z",
      labels: { team: "x" },
      annotations: { go: "yes", "reconcile.fluxcd.io/requestedAt": "noon" },
      finalizers: ["finalizers.fluxcd.io"],
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "u" }],
      resourceVersion: "17",
    };
    world.apply({ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata });
    world.receiver({ resourceFilter: "true" });
    await world.run();
    const { annotations: _, resourceVersion: __, ...kept } = metadata;
    const [{ entry } = { entry: undefined }] = await world.receivers.find(path, never);
    expect(entry?.resources.flatMap(({ objects }) => objects)).toEqual([
      { name: "shop", metadata: { ...kept, uid: "uid-of-OCIRepository/retail/shop", annotations: { go: "yes" } } },
    ]);
  });

  /** The version of an entry that names none, by kind; undefined for a kind that has to be named with its version. */
  const defaults: Readonly<Record<ReceiverResource["kind"], string | undefined>> = {
    ArtifactGenerator: "source.extensions.fluxcd.io/v1beta1",
    Bucket: "source.toolkit.fluxcd.io/v1",
    ExternalArtifact: undefined,
    GitRepository: "source.toolkit.fluxcd.io/v1",
    HelmChart: "source.toolkit.fluxcd.io/v1",
    HelmRelease: undefined,
    HelmRepository: "source.toolkit.fluxcd.io/v1",
    ImagePolicy: undefined,
    ImageRepository: "image.toolkit.fluxcd.io/v1",
    ImageUpdateAutomation: undefined,
    Kustomization: undefined,
    OCIRepository: "source.toolkit.fluxcd.io/v1",
  };
  test.each(Object.entries(defaults))(
    "23: of kind %s without apiVersion have the version %s",
    async (kind, apiVersion) => {
      const { group = "", version = "" } = apiVersion === undefined ? {} : parseApiVersion(apiVersion);
      const world = receiverWorld({ reconciled: [{ group, kind, versions: [version] }] });
      world.secret({ token });
      world.apply({ apiVersion: apiVersion ?? "v1", kind, metadata: { name: "shop", namespace } });
      world.receiver({ resources: [{ kind, name: "shop" }] });
      await world.run();
      const [{ entry } = { entry: undefined }] = await world.receivers.find(path, never);
      const found = { group, version, kind, objects: [{ name: "shop" }] };
      const fault = `apiVersion must be specified for kind "${kind}"`;
      expect(entry?.resources).toMatchObject([apiVersion === undefined ? { fault, objects: [] } : found]);
    },
  );

  test.each([
    {
      name: "23: a kind without apiVersion that has no default",
      resource: { kind: "HelmRelease", name: "x" },
      fault: 'apiVersion must be specified for kind "HelmRelease"',
    },
    {
      name: "25: a wildcard without labels",
      resource: { kind: "OCIRepository", name: "*" },
      fault: "matchLabels field not set when using wildcard '*' as name",
    },
    {
      name: "a version that is not served",
      resource: { apiVersion: "source.toolkit.fluxcd.io/v9", kind: "OCIRepository", name: "shop" },
      fault: "source.toolkit.fluxcd.io/v9 does not serve OCIRepository",
    },
    {
      name: "another group than the kind's",
      resource: { apiVersion: "example.com/v1", kind: "OCIRepository", name: "shop" },
      fault: "kind OCIRepository of example.com/v1 is not reconciled by this Sluice, so no webhook can wake it",
    },
  ])("include an error for $name, and the other entries still work", async ({ resource, fault }) => {
    const world = await ready({ resources: [resource, { kind: "OCIRepository", name: "shop" }] });
    const [{ entry } = { entry: undefined }] = await world.receivers.find(path, never);
    expect(entry?.resources).toMatchObject([{ fault, objects: [] }, { objects: [{ name: "shop" }] }]);
    expect(world.conditions()).toEqual(["Ready=True Succeeded"]);
  });

  describe("a Receiver that selects a kind that Sluice does not reconcile", () => {
    const reconciled = declaredKinds.filter(({ group }) => group !== "image.toolkit.fluxcd.io");
    const image = { kind: "ImageRepository", name: "x" };
    const text = "Sluice does not reconcile ImageRepository/retail/x, so deliveries do not wake it";

    test("names the kind in the Ready condition after Flux's text, and in one Warning event", async () => {
      const world = await ready({ resources: [image, { kind: "OCIRepository", name: "shop" }] }, { reconciled });
      expect(world.conditions()).toEqual(["Ready=True Succeeded"]);
      expect(world.messageOf("Ready")).toBe(`Receiver initialized for path: ${path}. ${text}`);
      const told = () => world.told().filter((one) => one.includes("NotReconciled"));
      expect(told()).toEqual([`Warning NotReconciled ${text}`]);
      await world.run();
      expect(told()).toHaveLength(1);
      world.receiver({
        resources: [image, { apiVersion: "image.toolkit.fluxcd.io/v1", kind: "ImagePolicy", name: "charts" }],
      });
      await world.run();
      const both = "ImageRepository/retail/x, ImagePolicy/retail/charts, so deliveries do not wake them";
      expect(told().slice(1)).toEqual([`Warning NotReconciled Sluice does not reconcile ${both}`]);
      world.receiver({ resources: [{ kind: "OCIRepository", name: "shop" }] });
      await world.run();
      expect(world.messageOf("Ready")).toBe(`Receiver initialized for path: ${path}`);
      expect(told()).toHaveLength(2);
    });

    test("lists nothing for this kind and fails no delivery: the other objects are woken, and the answer is 200", async () => {
      const apiVersion = "image.toolkit.fluxcd.io/v1";
      const all = { apiVersion, kind: "ImagePolicy", name: "*", matchLabels: {} };
      const world = await ready({ resources: [image, all, { kind: "OCIRepository", name: "shop" }] }, { reconciled });
      expect(world.lists).toEqual(["OCIRepository of retail"]);
      expect(await world.deliver()).toBe(200);
      expect(world.requested).toEqual(["OCIRepository/retail/shop"]);
      expect(world.log.lines.filter((line) => JSON.stringify(line).includes("not woken"))).toEqual([]);
    });

    test("still reports an entry that fails", async () => {
      const world = await ready({ resources: [image, { kind: "OCIRepository", name: "gone" }] }, { reconciled });
      expect(await world.deliver()).toBe(500);
    });

    test("names the first ten kinds and counts the rest", async () => {
      const resources = Array.from({ length: 12 }, (_, index) => ({ ...image, name: `x${index}` }));
      const world = await ready({ resources }, { reconciled });
      expect(world.messageOf("Ready")).toMatch(
        /ImageRepository\/retail\/x9 and 2 more, so deliveries do not wake them$/,
      );
    });

    test("selects the kind once it is declared", async () => {
      const group = "image.toolkit.fluxcd.io";
      const world = receiverWorld({ reconciled: [{ group, kind: "ImageRepository", versions: ["v1"] }] });
      world.secret({ token });
      world.apply({ apiVersion: `${group}/v1`, kind: "ImageRepository", metadata: { name: "x", namespace } });
      world.receiver({ resources: [image] });
      await world.run();
      expect(world.messageOf("Ready")).toBe(`Receiver initialized for path: ${path}`);
      expect(await world.deliver()).toBe(200);
      expect(world.requested).toEqual(["ImageRepository/retail/x"]);
    });
  });

  test("compares the first two parts of apiVersion, as in Flux", async () => {
    const apiVersion = "source.toolkit.fluxcd.io/v1/more";
    const world = await ready({ resources: [{ apiVersion, kind: "OCIRepository", name: "shop" }] });
    const [{ entry } = { entry: undefined }] = await world.receivers.find(path, never);
    expect(entry?.resources).toMatchObject([{ objects: [{ name: "shop" }] }]);
  });

  test("26: in another namespace are refused if the installation forbids that, and nothing is listed there", async () => {
    const world = receiverWorld({ noCrossNamespaceRefs: true });
    world.secret({ token });
    world.source("shop", {}, "other");
    world.receiver({ resources: [{ kind: "OCIRepository", name: "shop", namespace: "other" }] });
    await world.run();
    const [{ entry } = { entry: undefined }] = await world.receivers.find(path, never);
    expect(entry?.resources).toMatchObject([{ fault: "cross-namespace references are not allowed", objects: [] }]);
    expect(world.lists).toEqual([]);
  });

  test("that exceed the size of an index entry are reported with their size, and deliveries are refused until that is fixed", async () => {
    const world = await ready();
    for (let index = 0; index < 6_500; index++) world.source(digestOf(`source ${index}`).slice(7));
    for (let index = 0; index < 6_500; index++) world.source(digestOf(`another ${index}`).slice(7));
    world.receiver({ resources: [{ kind: "OCIRepository", name: "*", matchLabels: {} }] });
    expect(await world.run()).toMatchObject({ outcome: "failed" });
    expect(world.messageOf("Ready")).toMatch(
      /^what spec\.resources selects, .* has [0-9]+ bytes, 358400 are allowed: select fewer objects/,
    );
    expect(await world.receivers.find(path, never)).toMatchObject([{ entry: { state: "not ready" } }]);
  });
});
