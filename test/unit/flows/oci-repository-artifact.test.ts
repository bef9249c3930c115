import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readTar } from "../../../lib/sources/archive/read-tar.ts";
import { file, masked, seenSources } from "./seen-sources.ts";
import { ociRepository } from "./source-world.ts";

const { world, url, artifactOf, seenNow, recordedFrom } = seenSources();

describe("the revision of an OCIRepository", () => {
  test("11.3/62, 63: is the digest if one is set, and once stored the registry is not asked again", async () => {
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

/** Tags of the repository: with each field by itself another one is chosen. Versions of charts have + for _. */
const allTags = ["latest", "1.0.0", "1.0.0-old", "1.2.0-rc.1", "2.0.0_7_1", "2.0.0-old"];
const wanted = { digest: "of 1.0.0-old", semver: ">=1.0.0-0 <2.0.0-0", semverFilter: "^1[.]0[.]0$", tag: "2.0.0-old" };

/** The tag that a set of fields leads to, and what of the repository it follows. */
function chosenBy(ref: Partial<typeof wanted>, isChart: boolean) {
  const { digest, semver, semverFilter: filter, tag = "latest" } = ref;
  if (digest !== undefined) return { tag: "1.0.0-old", follows: { kind: "digest", digest } };
  if (semver === undefined) return { tag, follows: { kind: "names", names: [tag] } };
  const follows = {
    kind: "range",
    semver,
    ...(filter === undefined ? {} : { filter }),
    ...(isChart ? { isChart } : {}),
  };
  return { tag: filter === undefined ? "1.2.0-rc.1" : "1.0.0", follows };
}

const mediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

describe("the fields of spec.ref decide the revision and which tags of the repository are followed:", () => {
  const cases = Array.from({ length: 2 ** 4 }, (_, bits) =>
    Object.keys(wanted).filter((_field, at) => (bits & (2 ** at)) !== 0),
  );
  test.each(cases.map((fields) => [fields.join(" and ") || "nothing", fields] as const))("%s", async (_, fields) => {
    const digests = new Map<string, string>();
    for (const tag of allTags) digests.set(tag, await world().push(tag, { "v.yaml": tag }));
    const own = { ...wanted, digest: digests.get("1.0.0-old") ?? "" };
    const ref = Object.fromEntries(Object.entries(own).filter(([field]) => fields.includes(field)));
    for (const isChart of [false, true]) {
      const layerSelector = isChart ? { mediaType, operation: "copy" } : undefined;
      world().apply(
        ociRepository("app", { url: url(), ref, ...(layerSelector === undefined ? {} : { layerSelector }) }),
      );
      await world().run();
      const { tag, follows } = chosenBy(ref, isChart);
      const subscribed = [...world().listens.values()].flat();
      expect(subscribed).toEqual([{ topic: `repo#${world().address}/app`, follows }]);
      // These artifacts have no layer of a chart, so nothing is stored of them.
      if (isChart) continue;
      const digest = digests.get(tag) ?? "";
      expect(artifactOf("app").revision).toBe("digest" in ref ? digest : `${tag}@${digest}`);
    }
  });
});

describe("golden: statuses that Flux wrote for sources that it could reconcile", () => {
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

test("11.3/70: operation copy stores the layer unchanged, whatever the ignore rules", async () => {
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
