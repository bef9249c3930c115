import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { HttpError } from "../../../lib/core/ports/http.ts";
import { file, seenSources } from "./seen-sources.ts";
import { ociRepository } from "./source-world.ts";

const { world, url, artifactOf, observedGeneration, condition, conditionTypes, told, seenNow, recordedFrom } =
  seenSources();

describe("an OCIRepository that cannot be reconciled", () => {
  test("golden oci-tag-missing: a tag that does not exist fails", async () => {
    await world().push("present", file);
    world().apply(ociRepository("app", { url: url(), ref: { tag: "absent" } }));
    await world().run();
    const wanted = await recordedFrom("oci-tag-missing", "01-failed", "app");
    expect(seenNow("app")).toEqual(wanted);
  });

  test("golden oci-tag-missing, 11.3/65: a range without a matching tag fails", async () => {
    await world().push("present", file);
    world().apply(ociRepository("range", { url: url(), ref: { semver: ">=9.0.0" } }));
    await world().run("range");
    const wanted = await recordedFrom("oci-tag-missing", "02-semver-without-match", "range");
    expect(seenNow("range")).toEqual(wanted);
  });

  test("11.1/6: waits longer after each failure, reports the same failure once, and starts again from 750 ms after a success", async () => {
    world().apply(ociRepository("app", { url: url() }));
    const waits: (number | undefined)[] = [];
    for (let tries = 0; tries < 4; tries++) {
      waits.push((await world().run()).dueInMs);
      world().state.now += 5_000;
    }
    expect(waits).toEqual([750, 1_500, 3_000, 6_000]);
    expect(told().map(({ reason }) => reason)).toEqual(["OCIArtifactPullFailed"]);
    const writes = world().writes.length;
    await world().run();
    expect(world().writes).toHaveLength(writes);
    await world().push("latest", file);
    await world().run();
    world().apply(ociRepository("app", { url: url(), ref: { tag: "gone" } }));
    expect((await world().run()).dueInMs).toBe(750);
  });

  test("11.1/6: waits twice as long after each failure, up to 15 minutes", async () => {
    world().apply(ociRepository("app", { url: url(), ref: { tag: "missing" } }));
    const waits: unknown[] = [];
    for (let run = 0; run < 13; run++) waits.push((await world().run()).dueInMs);
    expect(waits).toEqual([...Array.from({ length: 11 }, (_, failures) => 750 * 2 ** failures), 900_000, 900_000]);
  });

  test("reports a failure again for each new request, but only once per request", async () => {
    world().apply(ociRepository("app", { url: url(), ref: { tag: "missing" } }));
    const counts: number[] = [];
    for (const request of [undefined, undefined, "one", "one", "two", "two"]) {
      if (request !== undefined) world().annotate("app", { "reconcile.fluxcd.io/requestedAt": request });
      await world().run();
      counts.push(told().length);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 3]);
  });

  test("an artifact that was not stored is neither recorded nor named in the status", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    world().deps.artifacts.put = () => Promise.reject(new Error("the storage is away"));
    await expect(world().run()).rejects.toThrow("the storage is away");
    expect([...world().recorded]).toEqual([]);
    expect(world().get("app")["status"]).not.toHaveProperty("artifact");
  });

  test("11.3/60, 11.1/7: a tag in the URL stalls it until the spec changes", async () => {
    world().apply(ociRepository("app", { url: "oci://registry.example.com/app:1.0" }));
    expect(await world().run()).toMatchObject({ outcome: "stalled", dueInMs: undefined });
    const message =
      "URL validation failed for 'oci://registry.example.com/app:1.0': repository can only contain the characters `abcdefghijklmnopqrstuvwxyz0123456789_-./`: app:1.0";
    expect(condition("app", "Stalled")).toMatchObject({ status: "True", reason: "URLInvalid", message });
    expect(condition("app", "Ready")).toMatchObject({ status: "False", reason: "URLInvalid", message });
    expect(condition("app", "FetchFailed")).toMatchObject({ reason: "URLInvalid", message });
    expect(conditionTypes("app")).not.toContain("Reconciling");
    expect(observedGeneration("app")).toBe(1);
    expect(told()).toMatchObject([{ type: "Warning", reason: "URLInvalid", message }]);
  });

  test.each([
    ["nonsense", 'cannot parse hash: "nonsense"'],
    ["sha256:xyz", "found non-hex character in hash: x"],
    [`sha256:${"A".repeat(64)}`, "found non-hex character in hash: A"],
    [`sha512:${"0".repeat(128)}`, 'unsupported hash: "sha512"'],
    ["sha256:00", "wrong number of hex digits for sha256: 00"],
  ])("spec.ref.digest %s fails with the message of Flux's library", async (digest, why) => {
    world().apply(ociRepository("app", { url: url(), ref: { digest } }));
    await world().run();
    const message = `failed to determine artifact digest: ${why}`;
    expect(condition("app", "Ready")).toMatchObject({ reason: "OCIArtifactPullFailed", message });
    expect(world().sent).toEqual([]);
  });

  test("after a registry's Retry-After the next run waits for that long", async () => {
    world().deps.http.send = async ({ url }) => ({
      url,
      status: 429,
      headers: { "retry-after": "40" },
      body: new Uint8Array(),
    });
    world().apply(ociRepository("app", { url: url() }));
    expect(await world().run()).toMatchObject({ outcome: "failed", dueInMs: 40_000 });
    expect(condition("app", "Ready")).toMatchObject({
      reason: "OCIArtifactPullFailed",
      message: expect.stringContaining("unexpected status code 429 Too Many Requests"),
    });
  });

  test("a Retry-After shorter than the back-off does not shorten it", async () => {
    world().deps.http.send = async ({ url: asked }) => ({
      url: asked,
      status: 503,
      headers: { "retry-after": "2" },
      body: new Uint8Array(),
    });
    world().apply(ociRepository("app", { url: url() }));
    const waits: unknown[] = [];
    for (let run = 0; run < 4; run++) waits.push((await world().run()).dueInMs);
    expect(waits).toEqual([2_000, 2_000, 3_000, 6_000]);
  });

  test("an aborted run writes nothing, and the next run continues", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    const stop = new AbortController();
    world().deps.http.send = async () => {
      stop.abort(new Error("the run has ended"));
      throw new HttpError("unreachable", "aborted");
    };
    await expect(world().run("app", stop.signal)).rejects.toThrow("the run has ended");
    expect(world().events).toEqual([]);
    expect(conditionTypes("app")).toEqual(["Reconciling", "Ready"]);
  });

  test("a missing Secret fails the run", async () => {
    world().apply(ociRepository("app", { url: url(), secretRef: { name: "pull" } }));
    await world().run();
    expect(condition("app", "FetchFailed")).toMatchObject({
      reason: "AuthenticationFailed",
      message: `failed to get credential: failed to get secret 'apps/pull': secrets "pull" not found`,
    });
    expect(told()).toMatchObject([{ type: "Warning", reason: "AuthenticationFailed" }]);
  });

  test("a registry that is down fails the run", async () => {
    world().apply(ociRepository("app", { url: "oci://127.0.0.1:1/app" }));
    expect(await world().run()).toMatchObject({ outcome: "failed" });
    expect(condition("app", "Ready")).toMatchObject({
      reason: "OCIArtifactPullFailed",
      message:
        'failed to determine artifact digest: Get "https://127.0.0.1:1/v2/": dial tcp 127.0.0.1:1: connect: connection refused; Get "http://127.0.0.1:1/v2/": dial tcp 127.0.0.1:1: connect: connection refused',
    });
  });

  test("a layer that is not a tar archive fails the run, and the last artifact is kept", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    const before = artifactOf("app");
    const announced = world().requested.length;
    await world().pushLayer("latest", gzipSync("hello"));
    expect(await world().run()).toMatchObject({ outcome: "failed" });
    expect(condition("app", "Ready")).toMatchObject({
      status: "False",
      message: expect.stringContaining("tar error: unexpected EOF"),
    });
    expect(artifactOf("app")).toEqual(before);
    expect([...world().stored.keys()]).toEqual([before.digest]);
    expect(world().requested).toHaveLength(announced);
  });

  test("11.3/69: a missing layer fails the run", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url(), layerSelector: { mediaType: "text/x" } }));
    await world().run();
    expect(condition("app", "FetchFailed")).toMatchObject({
      reason: "OCIArtifactLayerOperationFailed",
      message: "failed to find layer with media type 'text/x' in artifact",
    });
    expect(conditionTypes("app")).not.toContain("ArtifactOutdated");
  });
});
