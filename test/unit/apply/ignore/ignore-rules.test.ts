import { describe, expect, test } from "vitest";
import { compileIgnoreRules } from "../../../../lib/apply/ignore/compile-ignore-rules.ts";
import { type IgnoreRule, proofDigest } from "../../../../lib/apply/ignore/ignore-rules.ts";
import type { Metadata } from "../../../../lib/core/manifest.ts";
import { Secret } from "../../../../lib/core/secret.ts";

const { signal } = new AbortController();
const web = (metadata: Partial<Metadata> = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web-1", namespace: "t", labels: { tier: "web" }, annotations: { note: "x" }, ...metadata },
});
const paths = ["/spec/replicas"];
const isFor = (target: NonNullable<IgnoreRule["target"]>, object = web()) =>
  compileIgnoreRules([{ paths, target }]).pathsFor(object).length > 0;

describe("ignore rules", () => {
  test.each<{ target: NonNullable<IgnoreRule["target"]>; is: boolean }>([
    { target: {}, is: true },
    { target: { kind: "Deployment" }, is: true },
    { target: { kind: "Deploy" }, is: false },
    { target: { kind: "Deploy.*" }, is: true },
    { target: { kind: "deployment" }, is: false },
    { target: { group: "apps", version: "v1" }, is: true },
    { target: { group: "app." }, is: true },
    { target: { version: "v2" }, is: false },
    { target: { name: "web|db" }, is: false },
    { target: { name: "web-[0-9]+", namespace: "t" }, is: true },
    { target: { namespace: "other" }, is: false },
    { target: { labelSelector: "tier in (web)" }, is: true },
    { target: { labelSelector: "tier!=web" }, is: false },
    { target: { annotationSelector: "note" }, is: true },
    { target: { annotationSelector: "!note" }, is: false },
    { target: { kind: "Deployment", labelSelector: "other" }, is: false },
  ])("with target $target apply to a Deployment: $is (92)", ({ target, is }) => {
    expect(isFor(target)).toBe(is);
  });

  test("read labels and annotations again for each state of an object", () => {
    const rules = compileIgnoreRules([{ paths, target: { labelSelector: "tier" } }]);
    expect(rules.pathsFor(web())).toEqual(paths);
    expect(rules.pathsFor(web({ labels: {} }))).toEqual([]);
  });

  test("all apply, also those without a target, and each path once", () => {
    const rules = compileIgnoreRules([
      { paths: ["/b", "/a"] },
      { paths: ["/c"] },
      { paths: ["/a", "/d"], target: { kind: "Deployment" } },
      { paths: ["/e"], target: { kind: "Service" } },
    ]);
    expect(rules.pathsFor(web())).toEqual(["/a", "/b", "/c", "/d"]);
  });

  test("are part of the fingerprint of an object; an object without rules keeps its digest", () => {
    const key = new Secret("test");
    const digests = [[], ["/a"], ["/a", "/b"], ["/a/b"]].map((ignored) => proofDigest({ digest: "d" }, ignored, key));
    expect(digests[0]).toBe("d");
    expect(new Set(digests).size).toBe(4);
  });

  test("that take more than maxMatchingMs for many objects fail with a mend in the message", async () => {
    const rules = compileIgnoreRules([{ paths, target: { name: "(a|b|aa)*x?y" } }], 0);
    const objects = Array.from({ length: 50 }, (_, index) => web({ name: `${"ab".repeat(100)}${index}` }));
    await expect(rules.prepare(objects, signal)).rejects.toThrow(
      "spec.ignore takes more than 0 s to match the objects: shorten its patterns",
    );
  });

  test("take linear time for any pattern", async () => {
    const rules = compileIgnoreRules([{ paths, target: { name: "(a+)+b" } }]);
    await rules.prepare([web({ name: "a".repeat(253) })], signal);
    expect(rules.pathsFor(web({ name: "a".repeat(253) }))).toEqual([]);
  });
});
