import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { file, seenSources } from "./seen-sources.ts";
import { ociRepository } from "./source-world.ts";

const { world, url, artifactOf, observedGeneration, condition, conditionTypes, statusWrites, told } = seenSources();

/** Two blocks of zeros end a tar. */
const emptyTar = gzipSync(new Uint8Array(1_024));

describe("a new OCIRepository", () => {
  test("11.1/1: first gets its finalizer, and is then reconciled at once", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    const result = await world().run();
    expect(result).toMatchObject({ outcome: "stored", dueInMs: 3_600_000 });
    expect(world().writes[0]).toMatchObject({
      manager: "source-controller",
      subresource: undefined,
      body: { metadata: { finalizers: ["finalizers.fluxcd.io"] } },
    });
    expect(
      world()
        .writes.slice(1)
        .every(({ manager }) => manager === "source-controller"),
    ).toBe(true);
  });

  test("11.1/2: reports Reconciling for its first generation", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    const message = "processing object: new generation -1 -> 1";
    expect(statusWrites()[0]).toMatchObject({
      status: {
        conditions: [
          { type: "Reconciling", status: "True", reason: "Progressing", message },
          { type: "Ready", status: "Unknown", reason: "Progressing", message },
        ],
      },
    });
  });

  test("11.1/4, 11.1/27, 11.3/61, 67, 68: pulls the tag latest and becomes Ready with Flux's message", async () => {
    const digest = await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    const revision = `latest@${digest}`;
    const stored = { status: "True", reason: "Succeeded", message: `stored artifact for digest '${revision}'` };
    const { status } = world().get("app");
    expect(status).toEqual({
      artifact: {
        digest: expect.stringMatching(/^sha256:/),
        lastUpdateTime: "2026-11-21T12:00:00Z",
        metadata: {
          "org.opencontainers.image.created": "1970-01-01T00:00:00Z",
          "org.opencontainers.image.revision": "main@sha1:0000",
          "org.opencontainers.image.source": "https://example.test/repo",
        },
        path: `ocirepository/apps/app/${digest}.tar.gz`,
        revision,
        size: expect.any(Number),
        url: `http://127.0.0.1:19790/ocirepository/apps/app/${digest}.tar.gz`,
      },
      conditions: [
        expect.objectContaining({ ...stored, type: "Ready", observedGeneration: 1 }),
        expect.objectContaining({ ...stored, type: "ArtifactInStorage", observedGeneration: 1 }),
      ],
      observedGeneration: 1,
      url: "http://127.0.0.1:19790/ocirepository/apps/app/latest.tar.gz",
    });
    expect(told()).toEqual([
      {
        type: "Normal",
        reason: "NewArtifact",
        message: `stored artifact with revision '${revision}' from '${url()}', origin source 'https://example.test/repo', origin revision 'main@sha1:0000'`,
        annotations: {
          "source.toolkit.fluxcd.io/revision": revision,
          "source.toolkit.fluxcd.io/digest": artifactOf("app").digest,
        },
      },
    ]);
    expect([...world().stored.keys()]).toEqual([artifactOf("app").digest]);
    expect([...world().recorded]).toEqual([`uid-of-OCIRepository/apps/app ${artifactOf("app").digest}`]);
  });

  test.each([
    { only: "a source", manifest: { "org.opencontainers.image.source": "https://example.test/repo" } },
    { only: "a revision", manifest: { "org.opencontainers.image.revision": "main@sha1:0000" } },
    {
      only: "an empty source",
      manifest: { "org.opencontainers.image.source": "", "org.opencontainers.image.revision": "r" },
    },
  ])("11.3/67, 68: if an artifact has only $only, the event names no origin", async ({ manifest: annotations }) => {
    await world().pushLayer("latest", emptyTar, { annotations });
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    const { revision, metadata } = artifactOf("app");
    expect(metadata).toEqual(annotations);
    expect(told().map(({ message }) => message)).toEqual([
      `stored artifact with revision '${revision}' from '${url()}'`,
    ]);
  });

  test("subscribes to its repository before its first request, and wakes its consumers (15)", async () => {
    await world().push("latest", file);
    world().sent.length = 0;
    const askedBefore: number[] = [];
    const { subscribe } = world().deps.subscriptions;
    world().deps.subscriptions.subscribe = async (...args) => {
      askedBefore.push(world().sent.length);
      await subscribe(...args);
    };
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    expect(askedBefore).toEqual([0]);
    expect([...world().listens.values()]).toEqual([
      [{ topic: `repo#${world().address}/app`, follows: { kind: "names", names: ["latest"] } }],
    ]);
    const source = "here/source.toolkit.fluxcd.io/OCIRepository/apps/app";
    expect(world().requested).toEqual([
      { key: "here/source.toolkit.fluxcd.io/Kustomization/apps/web", why: `new artifact of ${source}` },
    ]);
  });

  test("in the next run wakes the consumers that a killed run did not wake", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    const { carried } = world().state;
    await world().push("latest", { ...file, "more.yaml": "a: 1" });
    const { requests } = world().deps;
    world().deps.requests = { request: () => Promise.reject(new Error("killed")) };
    await expect(world().run()).rejects.toThrow("killed");
    // Nothing of that run was kept.
    world().state.carried = carried;
    world().deps.requests = requests;
    const before = world().requested.length;
    await world().run();
    expect(world().requested).toHaveLength(before + 1);
    await world().run();
    expect(world().requested).toHaveLength(before + 1);
  });

  test("wakes its consumers when it is deleted, because they may have cached it", async () => {
    await world().push("latest", { "a.yaml": "kind: ConfigMap\n" });
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    for (const gone of ["is deleted", "is gone"]) {
      world().requested.length = 0;
      if (gone === "is deleted") world().delete("app");
      await world().run();
      expect(world().requested).toEqual([
        {
          key: "here/source.toolkit.fluxcd.io/Kustomization/apps/web",
          why: `here/source.toolkit.fluxcd.io/OCIRepository/apps/app ${gone}`,
        },
      ]);
    }
  });

  test("wakes its consumers in the first run after an outage", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    const { requests } = world().deps;
    world().deps.requests = { request: () => Promise.reject(new Error("the queue is away")) };
    await expect(world().run()).rejects.toThrow("the queue is away");
    // As the flow's patience leaves it.
    world().state.carried = { outage: { tries: 1, since: 0, told: false } };
    world().deps.requests = requests;
    await world().run();
    expect(world().requested).toHaveLength(1);
    await world().run();
    expect(world().requested).toHaveLength(1);
  });
});

