import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readTar } from "../../../lib/sources/archive/read-tar.ts";
import { file, masked, seenSources } from "./seen-sources.ts";
import { ociRepository } from "./source-world.ts";

const { world, url, artifactOf, seenNow, recordedFrom } = seenSources();

describe("which revision", () => {
  test("11.3/62, 63: a digest wins, and once stored the registry is not asked again", async () => {
    const digest = await world().push("1.0.0", file);
    await world().push("2.0.0", { "b.yaml": "kind: Secret\n" });
    world().apply(ociRepository("app", { url: url(), ref: { digest, semver: ">=1.0.0", tag: "2.0.0" } }));
    await world().run();
    expect(artifactOf("app").revision).toBe(digest);
    world().sent.length = 0;
    await world().run();
    expect(world().sent).toEqual([]);
  });

  test.each([
    { name: "64: the filter chooses first", ref: { semver: ">=1.0.0-0", semverFilter: ".*-rc.*" }, tag: "1.3.0-rc.1" },
    { name: "64: a filter without a range is ignored", ref: { tag: "2.0.0", semverFilter: "rc" }, tag: "2.0.0" },
    { name: "the highest in the range", ref: { semver: "1.x" }, tag: "1.2.3" },
    { name: "62: a range wins over a tag", ref: { semver: "1.x", tag: "2.0.0" }, tag: "1.2.3" },
  ])("11.3/$name", async ({ ref, tag }) => {
    for (const version of ["1.0.0", "1.2.3", "1.3.0-rc.1", "2.0.0", "latest"]) {
      await world().push(version, { "v.yaml": version });
    }
    world().apply(ociRepository("app", { url: url(), ref }));
    await world().run();
    expect(artifactOf("app").revision.split("@")[0]).toBe(tag);
  });
});

describe("golden: what Flux wrote about sources that it could reconcile", () => {
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
    for (const tag of tags) digest = await world().push(tag, { "a.yaml": tag });
    const wanted = "digest" in ref ? { digest } : ref;
    world().apply(ociRepository(name, { url: url(), ref: wanted }));
    await world().run(name);
    const golden = await recordedFrom(scenario, step, name);
    expect(masked(seenNow(name))).toEqual(masked(golden));
  });
});

test("11.3/70: copy stores the layer as it is, whatever the ignore rules", async () => {
  await world().push("latest", file);
  world().apply(ociRepository("app", { url: url(), layerSelector: { operation: "copy" }, ignore: "*" }));
  await world().run();
  const { digest, size } = artifactOf("app");
  expect(world().stored.get(digest)?.length).toBe(size);
  expect(world().get("app")["status"]).toMatchObject({ observedLayerSelector: { operation: "copy" } });
});

test("the artifact holds the files that were pushed, with Flux's modes", async () => {
  await world().push("latest", { "b/c.yaml": "c", "a.yaml": "a" });
  world().apply(ociRepository("app", { url: url() }));
  await world().run();
  const tar = gunzipSync(world().stored.get(artifactOf("app").digest) ?? new Uint8Array());
  const members: string[] = [];
  async function* once() {
    yield tar;
  }
  for await (const { name, mode } of readTar(once())) members.push(`${mode.toString(8)} ${name}`);
  expect(members).toEqual(["750 .", "600 a.yaml", "750 b", "600 b/c.yaml"]);
});
