import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { repositoryTopic } from "../../../../lib/core/topics.ts";
import { type RepositoryWorld, repositoryWorld } from "./repository-world.ts";

let world: RepositoryWorld;
beforeEach(async () => {
  world = await repositoryWorld();
});
afterEach(() => world.close());

const hourMs = 3_600_000;
const found = "successful scan: found 2 tags with checksum 495453000";
const listed = () => world.sent.filter(({ url }) => url.includes("/tags/list")).length;

/** An ImageRepository that was scanned: tags 1.0.0 and 1.1.0. */
async function scanned(): Promise<void> {
  await world.push(["1.0.0", "1.1.0"]);
  world.apply();
  await world.run();
  world.events();
  world.woken.length = 0;
}

describe("the first scan of an ImageRepository", () => {
  test("image-automation/1: sets the finalizer before the first request to the registry", async () => {
    world.apply({ image: "registry.invalid/app" });
    await world.run();
    const [first] = world.writes;
    expect(first).toMatchObject({ manager: "image-reflector-controller", subresource: undefined });
    expect(world.live().metadata.finalizers).toEqual(["finalizers.fluxcd.io"]);
  });

  test("image-automation/4: reports the number of tags and their checksum", async () => {
    await world.push(["1.0.0", "1.1.0"]);
    world.apply();
    expect(await world.run()).toMatchObject({ outcome: "scanned", dueInMs: hourMs });
    expect(world.conditions()).toEqual([`Ready=True Succeeded: ${found}`]);
    expect(world.events()).toEqual([`Normal Succeeded: ${found}`]);
    expect(world.toldReasons).toEqual(["Succeeded"]);
    expect(world.status()).toMatchObject({
      canonicalImageName: `${world.address}/app`,
      lastScanResult: { latestTags: ["1.1.0", "1.0.0"], revision: "495453000", tagCount: 2 },
      observedExclusionList: ["^.*\\.sig$"],
      observedGeneration: 1,
    });
    expect(world.status().lastScanResult?.scanTime).toBe("2026-11-29T12:00:00Z");
    expect(await world.tags()).toEqual(["1.1.0", "1.0.0"]);
  });

  test("image-automation/5: does not count excluded tags", async () => {
    await world.push(["1.0.0", "a.sig", "b.sig"]);
    world.apply();
    await world.run();
    expect(world.status().lastScanResult?.tagCount).toBe(1);
  });

  test("image-automation/6: without an exclusion list drops tags that end in .sig", async () => {
    await world.push(["1.0.0", "sha256-a.sig", "a.sign"]);
    world.apply();
    await world.run();
    expect(await world.tags()).toEqual(["a.sign", "1.0.0"]);
  });

  test("image-automation/7: an exclusion list replaces the default list, an empty one does not", async () => {
    await world.push(["1.0.0", "sha256-a.sig"]);
    world.apply({ exclusionList: ["^latest$"] });
    await world.run();
    expect(await world.tags()).toEqual(["sha256-a.sig", "1.0.0"]);
    world.apply({ exclusionList: [] });
    await world.run();
    expect(await world.tags()).toEqual(["1.0.0"]);
    expect(world.status().observedExclusionList).toEqual(["^.*\\.sig$"]);
  });

  test("image-automation/10: latestTags are the first ten tags in descending byte order", async () => {
    const tags = Array.from({ length: 12 }, (_, index) => `${index}.0.0`);
    await world.push(tags);
    world.apply();
    await world.run();
    const { latestTags } = world.status().lastScanResult ?? {};
    expect(latestTags).toEqual("9 8 7 6 5 4 3 2 11 10".split(" ").map((major) => `${major}.0.0`));
  });

  test("wakes the policies that refer to it after it has written its status", async () => {
    await world.push(["1.0.0"]);
    world.apply();
    await world.run();
    expect(world.woken).toEqual(["ImagePolicy/newest"]);
  });

  test("image-automation/16: writes the full name of a Docker Hub image to the status", async () => {
    const body = Buffer.from(JSON.stringify({ tags: ["3"] }));
    world.state.answered = ({ url }) => ({ url, status: 200, headers: {}, body });
    world.apply({ image: "alpine" });
    await world.run();
    expect(world.status().canonicalImageName).toBe("index.docker.io/library/alpine");
    expect(world.sent.map(({ url }) => url)).toEqual(["https://index.docker.io/v2/library/alpine/tags/list?n=1000"]);
  });

  test("an empty repository has no latestTags and is scanned in every run", async () => {
    const body = Buffer.from(JSON.stringify({ tags: null }));
    world.state.answered = ({ url }) =>
      url.includes("/tags/list") ? { url, status: 200, headers: {}, body } : undefined;
    world.apply();
    await world.run();
    expect(world.status().lastScanResult).toEqual({
      ...{ revision: "18153657", tagCount: 0, scanTime: "2026-11-29T12:00:00Z" },
    });
    await world.run();
    expect(listed()).toBe(2);
  });
});