describe("an OCIRepository that has its artifact", () => {
  beforeEach(async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    world().writes.length = 0;
    world().requested.length = 0;
  });

  test("11.1/3: if nothing has changed, writes no status and wakes no consumer; one event says that it is up to date", async () => {
    const { revision } = artifactOf("app");
    const before = told();
    world().state.now += 3_600_000;
    expect(await world().run()).toMatchObject({ outcome: "unchanged", dueInMs: 3_600_000 });
    expect(statusWrites()).toEqual([]);
    expect(world().writes).toHaveLength(1);
    expect(told()).toEqual([
      ...before,
      {
        type: "Normal",
        reason: "ArtifactUpToDate",
        message: `artifact up-to-date with remote revision: '${revision}'`,
        annotations: {},
      },
    ]);
    expect(world().requested).toEqual([]);
  });

  test("11.1/8: records the request that it handled and writes nothing else", async () => {
    world().annotate("app", { "reconcile.fluxcd.io/requestedAt": "one" });
    await world().run();
    expect(statusWrites()).toEqual([{ status: { lastHandledReconcileAt: "one" } }]);
    await world().run();
    expect(statusWrites()).toHaveLength(1);
  });

  test.each([
    { end: "a failure", spec: { ref: { tag: "absent" } }, outcome: "failed" },
    { end: "a stall", spec: { url: "oci://registry.example.test/app:1.0" }, outcome: "stalled" },
    { end: "a field that is refused", spec: { provider: "gcp" }, outcome: "stalled" },
  ])("11.1/8: records the request that it handled when the run ends in $end", async ({ spec, outcome }) => {
    world().apply(ociRepository("app", { url: url(), ...spec }));
    world().annotate("app", { "reconcile.fluxcd.io/requestedAt": "one" });
    expect(await world().run()).toMatchObject({ outcome });
    expect(world().get("app")["status"]).toMatchObject({ lastHandledReconcileAt: "one" });
  });

  test("11.3/66: reports a new revision while it is being built, and then publishes it", async () => {
    const digest = await world().push("latest", { "a.yaml": "kind: Secret\n" });
    await world().run();
    const news = `new revision 'latest@${digest}' for '${world().address}/app:latest'`;
    const building = { reason: "Progressing", message: `building artifact: ${news}` };
    expect(statusWrites()[0]).toMatchObject({
      status: {
        conditions: [
          { ...building, type: "Reconciling", status: "True" },
          { ...building, type: "Ready", status: "Unknown" },
          { type: "ArtifactInStorage" },
          { type: "ArtifactOutdated", status: "True", reason: "NewRevision", message: news },
        ],
      },
    });
    expect(conditionTypes("app")).toEqual(["Ready", "ArtifactInStorage"]);
    expect(artifactOf("app").revision).toBe(`latest@${digest}`);
    expect(told().map(({ reason }) => reason)).toEqual(["NewArtifact", "NewArtifact"]);
    expect(world().requested).toHaveLength(1);
  });

  test("11.1/24: publishes a new revision with the same content without an event", async () => {
    const before = artifactOf("app");
    await world().push("latest", { ...file, "photo.png": "left out on push and in the archive" });
    await world().push("latest", { ...file, ".sops.yaml": "left out in the archive only" });
    await world().run();
    const after = artifactOf("app");
    expect(after.revision).not.toBe(before.revision);
    expect(after.digest).toBe(before.digest);
    expect(told()).toHaveLength(1);
    expect(world().requested).toHaveLength(1);
  });

  test("11.1/5, 11.1/25: keeps its artifact during a failure and announces the recovery", async () => {
    const before = artifactOf("app");
    const observed = observedGeneration("app");
    world().apply(ociRepository("app", { url: url(), ref: { tag: "absent" } }));
    expect(await world().run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(artifactOf("app")).toEqual(before);
    expect(observedGeneration("app")).toBe(observed);
    expect(condition("app", "Reconciling")).toMatchObject({
      reason: "ProgressingWithRetry",
      message: "processing object: new generation 1 -> 2",
    });
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    expect(told().map(({ reason }) => reason)).toEqual([
      "NewArtifact",
      "OCIArtifactPullFailed",
      "ArtifactUpToDate",
      "Succeeded",
    ]);
    expect(conditionTypes("app")).toEqual(["Ready", "ArtifactInStorage"]);
  });

  test("11.1/11: rebuilds an artifact that is missing from the store, without an event", async () => {
    const { revision } = artifactOf("app");
    const before = told();
    world().stored.clear();
    await world().run();
    expect(told()).toEqual(before);
    const message = "building artifact: disappeared from storage";
    expect(statusWrites()[0]).toMatchObject({ status: { artifact: null, url: null } });
    expect(JSON.stringify(statusWrites()[0])).toContain(message);
    expect(artifactOf("app").revision).toBe(revision);
    expect(world().stored.size).toBe(1);
  });

  test("an unchanged source does not read its artifact", async () => {
    const { get } = world().deps.artifacts;
    const read: string[] = [];
    world().deps.artifacts.get = async (digest) => {
      read.push(digest);
      return get(digest);
    };
    await world().run();
    world().deps.artifacts.get = get;
    expect(read).toEqual([]);
  });

  test("does not trust an artifact that a user wrote into the status", async () => {
    world().forgetRecords();
    await world().run();
    expect(world().recorded.size).toBe(1);
    expect(world().requested).toHaveLength(0);
  });

  test("11.1/13: if the server's address changes, only the URL in the status changes, and nothing is announced", async () => {
    const before = artifactOf("app");
    const { status } = world().get("app");
    const toldBefore = told().filter(({ reason }) => reason !== "ArtifactUpToDate");
    world().deps.artifactUrl = (path) => `https://new.example.test/${path}`;
    world().state.now += 3_600_000;
    await world().run();
    expect(world().get("app")["status"]).toEqual({
      ...Object(status),
      artifact: { ...before, url: `https://new.example.test/${before.path}` },
      url: "https://new.example.test/ocirepository/apps/app/latest.tar.gz",
    });
    expect(told().filter(({ reason }) => reason !== "ArtifactUpToDate")).toEqual(toldBefore);
    expect(world().requested).toEqual([]);
  });

  test("rebuilds the artifact at the same revision when spec.ignore changes", async () => {
    const before = artifactOf("app");
    world().apply(ociRepository("app", { url: url(), ignore: "a.yaml\n" }));
    await world().run();
    expect(artifactOf("app").revision).toBe(before.revision);
    expect(artifactOf("app").digest).not.toBe(before.digest);
    expect(world().get("app")["status"]).toMatchObject({ observedIgnore: "a.yaml\n" });
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    expect(artifactOf("app").digest).toBe(before.digest);
    expect(Object.keys(z.object({}).loose().parse(world().get("app")["status"]))).not.toContain("observedIgnore");
  });
});
