import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { maxCopyOperations } from "../../../../lib/api/artifact-generator.ts";
import { Digest, digestOf } from "../../../../lib/core/digest.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { sourceTopic } from "../../../../lib/core/topics.ts";
import { sourceRetryMs } from "../../../../lib/flows/artifact-generator/artifact-generator-flow.ts";
import { fetchableArtifact, generatedHere } from "../../../../lib/flows/source/read-source.ts";
import { type EmbeddedCluster, embeddedCluster } from "../../../doubles/embedded-cluster.ts";
import { artifactOf } from "../../manifests/build-files.ts";
import { generatorWorld, Killed } from "./generator-world.ts";

const { signal } = new AbortController();
let embedded: EmbeddedCluster;
let spaces = 0;

beforeAll(async () => {
  embedded = await embeddedCluster();
});
afterAll(() => embedded[Symbol.asyncDispose]());

async function world() {
  const namespace = `gen-${spaces++}`;
  const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  await embedded.cluster.create(manifest, { manager: "test" }, signal);
  return generatorWorld(embedded.cluster, namespace);
}

const files = { "apps/web/a.yaml": "web", "apps/api/a.yaml": "api", "base/b.yaml": "base" };

const output = (name: string): JsonObject => ({
  name,
  copy: [{ from: `@repo/apps/${name}/**`, to: "@artifact/" }],
});

/** Two artifacts of one source, each of its own folder. */
function split(more: JsonObject = {}, change: JsonObject = {}): JsonObject {
  return {
    sources: [{ alias: "repo", kind: "OCIRepository", name: "repo" }],
    artifacts: ["web", "api"].map((name) => ({ ...output(name), ...change })),
    ...more,
  };
}

async function ready() {
  const one = await world();
  await one.source("repo", files);
  await one.generator(split());
  await one.run();
  return one;
}

type World = Awaited<ReturnType<typeof world>>;
const succeeded = "Ready=True Succeeded: reconciliation succeeded, generated 2 artifact(s)";

async function repoWith(one: World, change: Readonly<Record<string, string>>, revision = "v2"): Promise<void> {
  await one.source("repo", { ...files, ...change }, { revision });
}

