import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { HttpError } from "../../../lib/core/ports/http.ts";
import { readTar } from "../../../lib/sources/archive/read-tar.ts";
import { ociRepository, sourceWorld, type World } from "./source-world.ts";

let world: World;
beforeEach(async () => {
  world = await sourceWorld();
});
afterEach(async () => {
  await world.close();
});

const file = { "a.yaml": "kind: ConfigMap\n" };

describe("what a source has replaced", () => {
  const recordedOf = () => [...world.recorded].map((record) => record.split(" ")[1]);
  const digestInStatus = () =>
    z.object({ artifact: z.object({ digest: z.string() }) }).parse(world.get("app")["status"]).artifact.digest;

  test("11.1/14: is forgotten, but for the last one, which a consumer may still be reading", async () => {
    world.apply(ociRepository("app", { url: url() }));
    const stored: string[] = [];
    for (const version of ["1", "2", "3"]) {
      await world.push("latest", { "a.yaml": `v: ${version}\n` });
      await world.run();
      stored.push(digestInStatus());
      // Nothing new: nothing is forgotten.
      await world.run();
    }
    expect(recordedOf()).toEqual(stored.slice(1));
    expect(world.stored.size).toBe(3);
  });

  test("stays until the status names what took its place: a run that ends before forgets nothing", async () => {
    world.apply(ociRepository("app", { url: url() }));
    await world.push("latest", { "a.yaml": "v: 1\n" });
    await world.run();
    const first = digestInStatus();
    for (const version of ["2", "3"]) {
      await world.push("latest", { "a.yaml": `v: ${version}\n` });
      world.refuseStatus(true);
      await expect(world.run()).rejects.toThrow("the API server is away");
      world.refuseStatus(false);
      expect(recordedOf()).toContain(first);
    }
    await world.run();
    expect(recordedOf()).toEqual(expect.arrayContaining([first, digestInStatus()]));
  });

  test("11.1/10: and everything else, is forgotten when the source is gone", async () => {
    await world.push("latest", file);
    world.apply(ociRepository("app", { url: url() }));
    await world.run();
    expect(recordedOf()).toHaveLength(1);
    world.delete("app");
    await world.run();
    expect(recordedOf()).toEqual([]);
  });
});

describe("a new OCIRepository", () => {
  test("11.1/1: first gets its finalizer, then is reconciled without waiting", async () => {
    await world.push("latest", file);
    world.apply(ociRepository("app", { url: url() }));
    const result = await world.run();
    expect(result).toMatchObject({ outcome: "stored", dueInMs: 3_600_000 });
    expect(world.writes[0]).toMatchObject({
      manager: "source-controller",
      subresource: undefined,
      body: { metadata: { finalizers: ["finalizers.fluxcd.io"] } },
    });
    expect(world.writes.slice(1).every(({ manager }) => manager === "source-controller")).toBe(true);
  });

  test("11.1/2: says that it works on the first generation", async () => {
    await world.push("latest", file);
    world.apply(ociRepository("app", { url: url() }));
    await world.run();
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
    const digest = await world.push("latest", file);
    world.apply(ociRepository("app", { url: url() }));
    await world.run();
    const revision = `latest@${digest}`;
    const stored = { status: "True", reason: "Succeeded", message: `stored artifact for digest '${revision}'` };
    const { status } = world.get("app");
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
    expect([...world.stored.keys()]).toEqual([artifactOf("app").digest]);
    expect([...world.recorded]).toEqual([`uid-of-OCIRepository/apps/app ${artifactOf("app").digest}`]);
  });

  test("listens to its repository before it asks the registry, and wakes whoever is made from it", async () => {
    await world.push("latest", file);
    world.sent.length = 0;
    const askedBefore: number[] = [];
    const { listen } = world.deps.edges;
    world.deps.edges.listen = async (key, whats) => {
      askedBefore.push(world.sent.length);
      await listen(key, whats);
    };
    world.apply(ociRepository("app", { url: url() }));
    await world.run();
    expect(askedBefore).toEqual([0]);
    expect([...world.listens.values()]).toEqual([[`repo#${world.address}/app`]]);
    const source = "here/source.toolkit.fluxcd.io/OCIRepository/apps/app";
    expect(world.requested).toEqual([
      { key: "here/source.toolkit.fluxcd.io/Kustomization/apps/web", why: `new artifact of ${source}` },
    ]);
  });
});

