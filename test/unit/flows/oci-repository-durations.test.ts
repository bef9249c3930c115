import { describe, expect, test } from "vitest";
import { HttpError } from "../../../lib/core/ports/http.ts";
import { maxRegistryTimeoutMs } from "../../../lib/flows/oci-repository/registry.ts";
import { file, seenSources } from "./seen-sources.ts";
import { ociRepository } from "./source-world.ts";

const { world, url, condition, told } = seenSources();

describe("the durations of an OCIRepository's spec", () => {
  test.each([
    { timeout: "59999.5ms", timeoutMs: 60_000 },
    { timeout: "899999ms", timeoutMs: 899_999 },
    { timeout: "15m", timeoutMs: maxRegistryTimeoutMs },
    { timeout: "15m1s", timeoutMs: maxRegistryTimeoutMs },
    { timeout: "99999999m", timeoutMs: maxRegistryTimeoutMs },
  ])("a timeout of $timeout gives a request $timeoutMs ms", async ({ timeout, timeoutMs }) => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url(), timeout }));
    await world().run();
    expect(world().sent.find(({ url: asked }) => asked.includes("/manifests/"))).toMatchObject({ timeoutMs });
  });

  test("the timeout covers all registry requests of a run, and the next run starts a new one", async () => {
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

  test("a timeout that overflows Go's duration is refused, naming the field", async () => {
    world().apply(ociRepository("app", { url: url(), timeout: "153722868m" }));
    expect(await world().run()).toMatchObject({ outcome: "stalled" });
    expect(condition("app", "Ready")).toMatchObject({
      reason: "InvalidSpec",
      message: expect.stringContaining("spec.timeout: must be a duration of at most 2562047h47m16s"),
    });
  });

  test("an interval below one second runs once a second, with one event per spec; 0s runs only on request", async () => {
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
