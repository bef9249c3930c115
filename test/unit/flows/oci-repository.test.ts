import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { OciRepositoryStatus } from "../../../lib/api/oci-repository.ts";
import { HttpError } from "../../../lib/core/ports/http.ts";
import { maxRegistryTimeoutMs } from "../../../lib/flows/oci-repository/registry-of.ts";
import { file, seenSources } from "./seen-sources.ts";
import { ociRepository } from "./source-world.ts";

const { world, url, artifactOf, observedGeneration, condition, conditionTypes, statusWrites, told } = seenSources();

/** Two blocks of zeros end a tar. */
const emptyTar = gzipSync(new Uint8Array(1_024));

describe("what a source has replaced", () => {
  const recordedOf = () => [...world().recorded].map((record) => record.split(" ")[1]);
  const digestInStatus = () =>
    z.object({ artifact: z.object({ digest: z.string() }) }).parse(world().get("app")["status"]).artifact.digest;

  test("11.1/14: is forgotten, but for the last one, which a consumer may still be reading", async () => {
    world().apply(ociRepository("app", { url: url() }));
    const stored: string[] = [];
    for (const version of ["1", "2", "3"]) {
      await world().push("latest", { "a.yaml": `v: ${version}\n` });
      await world().run();
      stored.push(digestInStatus());
      // Nothing new: nothing is forgotten.
      await world().run();
    }
    expect(recordedOf()).toEqual(stored.slice(1));
    expect(world().stored.size).toBe(3);
  });

  test("stays until the status names what took its place: a run that ends before forgets nothing", async () => {
    world().apply(ociRepository("app", { url: url() }));
    await world().push("latest", { "a.yaml": "v: 1\n" });
    await world().run();
    const first = digestInStatus();
    for (const version of ["2", "3"]) {
      await world().push("latest", { "a.yaml": `v: ${version}\n` });
      world().refuseStatus(true);
      await expect(world().run()).rejects.toThrow("the API server is away");
      world().refuseStatus(false);
      expect(recordedOf()).toContain(first);
    }
    await world().run();
    expect(recordedOf()).toEqual(expect.arrayContaining([first, digestInStatus()]));
  });

  test("11.1/10: and everything else, is forgotten when the source is gone", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    expect(recordedOf()).toHaveLength(1);
    world().delete("app");
    await world().run();
    expect(recordedOf()).toEqual([]);
  });
});

