import { afterAll, describe, expect, test } from "vitest";
import { Digest, digestOf } from "../../../../lib/core/digest.ts";
import { sourceTopic } from "../../../../lib/core/topics.ts";
import { sourceRetryMs } from "../../../../lib/flows/artifact-generator/artifact-generator-flow.ts";
import { fetchableArtifact, generatedHere } from "../../../../lib/flows/source/read-source.ts";
import { artifactOf } from "../../manifests/build-files.ts";
import { files, generatorSpaces, output, repoWith, signal, split, succeeded, type World } from "./generator-spaces.ts";

const spaces = await generatorSpaces();
const { ready, world } = spaces;
afterAll(() => spaces[Symbol.asyncDispose]());

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
  const consume = async (one: World, name: string, namespace = one.namespace) => {
    const live = await one.get("ExternalArtifact", name);
    const artifact = await one.artifact(name);
    if (live === undefined || artifact === undefined) throw new Error("no artifact");
    const requests: string[] = [];
    const source = { key: one.keyOf("ExternalArtifact", name, namespace), uid: live.metadata.uid, artifact };
    const http = {
      async send({ url }: { readonly url: string }) {
        requests.push(url);
        return { url, status: 200, headers: {}, body: one.served.get(url) ?? new Uint8Array() };
      },
    };
    const artifacts = {
      put: async () => undefined,
      get: async (digest: string) => one.stored.get(digest),
      has: async (digest: string) => one.stored.has(digest),
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

  test("of the same name in another namespace gets nothing from the store: the file is downloaded from the address in its status", async () => {
    const one = await ready();
    const { digest = "", url = "" } = (await one.artifact("web")) ?? {};
    const bytes = one.stored.get(digest) ?? new Uint8Array();
    one.served.set(url, bytes);
    expect(await consume(one, "web", `${one.namespace}-2`)).toEqual({ bytes, requests: [url] });
  });

  test("gets no artifact if the status names another artifact than the generator recorded, and downloads nothing", async () => {
    const one = await ready();
    await one.patchStatus("ExternalArtifact", "web", {
      artifact: { digest: generatedHere.replace(/./g, "0").replace(/^0{7}/, "sha256:") },
    });
    expect(await consume(one, "web")).toEqual({ bytes: undefined, requests: [] });
  });
});