describe("an OCIRepository that has its artifact", () => {
  beforeEach(async () => {
    await world.push("latest", file);
    world.apply(ociRepository("app", { url: url() }));
    await world.run();
    world.writes.length = 0;
    world.requested.length = 0;
  });

  test("11.1/3: is not written to where nothing changed, and wakes nobody", async () => {
    world.state.now += 3_600_000;
    expect(await world.run()).toMatchObject({ outcome: "unchanged", dueInMs: 3_600_000 });
    expect(world.writes).toEqual([]);
    expect(world.requested).toEqual([]);
  });

  test("11.1/8: copies the request that it handled and writes nothing else", async () => {
    world.annotate("app", { "reconcile.fluxcd.io/requestedAt": "one" });
    await world.run();
    expect(world.writes.map(({ body }) => body)).toEqual([{ status: { lastHandledReconcileAt: "one" } }]);
    await world.run();
    expect(world.writes).toHaveLength(1);
  });

  test("11.3/66: tells of a new revision while it is built, then publishes it", async () => {
    const digest = await world.push("latest", { "a.yaml": "kind: Secret\n" });
    await world.run();
    const news = `new revision 'latest@${digest}' for '${world.address}/app:latest'`;
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
    expect(world.requested).toHaveLength(1);
  });

  test("11.1/24: a new revision with the same content is published without an event", async () => {
    const before = artifactOf("app");
    await world.push("latest", { ...file, "photo.png": "left out on push and in the archive" });
    await world.push("latest", { ...file, ".sops.yaml": "left out in the archive only" });
    await world.run();
    const after = artifactOf("app");
    expect(after.revision).not.toBe(before.revision);
    expect(after.digest).toBe(before.digest);
    expect(told()).toHaveLength(1);
    expect(world.requested).toHaveLength(1);
  });

  test("11.1/5, 11.1/25: keeps its artifact through a failure and says when that has gone", async () => {
    const before = artifactOf("app");
    const observed = observedGeneration("app");
    world.apply(ociRepository("app", { url: url(), ref: { tag: "absent" } }));
    expect(await world.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(artifactOf("app")).toEqual(before);
    expect(observedGeneration("app")).toBe(observed);
    expect(condition("app", "Reconciling")).toMatchObject({
      reason: "ProgressingWithRetry",
      message: "processing object: new generation 1 -> 2",
    });
    world.apply(ociRepository("app", { url: url() }));
    await world.run();
    expect(told().map(({ reason }) => reason)).toEqual(["NewArtifact", "OCIArtifactPullFailed", "Succeeded"]);
    expect(conditionTypes("app")).toEqual(["Ready", "ArtifactInStorage"]);
  });

  test("11.1/11: an artifact that is gone from the store is built again", async () => {
    const { revision } = artifactOf("app");
    world.stored.clear();
    await world.run();
    const message = "building artifact: disappeared from storage";
    expect(statusWrites()[0]).toMatchObject({ status: { artifact: null, url: null } });
    expect(JSON.stringify(statusWrites()[0])).toContain(message);
    expect(artifactOf("app").revision).toBe(revision);
    expect(world.stored.size).toBe(1);
  });

  test("an artifact that another wrote into the status is not taken for ours", async () => {
    world.recorded.clear();
    await world.run();
    expect(world.recorded.size).toBe(1);
    expect(world.requested).toHaveLength(0);
  });

  test("11.1/13: only the address follows where the server has another", async () => {
    const before = artifactOf("app");
    world.deps.artifactUrl = (path) => `https://new.example.test/${path}`;
    await world.run();
    expect(artifactOf("app")).toEqual({ ...before, url: `https://new.example.test/${before.path}` });
  });

  test("11.1/9, 11.1/10: suspended it looks at nothing but follows its generation, and can be deleted", async () => {
    world.apply(ociRepository("app", { url: url(), suspend: true }));
    world.annotate("app", { "reconcile.fluxcd.io/requestedAt": "two" });
    world.sent.length = 0;
    expect(await world.run()).toMatchObject({ outcome: "suspended", dueInMs: undefined });
    expect(world.sent).toEqual([]);
    expect(observedGeneration("app")).toBe(2);
    expect(world.get("app")["status"]).toMatchObject({ lastHandledReconcileAt: "two" });
    world.delete("app");
    expect(await world.run()).toMatchObject({ outcome: "deleted" });
    expect(world.has("app")).toBe(false);
    expect([...world.listens.values()]).toEqual([[]]);
  });

  test("a changed spec.ignore builds again at the same revision", async () => {
    const before = artifactOf("app");
    world.apply(ociRepository("app", { url: url(), ignore: "a.yaml\n" }));
    await world.run();
    expect(artifactOf("app").revision).toBe(before.revision);
    expect(artifactOf("app").digest).not.toBe(before.digest);
    expect(world.get("app")["status"]).toMatchObject({ observedIgnore: "a.yaml\n" });
    world.apply(ociRepository("app", { url: url() }));
    await world.run();
    expect(artifactOf("app").digest).toBe(before.digest);
    expect(Object.keys(z.object({}).loose().parse(world.get("app")["status"]))).not.toContain("observedIgnore");
  });
});

describe("which revision", () => {
  test("11.3/62, 63: a digest wins, and once stored the registry is not asked again", async () => {
    const digest = await world.push("1.0.0", file);
    await world.push("2.0.0", { "b.yaml": "kind: Secret\n" });
    world.apply(ociRepository("app", { url: url(), ref: { digest, semver: ">=1.0.0", tag: "2.0.0" } }));
    await world.run();
    expect(artifactOf("app").revision).toBe(digest);
    world.sent.length = 0;
    await world.run();
    expect(world.sent).toEqual([]);
  });

  test.each([
    { name: "64: the filter chooses first", ref: { semver: ">=1.0.0-0", semverFilter: ".*-rc.*" }, tag: "1.3.0-rc.1" },
    { name: "64: a filter without a range is ignored", ref: { tag: "2.0.0", semverFilter: "rc" }, tag: "2.0.0" },
    { name: "the highest in the range", ref: { semver: "1.x" }, tag: "1.2.3" },
    { name: "62: a range wins over a tag", ref: { semver: "1.x", tag: "2.0.0" }, tag: "1.2.3" },
  ])("11.3/$name", async ({ ref, tag }) => {
    for (const version of ["1.0.0", "1.2.3", "1.3.0-rc.1", "2.0.0", "latest"]) {
      await world.push(version, { "v.yaml": version });
    }
    world.apply(ociRepository("app", { url: url(), ref }));
    await world.run();
    expect(artifactOf("app").revision.split("@")[0]).toBe(tag);
  });
});

describe("golden: what Flux wrote of sources that it could reconcile", () => {
  const versions = ["1.0.0", "1.2.3", "1.3.0-rc.1", "2.0.0", "d"];

  test.each([
    { scenario: "oci-semver", step: "01-one-x", name: "app", ref: { semver: "1.x" }, tags: versions },
    {
      scenario: "oci-semver",
      step: "02-filter",
      name: "filtered",
      ref: { semver: ">=1.0.0-0", semverFilter: ".*-rc.*" },
      tags: versions,
    },
    { scenario: "oci-semver", step: "03-digest", name: "pinned", ref: { digest: "of d" }, tags: versions },
    { scenario: "seed-prune", step: "01-create", name: "web", ref: { tag: "latest" }, tags: ["latest"] },
  ])("$scenario, $step", async ({ scenario, step, name, ref, tags }) => {
    let digest = "";
    for (const tag of tags) digest = await world.push(tag, { "a.yaml": tag });
    const wanted = "digest" in ref ? { digest } : ref;
    world.apply(ociRepository(name, { url: url(), ref: wanted }));
    await world.run(name);
    const golden = await recordedFrom(scenario, step, name);
    expect(masked(seenNow(name))).toEqual(masked(golden));
  });
});

describe("an OCIRepository that cannot be reconciled", () => {
  test("golden oci-tag-missing: a tag that is not there", async () => {
    await world.push("present", file);
    world.apply(ociRepository("app", { url: url(), ref: { tag: "absent" } }));
    await world.run();
    const wanted = await recordedFrom("oci-tag-missing", "01-failed", "app");
    expect(seenNow("app")).toEqual(wanted);
  });

  test("golden oci-tag-missing, 11.3/65: no tag in the range", async () => {
    await world.push("present", file);
    world.apply(ociRepository("range", { url: url(), ref: { semver: ">=9.0.0" } }));
    await world.run("range");
    const wanted = await recordedFrom("oci-tag-missing", "02-semver-without-match", "range");
    expect(seenNow("range")).toEqual(wanted);
  });

  test("11.1/6: waits longer after each failure, says the same only once, and starts anew after a success", async () => {
    world.apply(ociRepository("app", { url: url() }));
    const waits: (number | undefined)[] = [];
    for (let tries = 0; tries < 4; tries++) {
      waits.push((await world.run()).dueInMs);
      world.state.now += 5_000;
    }
    expect(waits).toEqual([750, 1_500, 3_000, 6_000]);
    expect(told().map(({ reason }) => reason)).toEqual(["OCIArtifactPullFailed"]);
    const writes = world.writes.length;
    await world.run();
    expect(world.writes).toHaveLength(writes);
    await world.push("latest", file);
    await world.run();
    world.apply(ociRepository("app", { url: url(), ref: { tag: "gone" } }));
    expect((await world.run()).dueInMs).toBe(750);
  });

  test("11.3/60, 11.1/7: a tag in the URL stalls it until the spec changes", async () => {
    world.apply(ociRepository("app", { url: "oci://registry.example.com/app:1.0" }));
    expect(await world.run()).toMatchObject({ outcome: "stalled", dueInMs: undefined });
    const message =
      "URL validation failed for 'oci://registry.example.com/app:1.0': URL must not contain a tag; remove ':1.0'";
    expect(condition("app", "Stalled")).toMatchObject({ status: "True", reason: "URLInvalid", message });
    expect(condition("app", "Ready")).toMatchObject({ status: "False", reason: "URLInvalid", message });
    expect(condition("app", "FetchFailed")).toMatchObject({ reason: "URLInvalid", message });
    expect(conditionTypes("app")).not.toContain("Reconciling");
    expect(observedGeneration("app")).toBe(1);
    expect(told()).toMatchObject([{ type: "Warning", reason: "URLInvalid", message }]);
  });

  test.each([
    { statements: "11.3/79, 80, 81, 82", field: "spec.verify", spec: { verify: { provider: "cosign" } } },
    { statements: "11.3/83, 84", field: "spec.verify", spec: { verify: { provider: "notation" } } },
    { statements: "11.1/29", field: "spec.proxySecretRef", spec: { proxySecretRef: { name: "proxy" } } },
  ])("$statements: $field is refused by name until it is built, never ignored", async ({ field, spec }) => {
    world.apply(ociRepository("app", { url: url(), ...spec }));
    await world.run();
    expect(condition("app", "Stalled")).toMatchObject({
      reason: "UnsupportedField",
      message: expect.stringContaining(`${field} is not supported yet: `),
    });
    expect(condition("app", "Ready")).toMatchObject({ status: "False", reason: "UnsupportedField" });
    expect(world.sent).toEqual([]);
  });

  test("a registry that asks to be left alone is left alone for so long", async () => {
    world.deps.http.send = async () => ({ status: 429, headers: { "retry-after": "40" }, body: new Uint8Array() });
    world.apply(ociRepository("app", { url: url() }));
    expect(await world.run()).toMatchObject({ outcome: "failed", dueInMs: 40_000 });
    expect(condition("app", "Ready")).toMatchObject({
      reason: "OCIArtifactPullFailed",
      message: expect.stringContaining("unexpected status code 429 Too Many Requests"),
    });
  });

  test("a run that ends midway says nothing: the next one finds out", async () => {
    await world.push("latest", file);
    world.apply(ociRepository("app", { url: url() }));
    const stop = new AbortController();
    world.deps.http.send = async () => {
      stop.abort(new Error("the run has ended"));
      throw new HttpError("unreachable", "aborted");
    };
    await expect(world.run("app", stop.signal)).rejects.toThrow("the run has ended");
    expect(world.events).toEqual([]);
    expect(conditionTypes("app")).toEqual(["Reconciling", "Ready"]);
  });

  test("a secret that is not there", async () => {
    world.apply(ociRepository("app", { url: url(), secretRef: { name: "pull" } }));
    await world.run();
    expect(condition("app", "FetchFailed")).toMatchObject({
      reason: "AuthenticationFailed",
      message: `failed to get credential: failed to get secret 'apps/pull': secrets "pull" not found`,
    });
  });

  test("a registry that is down", async () => {
    world.apply(ociRepository("app", { url: "oci://127.0.0.1:1/app" }));
    expect(await world.run()).toMatchObject({ outcome: "failed" });
    expect(condition("app", "Ready")).toMatchObject({
      reason: "OCIArtifactPullFailed",
      message: expect.stringContaining(
        "failed to determine artifact digest: GET http://127.0.0.1:1/v2/: connect ECONNREFUSED",
      ),
    });
  });

  test("11.3/69: a layer that is not there", async () => {
    await world.push("latest", file);
    world.apply(ociRepository("app", { url: url(), layerSelector: { mediaType: "text/x" } }));
    await world.run();
    expect(condition("app", "FetchFailed")).toMatchObject({
      reason: "OCIArtifactLayerOperationFailed",
      message: "failed to find layer with media type 'text/x' in artifact",
    });
    expect(conditionTypes("app")).not.toContain("ArtifactOutdated");
  });
});

test("11.3/70: copy stores the layer as it is, whatever the ignore rules", async () => {
  await world.push("latest", file);
  world.apply(ociRepository("app", { url: url(), layerSelector: { operation: "copy" }, ignore: "*" }));
  await world.run();
  const { digest, size } = artifactOf("app");
  expect(world.stored.get(digest)?.length).toBe(size);
  expect(world.get("app")["status"]).toMatchObject({ observedLayerSelector: { operation: "copy" } });
});

test("the artifact holds the files that were pushed, with Flux's modes", async () => {
  await world.push("latest", { "b/c.yaml": "c", "a.yaml": "a" });
  world.apply(ociRepository("app", { url: url() }));
  await world.run();
  const tar = gunzipSync(world.stored.get(artifactOf("app").digest) ?? new Uint8Array());
  const members: string[] = [];
  async function* once() {
    yield tar;
  }
  for await (const { name, mode } of readTar(once())) members.push(`${mode.toString(8)} ${name}`);
  expect(members).toEqual(["750 .", "600 a.yaml", "750 b", "600 b/c.yaml"]);
});

function url(): string {
  return `oci://${world.address}/app`;
}

const Status = z
  .object({
    observedGeneration: z.number(),
    artifact: z.object({ digest: z.string(), revision: z.string(), path: z.string() }).loose().optional(),
    conditions: z.array(z.object({ type: z.string() }).loose()),
  })
  .loose();

function statusOf(name: string) {
  return Status.parse(world.get(name)["status"]);
}

function artifactOf(name: string) {
  const { artifact } = statusOf(name);
  if (artifact === undefined) throw new Error("no artifact");
  return artifact;
}

function observedGeneration(name: string): number {
  return statusOf(name).observedGeneration;
}

function condition(name: string, type: string) {
  return statusOf(name).conditions.find((one) => one.type === type);
}

function conditionTypes(name: string): string[] {
  return statusOf(name).conditions.map(({ type }) => type);
}

function statusWrites(): unknown[] {
  return world.writes.filter(({ subresource }) => subresource === "status").map(({ body }) => body);
}

function told() {
  return world.events.map(({ type, reason, message, metadata: { annotations } }) => ({
    type,
    reason,
    message,
    annotations,
  }));
}

const Told = z.object({
  object: z.string(),
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  source: z.string(),
  annotations: z.record(z.string(), z.string()).optional(),
});

function componentOf(event: (typeof world.events)[number]): string {
  return z.object({ component: z.string() }).parse(event["source"]).component;
}

function annotated({ metadata: { annotations = {} } }: (typeof world.events)[number]): object {
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

/** Status and events of an object as they are, times left out. */
function seenNow(name: string) {
  const conditions = statusOf(name).conditions.map((one) => ({ ...one, lastTransitionTime: "<time>" }));
  const events = world.events.map((event) =>
    Told.parse({ ...event, object: `OCIRepository/${name}`, source: componentOf(event), ...annotated(event) }),
  );
  return { status: { ...statusOf(name), conditions }, events };
}

/** Without what is different at each push: digests, sizes, times, where the registry is, whose artifact it is. */
function masked(value: object): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/[0-9a-f]{64}/g, "<hex>")
    .replaceAll(/"size":\d+/g, '"size":0')
    .replaceAll(/"(lastUpdateTime|org\.opencontainers\.image\.created)":"[^"]+"/g, '"$1":"<time>"')
    .replaceAll(/sha1:0+/g, "sha1:0")
    .replaceAll(/ocirepository\/[^/]+\//g, "ocirepository/<namespace>/");
  return JSON.parse(text);
}

/** What Flux 2.9 wrote, with its address and names replaced by ours. */
async function recordedFrom(scenario: string, step: string, name: string) {
  const path = join(import.meta.dirname, "../../fixtures/flux", scenario, `${step}.yaml`);
  const recorded = await readFile(path, "utf8");
  const text = recorded.replaceAll("127.0.0.1:15000", world.address).replaceAll(`/golden-${scenario}`, "/app");
  const Recorded = z.object({
    objects: z.array(z.object({ metadata: z.object({ name: z.string() }), status: Status })),
    events: z.array(Told),
  });
  const { objects, events } = Recorded.parse(parseAllDocuments(text)[0]?.toJS());
  const status = objects.find(({ metadata }) => metadata.name === name)?.status;
  return { status, events: events.filter(({ object }) => object === `OCIRepository/${name}`) };
}