describe("a later run of an ImageRepository", () => {
  beforeEach(scanned);

  test("image-automation/11, 44: with the same tags keeps the revision, wakes no policy and sends no Alert", async () => {
    world.ask("1");
    const told = world.toldReasons.length;
    expect(await world.run()).toMatchObject({ outcome: "unchanged", isQuiet: true });
    expect(world.events()).toEqual(["Normal Succeeded: tags did not change, next scan in 1h0m0s"]);
    expect(world.toldReasons).toHaveLength(told);
    expect(world.status().lastScanResult?.revision).toBe("495453000");
    expect(world.woken).toEqual([]);
  });

  test("image-automation/12: scans at once on request, and then records the request", async () => {
    await world.push(["1.2.0"]);
    world.ask("now");
    await world.run({ isRequested: true });
    expect(world.status()).toMatchObject({ lastHandledReconcileAt: "now", lastScanResult: { tagCount: 3 } });
    expect(world.woken).toEqual(["ImagePolicy/newest"]);
  });

  test("image-automation/13: does not scan early if only the interval has changed", async () => {
    world.state.now += hourMs / 2;
    world.apply({ interval: "40m" });
    expect(await world.run({ isRequested: true })).toMatchObject({ dueInMs: 600_000 });
    expect(listed()).toBe(1);
    expect(world.events()).toEqual([
      "Normal Succeeded: no change in repository configuration since last scan, next scan in 10m0s",
    ]);
    expect(world.status().observedGeneration).toBe(2);
  });

  test("image-automation/14: scans at once if the exclusion list changes, but not if only its order does", async () => {
    world.apply({ exclusionList: ["rc", "^1\\.0"] });
    await world.run({ isRequested: true });
    expect([listed(), await world.tags()]).toEqual([2, ["1.1.0"]]);
    world.apply({ exclusionList: ["^1\\.0", "rc"] });
    await world.run({ isRequested: true });
    expect(listed()).toBe(2);
    expect(world.status().observedExclusionList).toEqual(["^1\\.0", "rc"]);
  });

  test("image-automation/15: scans at once if the image changes, and writes the new full name", async () => {
    await world.push(["9"], "second");
    world.apply({ image: `${world.address}/second` });
    await world.run({ isRequested: true });
    expect(world.status()).toMatchObject({ canonicalImageName: `${world.address}/second` });
    expect(await world.tags()).toEqual(["9"]);
  });

  test("scans when its interval is over, and not earlier", async () => {
    world.state.now += hourMs - 1_001;
    await world.run();
    expect(listed()).toBe(1);
    world.state.now += 2;
    expect(await world.run()).toMatchObject({ dueInMs: hourMs });
    expect(listed()).toBe(2);
  });

  test("scans again if the stored tags are missing, and Ready is Unknown until then", async () => {
    world.loseTags();
    await world.run();
    expect(await world.tags()).toEqual(["1.1.0", "1.0.0"]);
  });

  test("image-automation/17: is not scanned while suspended, and keeps its conditions", async () => {
    const before = world.status().conditions;
    world.apply({ suspend: true });
    world.ask("asleep");
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "suspended", dueInMs: undefined });
    expect(world.status()).toMatchObject({
      conditions: before,
      observedGeneration: 2,
      lastHandledReconcileAt: "asleep",
    });
    expect([listed(), world.events()]).toEqual([1, []]);
  });

  test("image-automation/70: when deleted loses finalizer, tags and subscriptions without a request to the registry", async () => {
    const topic = repositoryTopic(world.address, "app");
    expect(await world.subscribers(topic)).toHaveLength(1);
    world.delete();
    expect(await world.run({ isRequested: true })).toEqual({ outcome: "deleted", dueInMs: undefined });
    expect([world.has(), await world.tags(), await world.subscribers(topic)]).toEqual([false, undefined, []]);
    expect(listed()).toBe(1);
    expect(world.woken).toEqual(["ImagePolicy/newest"]);
  });

  test("wakes the policies if the run before was killed between its status and the wake-ups", async () => {
    await world.push(["1.2.0"]);
    const carried = world.state.carried;
    world.ask("now");
    await world.run({ isRequested: true });
    world.woken.length = 0;
    world.state.carried = carried;
    await world.run();
    expect(world.woken).toEqual(["ImagePolicy/newest"]);
  });
});

