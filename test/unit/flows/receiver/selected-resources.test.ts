import { describe, expect, test } from "vitest";
import { declaredKinds } from "../../../../lib/api/kinds/declared-kinds.ts";
import type { ReceiverResource } from "../../../../lib/api/receiver.ts";
import type { Cel } from "../../../../lib/cel/cel.ts";
import { digestOf } from "../../../../lib/core/digest.ts";
import { parseApiVersion } from "../../../../lib/core/object-ref.ts";
import { configTopic, selectionTopic } from "../../../../lib/core/topics.ts";
import { noCel } from "../../../doubles/no-cel.ts";
import { namespace, receiverWorld, token } from "../../receiver/receiver-world.ts";
import { never, path, ready, topicOfShop } from "./ready-receiver.ts";

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
