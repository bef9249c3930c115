import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { maxBucketTimeoutMs } from "../../../../lib/flows/bucket/bucket-flow.ts";
import { etagOf } from "../../../doubles/s3-server.ts";
import { type BucketWorld, bucketWorld } from "./bucket-world.ts";

let world: BucketWorld;
beforeEach(async () => {
  world = await bucketWorld();
});
afterEach(() => world.close());

const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** The revision of these objects, sorted by their keys. */
function revisionOf(objects: Readonly<Record<string, string>>): string {
  const lines = Object.entries(objects).map(([key, text]) => `${key} ${etagOf(Buffer.from(text))}\n`);
  return `sha256:${createHash("sha256").update(lines.join("")).digest("hex")}`;
}

describe("a Bucket", () => {
  test("lists the bucket, downloads its objects, stores the artifact and announces it", async () => {
    world.hold({ "sub/b.yaml": "b", "a.yaml": "a", "folder/": "" });
    world.bucket();
    expect(await world.reconcile()).toMatchObject({ outcome: "stored", dueInMs: 3_600_000 });
    const revision = revisionOf({ "a.yaml": "a", "sub/b.yaml": "b" });
    expect(world.conditions()).toEqual(["Ready=True Succeeded", "ArtifactInStorage=True Succeeded"]);
    expect(world.ready()).toBe(`True Succeeded: stored artifact: revision '${revision}'`);
    const file = `${revision.slice("sha256:".length)}.tar.gz`;
    expect(world.artifact()).toMatchObject({ revision, path: `bucket/apps/app/${file}` });
    expect(world.status().url).toMatch(/\/bucket\/apps\/app\/latest\.tar\.gz$/);
    expect(await world.files()).toEqual({ "a.yaml": "a", "sub/": "", "sub/b.yaml": "b" });
    expect(world.messages()).toEqual(["NewArtifact: stored artifact with 2 fetched files from 'things' bucket"]);
    expect(world.requested).toMatchObject([{ key: "here/source.toolkit.fluxcd.io/Kustomization/apps/web" }]);
  });

  test("11.5/107: an empty bucket is Ready with the digest of an empty list", async () => {
    world.hold({});
    world.bucket();
    await world.reconcile();
    expect(world.ready()).toBe(`True Succeeded: stored artifact: revision '${empty}'`);
    expect(await world.files()).toEqual({});
  });

  test("11.5/108: an image file is kept in the artifact, because a Bucket has no default ignore rules", async () => {
    world.hold({ "logo.png": "picture", ".gitignore": "x" });
    world.bucket();
    await world.reconcile();
    expect(await world.files()).toEqual({ "logo.png": "picture", ".gitignore": "x" });
  });

  test("11.5/109: the root .sourceignore excludes keys; the file itself is in the artifact but not in the index", async () => {
    world.hold({
      ".sourceignore": "*.md\n",
      "a.md": "a",
      "b.yaml": "b",
      "sub/.sourceignore": "*.yaml\n",
      "sub/c.yaml": "c",
    });
    world.bucket();
    await world.reconcile();
    expect(world.artifact().revision).toBe(
      revisionOf({ "b.yaml": "b", "sub/.sourceignore": "*.yaml\n", "sub/c.yaml": "c" }),
    );
    expect(await world.files()).toEqual({
      ...{ ".sourceignore": "*.md\n", "b.yaml": "b" },
      ...{ "sub/": "", "sub/.sourceignore": "*.yaml\n", "sub/c.yaml": "c" },
    });
  });

  test("spec.ignore is applied after the .sourceignore, and makes no new artifact if it excludes nothing more", async () => {
    world.hold({ ".sourceignore": "*.md\n", "a.md": "a", "b.md": "b" });
    world.bucket({ ignore: "!a.md" });
    await world.reconcile();
    expect(Object.keys(await world.files())).toEqual([".sourceignore", "a.md"]);
    expect(world.status().observedIgnore).toBe("!a.md");
    world.bucket({ ignore: "# nothing new\n!a.md" });
    expect(await world.reconcile()).toMatchObject({ outcome: "unchanged" });
    expect(world.status().observedIgnore).toBe("!a.md");
  });

  test("11.5/110: with a prefix only keys below it are listed, and the artifact keeps the folder", async () => {
    world.hold({ ".sourceignore": "c", "a/b": "b", "a/c": "c", d: "d" });
    world.bucket({ prefix: "a/" });
    await world.reconcile();
    expect(world.artifact().revision).toBe(revisionOf({ "a/b": "b" }));
    expect(await world.files()).toEqual({ ".sourceignore": "c", "a/": "", "a/b": "b" });
  });

  test("11.5/111: if no etag has changed, no object is downloaded and Ready stays True", async () => {
    world.hold({ "a.yaml": "a" });
    world.bucket();
    await world.reconcile();
    world.s3.asked.length = 0;
    world.writes.length = 0;
    expect(await world.reconcile()).toMatchObject({ outcome: "unchanged" });
    expect(world.s3.asked).toEqual(["GET /things/?location", "GET /things/?list"]);
    expect(world.writes.map(({ verb }) => verb)).not.toContain("patch");
    expect(world.messages().at(-1)).toBe(
      `ArtifactUpToDate: artifact up-to-date with remote revision: '${world.artifact().revision}'`,
    );
  });

  test("a .sourceignore is read although the first two pages of the listing do not have it", async () => {
    world.s3.pageKeys = 1;
    world.hold({ "!a.md": "a", "!b.md": "b", ".sourceignore": "*.md\n", b: "b" });
    world.bucket();
    await world.reconcile();
    expect(Object.keys(await world.files())).toEqual([".sourceignore", "b"]);
  });

  test("11.5/114: a missing bucket gives FetchFailed, and the last artifact is kept", async () => {
    world.bucket();
    expect(await world.reconcile()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(world.ready()).toBe("False BucketOperationFailed: bucket 'things' not found");
    expect(world.conditions()).toContain("FetchFailed=True BucketOperationFailed");
    world.hold({ a: "a" });
    await world.reconcile();
    const before = world.artifact();
    world.s3.buckets.clear();
    await world.reconcile();
    expect(world.ready()).toBe("False BucketOperationFailed: bucket 'things' not found");
    expect(world.artifact()).toEqual(before);
  });

  test("an unreachable endpoint is reported with Flux's message", async () => {
    world.bucket({ endpoint: "127.0.0.1:1" });
    await world.reconcile();
    expect(world.ready()).toBe(
      "False BucketOperationFailed: failed to confirm existence of 'things' bucket: Get \"http://127.0.0.1:1/things/?location=\": dial tcp 127.0.0.1:1: connect: connection refused",
    );
  });

  test("if one of 1,000 objects on ten pages has changed, only this object is downloaded", async () => {
    const objects = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f/${index}.yaml`, `${index}`]));
    world.s3.pageKeys = 100;
    world.hold(objects);
    world.bucket();
    await world.reconcile();
    world.s3.asked.length = 0;
    world.hold({ ...objects, "f/7.yaml": "changed" });
    await world.reconcile();
    const gets = world.s3.asked.filter((one) => one.startsWith("GET /things/f/"));
    expect(gets).toEqual(["GET /things/f/7.yaml"]);
    expect(world.s3.asked.filter((one) => one === "GET /things/?list")).toHaveLength(10);
    expect(await world.files()).toEqual({ "f/": "", ...objects, "f/7.yaml": "changed" });
  });

  test("if a user edits the status so that artifact and index do not match, all objects are downloaded again", async () => {
    world.hold({ a: "a1", b: "b1" });
    world.bucket();
    await world.reconcile();
    const first = world.artifact();
    world.hold({ a: "a2", b: "b1" });
    await world.reconcile();
    const patch = { type: "merge", body: { status: { artifact: { digest: first.digest } } } } as const;
    const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "Bucket", namespace: "apps", name: "app" };
    await world.deps.home.patch(ref, patch, { manager: "someone" }, AbortSignal.any([]));
    world.s3.asked.length = 0;
    world.hold({ a: "a2", b: "b2" });
    await world.reconcile();
    expect(world.s3.asked.filter((one) => /\/[ab]$/.test(one)).toSorted()).toEqual(["GET /things/a", "GET /things/b"]);
    expect(await world.files()).toEqual({ a: "a2", b: "b2" });
  });

  test("an object that is deleted between listing and download is removed from the index", async () => {
    world.hold({ a: "a", b: "b" });
    world.s3.onGet = (bucket, key) => void (key === "b" && world.s3.buckets.get(bucket)?.delete("b"));
    world.bucket();
    await world.reconcile();
    expect(world.artifact().revision).toBe(revisionOf({ a: "a" }));
    expect(world.ready()).toBe(`True Succeeded: stored artifact: revision '${revisionOf({ a: "a" })}'`);
    expect(world.messages()).toEqual(["NewArtifact: stored artifact with 1 fetched files from 'things' bucket"]);
    expect(await world.files()).toEqual({ a: "a" });
  });

  test("an object that is replaced by a longer one between listing and download is stored with its new etag", async () => {
    world.hold({ a: "a", b: "b" });
    world.s3.onGet = (bucket, key) =>
      void (key === "a" && world.s3.buckets.get(bucket)?.set("a", Buffer.alloc(100_000, "x")));
    world.bucket();
    await world.reconcile();
    expect(world.artifact().revision).toBe(revisionOf({ a: "x".repeat(100_000), b: "b" }));
    expect((await world.files())["a"]).toHaveLength(100_000);
  });

  test.each([
    [{ "../x": "x" }, "object '../x' has a part '.' or '..', which no URL can name"],
    [{ "a\\b": "x" }, "object 'a\\b' has a backslash or a null character"],
    [{ "a../b": "x" }, "object 'a../b' has a part that ends with '..'"],
    [{ "a/b": "x", a: "y" }, "object 'a' has the name of a folder of other objects"],
    [{ "/x": "x", x: "y" }, "objects '/x' and 'x' are the same file"],
    [{ [`${"a/".repeat(100)}b`]: "x" }, `object '${"a/".repeat(100)}b' is more than 100 folders deep`],
  ])("a key that is not a valid file name is refused by name: %j", async (objects, fault) => {
    world.hold(objects);
    world.bucket();
    await world.reconcile();
    const mend = "rename it, or leave it out with spec.ignore";
    expect(world.ready()).toBe(`False BucketOperationFailed: fetch from bucket 'things' failed: ${fault}: ${mend}`);
  });

  test("keys that differ only in case, start with a slash or contain unusual characters become separate files", async () => {
    const objects = { A: "1", a: "2", "/b": "3", "c//d": "4", "ü ?#%&+=*'()!~": "5" };
    world.hold(objects);
    world.bucket();
    await world.reconcile();
    expect(world.artifact().revision).toBe(
      revisionOf({ "/b": "3", A: "1", a: "2", "c//d": "4", "ü ?#%&+=*'()!~": "5" }),
    );
    expect(await world.files()).toEqual({ A: "1", a: "2", b: "3", "c/": "", "c/d": "4", "ü ?#%&+=*'()!~": "5" });
  });

  test.each([
    ["", "s3#things"],
    ["a/", { topic: "s3#things", follows: { kind: "prefix", prefix: "a/" } }],
  ])("is woken by events of its bucket for keys below the prefix '%s'", async (prefix, topic) => {
    world.hold({});
    world.bucket({ prefix });
    await world.reconcile();
    expect([...world.listens.values()]).toEqual([[topic]]);
  });

  test.each([
    [9_000, /^True Succeeded/],
    [11_000, /^False BucketOperationFailed: indexation of objects .* failed: Get ".*": context deadline exceeded$/],
  ])("spec.timeout applies to the listing, and separately to the download: %d ms each", async (ms, ready) => {
    world.s3.pageKeys = 1;
    world.hold({ a: "a", b: "b" });
    // Once within the listing, and once within the download.
    let isSlow = true;
    world.s3.instead = ({ url = "" }) => {
      if (isSlow && url.includes("list-type")) {
        isSlow = false;
        world.state.now += ms;
      }
      return false;
    };
    world.s3.onGet = (_, key) => void (world.state.now += key === "a" ? ms : 0);
    world.bucket({ timeout: "10s" });
    await world.reconcile();
    expect(world.ready()).toMatch(ready);
  });

  test("no request lasts longer than a function can run, even if spec.timeout is longer", async () => {
    world.hold({});
    world.bucket({ timeout: "60m" });
    await world.reconcile();
    expect(world.sent[0]?.timeoutMs).toBe(maxBucketTimeoutMs);
  });

  test("keeps the index records as long as those of its artifact", async () => {
    for (const text of ["1", "2", "3"]) {
      world.hold({ a: text });
      world.bucket();
      await world.reconcile();
    }
    const kept = [...world.recorded].map((line) => line.split(" ")[1]);
    expect(kept).toHaveLength(6);
    expect(kept).toEqual(expect.arrayContaining([revisionOf({ a: "2" }), revisionOf({ a: "3" })]));
  });
});