describe("an event of the registry", () => {
  beforeEach(scanned);

  test("scans at once, even if the object itself is not due", async () => {
    await world.push(["1.2.0"]);
    await world.run({ isRequested: true });
    expect(await world.tags()).toEqual(["1.2.0", "1.1.0", "1.0.0"]);
  });

  test("is not lost if its scan fails", async () => {
    world.state.answered = ({ url }) => ({ url, status: 503, headers: {}, body: new Uint8Array() });
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "failed", dueInMs: 750 });
    world.state.answered = () => undefined;
    await world.push(["1.2.0"]);
    await world.run();
    expect(world.status().lastScanResult?.tagCount).toBe(3);
  });

  test("a run without an event scans nothing before the interval is over", async () => {
    await world.run();
    expect(listed()).toBe(1);
  });
});

describe("an ImageRepository with an invalid image", () => {
  test.each([
    ["2", "https://ghcr.io/a/b", "image 'https://ghcr.io/a/b' should not include URL scheme; remove 'https://'"],
    ["3", "ghcr.io/a/b:v1", "image 'ghcr.io/a/b:v1' should not include a tag; remove ':v1'"],
  ])("image-automation/%s: %s stalls and is not retried", async (_number, image, message) => {
    world.apply({ image });
    expect(await world.run()).toMatchObject({ outcome: "stalled", dueInMs: undefined });
    expect(world.conditions()).toEqual([
      `Stalled=True ImageURLInvalid: ${message}`,
      `Ready=False ImageURLInvalid: ${message}`,
    ]);
    expect(world.events()).toEqual([`Warning ImageURLInvalid: ${message}`]);
    expect(world.status().observedGeneration).toBe(1);
  });

  test("keeps the text of an earlier failure in Ready and in the event", async () => {
    world.apply({ image: `${world.address}/none` });
    await world.run();
    const [, said = ""] = world.conditions();
    const [event] = world.events();
    world.apply({ image: "ghcr.io/a/b:v1" });
    await world.run({ isRequested: true });
    expect(world.conditions()).toEqual([expect.stringMatching(/^Stalled=True ImageURLInvalid/), said]);
    expect(world.events()).toEqual([event]);
  });
});

describe("a failed scan", () => {
  test("image-automation/9: an expression that does not compile is reported with Go's message", async () => {
    await world.push(["1.0.0"]);
    world.apply({ exclusionList: ["^1\\.", "["] });
    await world.run();
    const message = "scan failed: failed to compile regex [: error parsing regexp: missing closing ]: `[`";
    expect(world.conditions()).toContain(`Ready=False ReadOperationFailed: ${message}`);
  });

  test("image-automation/21: keeps observedGeneration and the last result, and reports the step that failed", async () => {
    await scanned();
    world.apply({ image: `${world.address}/none` });
    expect(await world.run({ isRequested: true })).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(world.status()).toMatchObject({ observedGeneration: 1, lastScanResult: { tagCount: 2 } });
    expect(world.conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry: scanning: new image name",
      expect.stringMatching(/^Ready=False ReadOperationFailed: scan failed: GET .*NAME_UNKNOWN: repository name not/),
    ]);
    expect(await world.run()).toMatchObject({ dueInMs: 1_500 });
    expect(world.events()).toHaveLength(1);
  });

  test("image-automation/20: after a recovery the Ready message is sent as an event", async () => {
    world.apply();
    await world.run();
    await world.push(["1.0.0", "1.1.0"]);
    world.events();
    await world.run();
    expect(world.events()).toEqual([`Normal Succeeded: ${found}`]);
    expect(world.relations.at(-1)).toBe("app Succeeded recovered");
  });

  test("a host that does not answer is reported with both of its addresses, as in Flux", async () => {
    world.apply({ image: "127.0.0.1:1/app" });
    await world.run();
    const refused = "dial tcp 127.0.0.1:1: connect: connection refused";
    expect(world.conditions()).toContain(
      `Ready=False ReadOperationFailed: scan failed: Get "https://127.0.0.1:1/v2/": ${refused}; Get "http://127.0.0.1:1/v2/": ${refused}`,
    );
  });
});