describe("an ArtifactGenerator", () => {
  test("publishes each artifact as an ExternalArtifact, in Flux's words", async () => {
    const one = await world();
    await one.source("repo", files);
    const { metadata } = await one.generator(
      split({ commonMetadata: { labels: { team: "a" }, annotations: { x: "y" } } }),
    );
    expect(await one.run()).toMatchObject({ outcome: "stored", dueInMs: 3_600_000 });
    expect(await one.conditions()).toEqual([succeeded]);
    expect(await one.filesOf("web")).toEqual({ "a.yaml": "web" });
    const artifact = await one.artifact("web");
    const { inventory = [], observedSourcesDigest } = await one.status();
    const [entry] = inventory;
    expect(entry).toMatchObject({ name: "web", namespace: one.namespace, digest: artifact?.digest });
    expect(observedSourcesDigest).toMatch(/^sha256:/);
    const path = `externalartifact/${one.namespace}/web/${entry?.filename}`;
    expect(artifact).toMatchObject({ path, url: `http://sluice.test/${path}` });
    expect(await one.get("ExternalArtifact", "web")).toMatchObject({
      metadata: {
        labels: {
          team: "a",
          "app.kubernetes.io/managed-by": "source-watcher",
          "source.extensions.fluxcd.io/generator": metadata.uid,
        },
        annotations: { x: "y" },
      },
      spec: {
        sourceRef: {
          apiVersion: "source.extensions.fluxcd.io/v1beta1",
          kind: "ArtifactGenerator",
          name: "gen",
          namespace: one.namespace,
        },
      },
      status: { conditions: [{ type: "Ready", status: "True", reason: "Succeeded", message: "Artifact is ready" }] },
    });
    const live = await one.get("ArtifactGenerator", "gen");
    expect(live?.metadata.finalizers).toEqual(["source.extensions.fluxcd.io/finalizer"]);
    const lines = inventory.map(({ digest, name }) => `${one.namespace}/${name} (${digest})`).join("\n");
    expect((await one.events()).toSorted()).toEqual([
      `Normal Ready: external artifacts reconciled: ${lines}`,
      "Normal Ready: reconciliation succeeded, generated 2 artifact(s)",
    ]);
  });

  test("writes nothing if nothing has changed", async () => {
    const one = await ready();
    const before = one.writes.length;
    expect(await one.run()).toMatchObject({ outcome: "unchanged", isQuiet: true, dueInMs: 3_600_000 });
    expect(one.writes.slice(before)).toEqual(["subscriptions.subscribe"]);
    one.state.isRequested = false;
    await one.run();
    expect(await one.events()).toContain("Normal Ready: No drift detected, 2 artifact(s) up to date");
  });

  test("11.5/117: the revision of an artifact is the digest of its content, or the revision of the source that it names", async () => {
    const one = await ready();
    const { digest, revision, metadata } = (await one.artifact("web")) ?? {};
    expect({ revision, metadata }).toEqual({ revision: `latest@${digest}`, metadata: undefined });
    await one.generator(split({}, { revision: "@repo", originRevision: "@repo" }));
    await one.run();
    expect(await one.artifact("web")).toMatchObject({
      digest,
      revision: "v1",
      metadata: { "org.opencontainers.image.revision": "v1" },
    });
    await one.source("repo", files, {
      revision: "v2",
      metadata: { "org.opencontainers.image.revision": "main@sha1:1" },
    });
    await one.run();
    expect(await one.artifact("web")).toMatchObject({
      revision: "v2",
      metadata: { "org.opencontainers.image.revision": "main@sha1:1" },
    });
  });

  test("11.5/116: waits for a source without an artifact, fails for one that does not exist, retries every 5 s and subscribes to the source", async () => {
    const one = await world();
    await one.generator({
      ...split(),
      sources: [
        { alias: "repo", kind: "OCIRepository", name: "repo" },
        { alias: "other", kind: "OCIRepository", name: "other" },
      ],
    });
    await one.source("repo", files);
    await one.apply("OCIRepository", "other", { interval: "1h", url: "oci://registry.test/other" });
    for (let run = 0; run < 3; run++) {
      expect(await one.run()).toMatchObject({ outcome: "waiting", dueInMs: sourceRetryMs });
    }
    const text = `get sources failed: source 'OCIRepository/${one.namespace}/other' is not ready`;
    expect(await one.conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry: Reconciliation in progress",
      `Ready=False SourceFetchFailed: ${text}`,
    ]);
    expect(await one.events()).toEqual([`Warning SourceFetchFailed: ${text}`]);
    expect(one.subscriptionsOf()).toEqual(
      ["other", "repo"].map((name) => sourceTopic(one.keyOf("OCIRepository", name))),
    );
    await one.remove("OCIRepository", "other");
    expect(await one.run()).toMatchObject({ outcome: "failed", dueInMs: sourceRetryMs });
    expect((await one.conditions()).at(-1)).toContain('OCIRepository.source.toolkit.fluxcd.io "other" not found');
    await one.source("other", {});
    await one.run();
    expect(await one.conditions()).toEqual([succeeded]);
  });

  test("requests a run of a source whose artifact is missing from the store or was not recorded by a flow, and applies nothing", async () => {
    const one = await world();
    await one.source("repo", files);
    one.stored.clear();
    await one.generator(split());
    expect(await one.run()).toMatchObject({ outcome: "waiting" });
    expect(one.requested).toEqual(["OCIRepository/repo"]);
    expect((await one.conditions()).at(-1)).toBe(
      `Ready=False SourceFetchFailed: fetch sources failed: OCIRepository/${one.namespace}/repo: file not found`,
    );
  });

  test("new content of a source changes the artifacts made from it, and wakes only their consumers", async () => {
    const one = await ready();
    for (const name of ["web", "api"]) {
      const kustomization = { ...one.keyOf("Kustomization", `ks-${name}`), group: "kustomize.toolkit.fluxcd.io" };
      await one.subscribe(kustomization, sourceTopic(one.keyOf("ExternalArtifact", name)));
    }
    const api = await one.artifact("api");
    await repoWith(one, { "apps/web/a.yaml": "web 2" });
    await one.run();
    expect(await one.filesOf("web")).toEqual({ "a.yaml": "web 2" });
    expect(await one.artifact("api")).toEqual(api);
    expect(one.requested).toEqual(["Kustomization/ks-web"]);
  });

  test("if one build fails, the failure is reported, the run retries with back-off, and no artifact is published", async () => {
    const one = await ready();
    const before = await one.artifact("web");
    const broken = { name: "broken", copy: [{ from: "@repo/none/*", to: "@artifact/" }] };
    await repoWith(one, { "apps/web/a.yaml": "web 2" });
    await one.generator({ ...split(), artifacts: [output("web"), broken] });
    expect(await one.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(await one.run()).toMatchObject({ outcome: "failed", dueInMs: 1_500 });
    const why = "no files match pattern 'none/*' in source 'repo'";
    const what = "failed to apply copy operation from '@repo/none/*' to '@artifact/'";
    expect((await one.conditions()).at(-1)).toBe(
      `Ready=False BuildFailed: broken build failed: failed to apply copy operations: ${what}: ${why}`,
    );
    expect(await one.artifact("web")).toEqual(before);
    expect(await one.externalArtifacts()).toEqual(["api", "web"]);
  });

  test("11.5/122: if an output is removed from the spec, its ExternalArtifact and its record are deleted", async () => {
    const one = await ready();
    const uid = (await one.get("ExternalArtifact", "api"))?.metadata.uid ?? "";
    const digest = Digest.parse((await one.artifact("api"))?.digest);
    const { artifacts } = split();
    await one.generator({ ...split(), artifacts: Array.isArray(artifacts) ? artifacts.slice(0, 1) : [] });
    await one.run();
    expect(await one.externalArtifacts()).toEqual(["web"]);
    expect(await one.records.recorded(one.keyOf("ExternalArtifact", "api"), uid, digest, signal)).toBe(false);
    expect((await one.status()).inventory).toHaveLength(1);
  });

  test("11.5/123: the next run restores an ExternalArtifact that a user has deleted or edited", async () => {
    const one = await ready();
    const before = await one.artifact("web");
    await one.remove("ExternalArtifact", "web");
    await one.run();
    expect(await one.artifact("web")).toEqual({ ...before, lastUpdateTime: expect.any(String) });
    await one.patchStatus("ExternalArtifact", "web", { artifact: { digest: `sha256:${"0".repeat(64)}` } });
    await one.run();
    expect((await one.artifact("web"))?.digest).toBe(before?.digest);
    expect(one.subscriptionsOf()).toContain(sourceTopic(one.keyOf("ExternalArtifact", "web")));
  });

  test("does not take over the ExternalArtifact of another generator until that generator is deleted", async () => {
    const one = await ready();
    const before = await one.artifact("web");
    const copy = [{ from: "@repo/base/b.yaml", to: "@artifact/" }];
    await one.generator(
      split({
        artifacts: [
          { name: "mine", copy },
          { name: "web", copy },
        ],
      }),
      "second",
    );
    expect(await one.run("second")).toMatchObject({ outcome: "failed", dueInMs: 750 });
    const maker = `ArtifactGenerator/${one.namespace}/gen`;
    expect((await one.conditions("second")).at(-1)).toBe(
      `Ready=False ReconciliationFailed: web reconcile failed: ${maker} makes it: rename the artifact in one of the two`,
    );
    expect(await one.artifact("web")).toEqual(before);
    expect(await one.externalArtifacts()).toEqual(["api", "web"]);
    await one.remove("ArtifactGenerator", "gen");
    await one.run();
    await one.run("second");
    expect(await one.externalArtifacts()).toEqual(["mine", "web"]);
  });

  test("stalls if an artifact uses itself as a source", async () => {
    const one = await ready();
    const { sources } = split();
    const own = { alias: "self", kind: "ExternalArtifact", name: "web" };
    await one.generator(split({ sources: [...(Array.isArray(sources) ? sources : []), own] }));
    expect(await one.run()).toMatchObject({ outcome: "stalled" });
    expect((await one.conditions()).at(-1)).toContain(
      "Ready=False ValidationFailed: artifact web is made from itself, source 'self'",
    );
  });

  test("rebuilds an artifact that is missing from the store", async () => {
    const one = await ready();
    const digest = (await one.artifact("web"))?.digest ?? "";
    one.stored.delete(digest);
    await one.run();
    expect(one.stored.has(digest)).toBe(true);
    expect(await one.conditions()).toEqual([succeeded]);
  });

  test("11.5/124: its annotation pauses it, written in any case, but a deletion still cleans up", async () => {
    const one = await ready();
    await one.annotate("gen", { "source.extensions.fluxcd.io/reconcile": "Disabled" });
    await repoWith(one, { "apps/web/a.yaml": "web 2" });
    expect(await one.run()).toMatchObject({ outcome: "suspended", dueInMs: undefined });
    expect(await one.filesOf("web")).toEqual({ "a.yaml": "web" });
    expect(await one.conditions()).toEqual([succeeded]);
    expect(await one.events()).toContain("Normal ReconciliationDisabled: Reconciliation is disabled");
    await one.remove("ArtifactGenerator", "gen");
    expect(await one.run()).toMatchObject({ outcome: "deleted" });
    expect(await one.externalArtifacts()).toEqual([]);
    expect(await one.get("ArtifactGenerator", "gen")).toBeUndefined();
    expect(one.subscriptionsOf()).toEqual([]);
  });

  test("reports that it is paused if it is created paused, and runs once it is resumed", async () => {
    const one = await world();
    await one.source("repo", files);
    await one.generator(split());
    await one.annotate("gen", { "source.extensions.fluxcd.io/reconcile": "disabled" });
    await one.run();
    expect(await one.conditions()).toEqual([
      "Ready=True ReconciliationDisabled: Initialized with reconciliation suspended",
    ]);
    await one.annotate("gen", { "source.extensions.fluxcd.io/reconcile": null });
    await one.run();
    expect(await one.conditions()).toEqual([succeeded]);
  });

  test("11.5/127: may not read sources of other namespaces if the installation forbids it", async () => {
    const [one, other] = [await world(), await world()];
    await one.source("repo", files, { within: other.namespace });
    const sources = [{ alias: "repo", kind: "OCIRepository", name: "repo", namespace: other.namespace }];
    await one.generator({ ...split(), sources });
    one.state.noCrossNamespaceRefs = true;
    expect(await one.run()).toMatchObject({ outcome: "stalled", dueInMs: undefined });
    const text = `cross-namespace reference to source OCIRepository/${other.namespace}/repo is not allowed`;
    expect(await one.conditions()).toEqual([`Stalled=True AccessDenied: ${text}`, `Ready=False AccessDenied: ${text}`]);
    one.state.noCrossNamespaceRefs = false;
    await one.run();
    expect(await one.conditions()).toEqual([succeeded]);
  });

  test.each([
    [
      "duplicate source alias 'repo' found",
      { sources: [1, 2].map(() => ({ alias: "repo", kind: "OCIRepository", name: "repo" })) },
    ],
    [
      "duplicate artifact name 'a' found",
      { artifacts: [1, 2].map(() => ({ name: "a", copy: [{ from: "@repo/", to: "@artifact/" }] })) },
    ],
    [
      "artifact a revision source alias 'x' not found",
      { artifacts: [{ name: "a", revision: "@x", copy: [{ from: "@repo/", to: "@artifact/" }] }] },
    ],
  ])("stalls: %s", async (text, change) => {
    const one = await world();
    await one.source("repo", files);
    await one.generator(split(change));
    expect(await one.run()).toMatchObject({ outcome: "stalled" });
    expect(await one.conditions()).toEqual([
      `Stalled=True ValidationFailed: ${text}`,
      `Ready=False ValidationFailed: ${text}`,
    ]);
    expect(await one.events()).toEqual([`Warning ValidationFailed: ${text}`]);
  });

  test("the API server rejects an artifact name that is not a valid object name, unless a pathPattern makes the names", async () => {
    const one = await world();
    const artifacts = [{ name: "{app}", copy: [{ from: "@repo/apps/{app}/**", to: "@artifact/" }] }];
    await expect(one.generator(split({ artifacts }))).rejects.toThrow(
      "artifact names must be valid Kubernetes object names when pathPattern is not set",
    );
    await one.source("repo", files);
    await one.generator(split({ artifacts, pathPattern: "@repo/apps/{app}" }));
    await one.run();
    expect(await one.externalArtifacts()).toEqual(["api", "web"]);
    const labels = (await one.get("ExternalArtifact", "web"))?.metadata.labels;
    expect(labels).toMatchObject({ app: "web" });
    await one.source("repo", { "other/x": "" }, { revision: "v2" });
    await one.run();
    expect(await one.conditions()).toEqual(["Ready=True Succeeded: reconciliation succeeded, generated 0 artifact(s)"]);
    expect(await one.externalArtifacts()).toEqual([]);
  });

  test("11.5/125: stalls until the source changes if a pathPattern gives two folders the same name", async () => {
    const one = await world();
    await one.source("repo", { "apps/Web/a": "", "apps/web/a": "" });
    const artifacts = [{ name: "{app}", copy: [{ from: "@repo/apps/{app}/**", to: "@artifact/" }] }];
    await one.generator(split({ artifacts, pathPattern: "@repo/apps/{app}" }));
    expect(await one.run()).toMatchObject({ outcome: "stalled" });
    const text = 'directories "apps/Web" and "apps/web" both resolve to artifact name "web"';
    expect(await one.conditions()).toEqual(
      ["Stalled=True", "Ready=False"].map(
        (head) => `${head} BuildFailed: failed to expand path pattern: pathPattern "@repo/apps/{app}": ${text}`,
      ),
    );
    await one.source("repo", { "apps/Web/a": "" }, { revision: "v2" });
    await one.run();
    expect(await one.externalArtifacts()).toEqual(["web"]);
  });

  test("11.5/115: reads an ExternalArtifact of another producer, even while that producer reports a failure", async () => {
    const one = await world();
    const bytes = await artifactOf(files);
    const url = "http://producer.test/a.tar.gz";
    one.served.set(url, bytes);
    await one.apply("ExternalArtifact", "made", {});
    const failed = { type: "Ready", status: "False", reason: "FetchFailed", message: "no", observedGeneration: 1 };
    await one.patchStatus("ExternalArtifact", "made", {
      artifact: { digest: digestOf(bytes), url, path: "a", revision: "v1", lastUpdateTime: "2026-11-28T12:00:00Z" },
      conditions: [{ ...failed, lastTransitionTime: "2026-11-28T12:00:00Z" }],
    });
    await one.generator(split({ sources: [{ alias: "repo", kind: "ExternalArtifact", name: "made" }] }));
    await one.run();
    expect(await one.filesOf("web")).toEqual({ "a.yaml": "web" });
  });

  test("stalls if it has more operations than the limit", async () => {
    const one = await world();
    await one.source("repo", files);
    const copies = (count: number) => [
      { name: "web", copy: Array.from({ length: count }, () => ({ from: "@repo/base/b.yaml", to: "@artifact/x" })) },
    ];
    await one.generator(split({ artifacts: copies(maxCopyOperations) }));
    expect(await one.run()).toMatchObject({ outcome: "stored" });
    await one.generator(split({ artifacts: copies(maxCopyOperations + 1) }));
    await one.run();
    const allowed = `has ${maxCopyOperations + 1} items, ${maxCopyOperations} are allowed`;
    expect((await one.conditions()).at(-1)).toContain(`Ready=False ValidationFailed: spec.artifacts: ${allowed}`);
  });

  test("copies a handled request to its status, whatever the outcome", async () => {
    const one = await world();
    await one.generator(split());
    for (const at of ["one", "two"]) {
      await one.annotate("gen", { "reconcile.fluxcd.io/requestedAt": at });
      await one.run();
      expect((await one.status()).lastHandledReconcileAt).toBe(at);
      await one.source("repo", files);
    }
  });
});