describe("a new OCIRepository", () => {
  test("11.1/1: first gets its finalizer, then is reconciled without waiting", async () => {
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

  test("11.1/2: says that it works on the first generation", async () => {
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

  test("11.1/4, 11.1/27, 11.3/61, 67, 68: takes the tag latest and ends Ready with what Flux says", async () => {
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
  ])("11.3/67, 68: of an artifact with only $only the event names no origin", async ({ manifest: annotations }) => {
    await world().pushLayer("latest", emptyTar, { annotations });
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    const { revision, metadata } = artifactOf("app");
    expect(metadata).toEqual(annotations);
    expect(told().map(({ message }) => message)).toEqual([
      `stored artifact with revision '${revision}' from '${url()}'`,
    ]);
  });

  test("listens to its repository before it asks the registry, and wakes whoever waits for it (15)", async () => {
    await world().push("latest", file);
    world().sent.length = 0;
    const askedBefore: number[] = [];
    const { listen } = world().deps.edges;
    world().deps.edges.listen = async (...args) => {
      askedBefore.push(world().sent.length);
      await listen(...args);
    };
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    expect(askedBefore).toEqual([0]);
    expect([...world().listens.values()]).toEqual([[`repo#${world().address}/app`]]);
    const source = "here/source.toolkit.fluxcd.io/OCIRepository/apps/app";
    expect(world().requested).toEqual([
      { key: "here/source.toolkit.fluxcd.io/Kustomization/apps/web", why: `new artifact of ${source}` },
    ]);
  });

  test("wakes in the next run whoever it was killed before it could wake", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    const { memo } = world().state;
    await world().push("latest", { ...file, "more.yaml": "a: 1" });
    const { requests } = world().deps;
    world().deps.requests = { request: () => Promise.reject(new Error("killed")) };
    await expect(world().run()).rejects.toThrow("killed");
    // Nothing of that run was kept.
    world().state.memo = memo;
    world().deps.requests = requests;
    const before = world().requested.length;
    await world().run();
    expect(world().requested).toHaveLength(before + 1);
    await world().run();
    expect(world().requested).toHaveLength(before + 1);
  });

  test("wakes in the run that outlasts an outage whoever it could not wake before", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    const { requests } = world().deps;
    world().deps.requests = { request: () => Promise.reject(new Error("the queue is away")) };
    await expect(world().run()).rejects.toThrow("the queue is away");
    // As the flow's patience leaves it.
    world().state.memo = { outage: { tries: 1, since: 0, told: false } };
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

  test("11.1/3: is not written to where nothing changed, and wakes nobody; one event says that all is up to date", async () => {
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

  test("11.1/8: copies the request that it handled and writes nothing else", async () => {
    world().annotate("app", { "reconcile.fluxcd.io/requestedAt": "one" });
    await world().run();
    expect(statusWrites()).toEqual([{ status: { lastHandledReconcileAt: "one" } }]);
    await world().run();
    expect(statusWrites()).toHaveLength(1);
  });

  test.each([
    { end: "a failure", spec: { ref: { tag: "absent" } }, outcome: "failed" },
    { end: "a stall", spec: { url: "oci://registry.example.test/app:1.0" }, outcome: "stalled" },
    { end: "a field that is refused", spec: { verify: { provider: "cosign" } }, outcome: "stalled" },
  ])("11.1/8: copies the request that it handled when the run ends in $end", async ({ spec, outcome }) => {
    world().apply(ociRepository("app", { url: url(), ...spec }));
    world().annotate("app", { "reconcile.fluxcd.io/requestedAt": "one" });
    expect(await world().run()).toMatchObject({ outcome });
    expect(world().get("app")["status"]).toMatchObject({ lastHandledReconcileAt: "one" });
  });

  test("11.3/66: tells of a new revision while it is built, then publishes it", async () => {
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

  test("11.1/24: a new revision with the same content is published without an event", async () => {
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

  test("11.1/5, 11.1/25: keeps its artifact through a failure and says when that has gone", async () => {
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

  test("11.1/11: an artifact that is gone from the store is built again, without an event", async () => {
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

  test("an artifact that another wrote into the status is not taken for ours", async () => {
    world().forgetRecords();
    await world().run();
    expect(world().recorded.size).toBe(1);
    expect(world().requested).toHaveLength(0);
  });

  test("11.1/13: only the addresses follow where the server has another, and nothing else is news", async () => {
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

  test("11.1/9, 11.1/10: suspended it looks at nothing but follows its generation, and can be deleted", async () => {
    const { status } = world().get("app");
    const { conditions = [] } = OciRepositoryStatus.parse(status);
    world().apply(ociRepository("app", { url: url(), ref: { tag: "other" }, ignore: "a.yaml", suspend: true }));
    world().annotate("app", { "reconcile.fluxcd.io/requestedAt": "two" });
    world().sent.length = 0;
    world().state.now += 5_000;
    const asked: string[] = [];
    const { artifacts, records } = world().deps;
    world().deps.artifacts = { get: ask("get"), put: ask("put") };
    world().deps.records = { record: ask("record"), retain: ask("retain"), recorded: ask("recorded") };
    function ask(what: string) {
      return async (): Promise<never> => {
        asked.push(what);
        throw new Error("a suspended source looked into the storage");
      };
    }
    expect(await world().run()).toMatchObject({ outcome: "suspended", dueInMs: undefined });
    expect([world().sent, asked]).toEqual([[], []]);
    expect(world().get("app")["status"]).toEqual({
      ...Object(status),
      observedGeneration: 2,
      lastHandledReconcileAt: "two",
      conditions: conditions.map((one) => (one.type === "Ready" ? { ...one, observedGeneration: 2 } : one)),
    });

    Object.assign(world().deps, { artifacts, records });
    expect(world().recorded.size).toBe(1);
    world().delete("app");
    expect(await world().run()).toMatchObject({ outcome: "deleted" });
    expect(world().has("app")).toBe(false);
    expect([...world().listens.values()]).toEqual([[]]);
    expect([...world().recorded]).toEqual([]);
  });

  test("11.1/9: suspended after a failure it is to be tried again, under the new generation, as Flux sums it up", async () => {
    world().apply(ociRepository("app", { url: url(), ref: { tag: "absent" } }));
    await world().run();
    const { conditions = [] } = OciRepositoryStatus.parse(world().get("app")["status"]);
    expect(conditionTypes("app")).toEqual(["Reconciling", "Ready", "FetchFailed", "ArtifactInStorage"]);
    world().apply(ociRepository("app", { url: url(), suspend: true }));
    await world().run();
    const moved = ["Reconciling", "Ready"];
    expect(world().get("app")["status"]).toMatchObject({
      observedGeneration: 3,
      conditions: conditions.map((one) => (moved.includes(one.type) ? { ...one, observedGeneration: 3 } : one)),
    });
  });

  test("11.1/9: suspended while it is stalled it is no longer, and stays not ready", async () => {
    world().apply(ociRepository("app", { url: "oci://registry.example.test/app:1.0" }));
    await world().run();
    expect(conditionTypes("app")).toContain("Stalled");
    world().apply(ociRepository("app", { url: "oci://registry.example.test/app:1.0", suspend: true }));
    await world().run();
    expect(conditionTypes("app")).not.toContain("Stalled");
    expect(condition("app", "Ready")).toMatchObject({ status: "False", reason: "URLInvalid", observedGeneration: 3 });
  });

  test("11.1/9: suspended from the beginning nothing is said of it, and no generation counts as seen", async () => {
    world().apply(ociRepository("new", { url: url(), suspend: true }));
    world().annotate("new", { "reconcile.fluxcd.io/requestedAt": "one" });
    await world().run("new");
    expect(world().get("new")["status"]).toEqual({ observedGeneration: -1, lastHandledReconcileAt: "one" });
  });

  test("a changed spec.ignore builds again at the same revision", async () => {
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

describe("the durations of a spec", () => {
  test.each([
    { timeout: "59999.5ms", timeoutMs: 60_000 },
    { timeout: "899999ms", timeoutMs: 899_999 },
    { timeout: "15m", timeoutMs: maxRegistryTimeoutMs },
    { timeout: "15m1s", timeoutMs: maxRegistryTimeoutMs },
    { timeout: "99999999m", timeoutMs: maxRegistryTimeoutMs },
  ])("a request with a timeout of $timeout is given $timeoutMs ms", async ({ timeout, timeoutMs }) => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url(), timeout }));
    await world().run();
    expect(world().sent.find(({ url: asked }) => asked.includes("/manifests/"))).toMatchObject({ timeoutMs });
  });

  test("the timeout is one for all that a run asks of the registry, and the next run has it anew", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url(), timeout: "60s" }));
    world().sent.length = 0;
    const open = { ...world().deps.http };
    world().deps.http.send = async (request, signal) => {
      const response = await open.send(request, signal);
      world().state.now += 25_000;
      return response;
    };
    expect(await world().run()).toMatchObject({ outcome: "failed" });
    expect(world().sent.map(({ timeoutMs }) => timeoutMs)).toEqual([5_000, 5_000, 35_000, 10_000]);
    const late = "no answer within the 60000 ms that all requests have together";
    expect(condition("app", "FetchFailed")).toMatchObject({
      reason: "OCIArtifactLayerOperationFailed",
      message: expect.stringMatching(`^failed to extract layer contents from artifact: GET \\S+/blobs/\\S+: ${late}$`),
    });

    world().deps.http.send = async (request, signal) => {
      world().state.now += 25_000;
      if (!request.url.includes("/manifests/")) return open.send(request, signal);
      throw new HttpError("timeout", `no answer within ${request.timeoutMs} ms`);
    };
    await world().run();
    expect(condition("app", "FetchFailed")).toMatchObject({
      message: `failed to determine artifact digest: HEAD http://${world().address}/v2/app/manifests/latest: ${late}`,
    });
  });

  test("a timeout that Go cannot hold is refused by its name", async () => {
    world().apply(ociRepository("app", { url: url(), timeout: "153722868m" }));
    expect(await world().run()).toMatchObject({ outcome: "stalled" });
    expect(condition("app", "Ready")).toMatchObject({
      reason: "InvalidSpec",
      message: expect.stringContaining("spec.timeout: must be a duration of at most 2562047h47m16s"),
    });
  });

  test("an interval shorter than a second runs once a second, which it says once for each spec; 0s runs when asked to", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url(), interval: "1ms" }));
    for (let run = 0; run < 3; run++) expect(await world().run()).toMatchObject({ dueInMs: 1_000 });
    const warnings = () => told().filter(({ type }) => type === "Warning");
    expect(warnings()).toEqual([
      expect.objectContaining({
        reason: "IntervalTooShort",
        message: "spec.interval 1ms is shorter than a second: it runs at most once a second",
      }),
    ]);
    world().apply(ociRepository("app", { url: url(), interval: "0s" }));
    expect(await world().run()).toMatchObject({ outcome: "unchanged", dueInMs: undefined });
    world().apply(ociRepository("app", { url: url(), interval: "0s", ref: { tag: "absent" } }));
    const retries = [await world().run(), await world().run()].map(({ dueInMs }) => dueInMs);
    expect(retries).toEqual([750, 1_500]);
    expect(warnings().filter(({ reason }) => reason === "IntervalTooShort")).toHaveLength(1);
  });
});
