import { describe, expect, test } from "vitest";
import { chooseTag, chooseVersion, isOneTag } from "../../../../lib/sources/helm/choose-chart.ts";

const forever = new AbortController().signal;

function chart(version: string, created?: number) {
  return { name: "app", version, urls: [`app-${version}.tgz`], ...(created === undefined ? {} : { created }) };
}

const choose = async (versions: readonly ReturnType<typeof chart>[], version: string, name = "app") =>
  (await chooseVersion({ entries: new Map([["app", versions]]) }, name, version, forever)).urls[0];

describe("choosing a version from an index", () => {
  const versions = [chart("2.0.0-rc.1"), chart("1.10.0"), chart("1.9.0"), chart("1.0")];

  test.each([
    ["", "app-1.10.0.tgz"],
    ["*", "app-1.10.0.tgz"],
    ["1.9.x", "app-1.9.0.tgz"],
    ["2.0.0-rc.1", "app-2.0.0-rc.1.tgz"],
    [">=1.0.0-0", "app-2.0.0-rc.1.tgz"],
    ["1.0", "app-1.0.tgz"],
  ])("%j selects %s", async (version, url) => {
    expect(await choose(versions, version)).toBe(url);
  });

  test("of versions that differ only in build metadata the newest is selected, then the last one in the index", async () => {
    expect(await choose([chart("1.0.0+a", 2), chart("1.0.0+b", 3), chart("1.0.0+c", 1)], "1.x")).toBe(
      "app-1.0.0+b.tgz",
    );
    expect(await choose([chart("1.0.0+a", 2), chart("1.0.0+b", 2)], "1.x")).toBe("app-1.0.0+b.tgz");
  });

  test.each([
    ["3.x", "app", "no 'app' chart with version matching '3.x' found"],
    ["1.x", "other", "no chart name found"],
    ["nonsense", "app", `improper constraint: "nonsense"`],
  ])("%j of %s is refused with Flux's text", async (version, name, message) => {
    await expect(choose(versions, version, name)).rejects.toThrow(new RangeError(message));
  });

  test("a chart without versions is distinguished from an unknown chart", async () => {
    await expect(choose([], "1.x")).rejects.toThrow(new RangeError("no chart version found"));
  });
});

describe("choosing a chart's tag from a registry", () => {
  test("11.4/95: a tag with a v before its version is skipped", async () => {
    expect(await chooseTag(["v1.0.2", "1.0.1", "01.0.3", "1.0"], "*", forever)).toBe("1.0.1");
  });

  test("an underscore in a tag stands for the plus of a version", async () => {
    expect(await chooseTag(["1.0.0", "1.2.0_build.1"], "1.x", forever)).toBe("1.2.0+build.1");
    expect(await chooseTag(["1.2.0_a", "1.2.0_b"], "1.2.0+b", forever)).toBe("1.2.0+b");
  });

  test("no match is refused with Flux's text", async () => {
    const message = "could not locate a version matching provided version string 2.x";
    await expect(chooseTag(["1.0.0"], "2.x", forever)).rejects.toThrow(new RangeError(message));
  });

  test("a full version names its tag, a range does not", () => {
    expect(["1.2.3", "v1.2.3", "1.2.3+a", "1.2", "1.2.x", "*", ""].filter(isOneTag)).toEqual([
      "1.2.3",
      "v1.2.3",
      "1.2.3+a",
    ]);
  });
});