describe("a consumer of an ExternalArtifact", () => {
  const consume = async (one: World, name: string) => {
    const live = await one.get("ExternalArtifact", name);
    const artifact = await one.artifact(name);
    if (live === undefined || artifact === undefined) throw new Error("no artifact");
    const requests: string[] = [];
    const source = { key: one.keyOf("ExternalArtifact", name), uid: live.metadata.uid, artifact };
    const http = {
      async send({ url }: { readonly url: string }) {
        requests.push(url);
        return { url, status: 200, headers: {}, body: one.served.get(url) ?? new Uint8Array() };
      },
    };
    const artifacts = {
      put: async () => undefined,
      get: async (digest: string) => one.stored.get(digest),
    };
    const found = await fetchableArtifact(source, { deps: { artifacts, records: one.records, http }, run: { signal } });
    return { bytes: await found?.bytes(), requests };
  };

  test("reads the recorded artifact, whatever address the status names", async () => {
    const one = await ready();
    const url = "http://evil.test/x";
    one.served.set(url, await artifactOf({ x: "" }));
    await one.patchStatus("ExternalArtifact", "web", { artifact: { url } });
    const { bytes, requests } = await consume(one, "web");
    expect(bytes).toBe(one.stored.get((await one.artifact("web"))?.digest ?? ""));
    expect(requests).toEqual([]);
  });

  test("gets no artifact if the status names another artifact than the generator recorded, and downloads nothing", async () => {
    const one = await ready();
    await one.patchStatus("ExternalArtifact", "web", {
      artifact: { digest: generatedHere.replace(/./g, "0").replace(/^0{7}/, "sha256:") },
    });
    expect(await consume(one, "web")).toEqual({ bytes: undefined, requests: [] });
  });
});

describe("an ArtifactGenerator whose run is killed between two writes", () => {
  /** What matters at the end, without times. */
  const end = async (one: World) => ({
    conditions: await one.conditions(),
    inventory: (await one.status()).inventory?.map(({ digest, name }) => `${name} ${digest}`),
    files: [await one.filesOf("web"), await one.filesOf("new")],
    objects: await one.externalArtifacts(),
  });
  const changed = async (one: World) => {
    const kustomization = { ...one.keyOf("Kustomization", "ks"), group: "kustomize.toolkit.fluxcd.io" };
    await one.subscribe(kustomization, sourceTopic(one.keyOf("ExternalArtifact", "new")));
    await repoWith(one, { "apps/web/a.yaml": "web 2", "apps/new/a.yaml": "new" });
    await one.generator({
      ...split(),
      artifacts: [output("web"), { name: "new", copy: [{ from: "@repo/apps/new/**", to: "@artifact/" }] }],
    });
  };

  test("is repaired by the next run: nothing is lost, nothing is left over, and consumers are woken", async () => {
    const whole = await ready();
    await changed(whole);
    const before = whole.writes.length;
    await whole.run();
    const writes = whole.writes.length - before;
    const expected = await end(whole);
    expect(expected.objects).toEqual(["new", "web"]);
    expect(writes).toBeGreaterThan(10);
    for (let left = 0; left < writes; left++) {
      const one = await ready();
      await changed(one);
      one.state.writesLeft = left;
      await expect(one.run()).rejects.toThrow(Killed);
      one.state.writesLeft = Number.POSITIVE_INFINITY;
      await one.run();
      expect(await end(one)).toEqual(expected);
      expect(one.requested).toContain("Kustomization/ks");
      expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    }
  });

  test("leaves nothing over if it is deleted after the killed run", async () => {
    for (let left = 0; left < 30; left++) {
      const one = await ready();
      await changed(one);
      one.state.writesLeft = left;
      await one.run().catch(() => undefined);
      one.state.writesLeft = Number.POSITIVE_INFINITY;
      await one.remove("ArtifactGenerator", "gen");
      await one.run();
      expect(await one.externalArtifacts()).toEqual([]);
      expect(await one.get("ArtifactGenerator", "gen")).toBeUndefined();
    }
  });
});
