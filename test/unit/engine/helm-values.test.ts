import { afterAll, describe, expect, test } from "vitest";
import type { ValuesText } from "../../../lib/core/ports/helm-engine.ts";
import { forever, inputOf, limits, oneHelm } from "./rendered-charts.ts";

const helm = oneHelm();
afterAll(() => helm.close());

describe("values are composed as Flux does", () => {
  const rows: readonly (readonly [string, object, readonly ValuesText[], object])[] = [
    [
      "23/11: inline wins over a path at the top",
      { replicaCount: 1 },
      [{ text: "5", targetPath: "replicaCount" }],
      { replicaCount: 1 },
    ],
    [
      "23/11: the first path wins over a nested inline value",
      { image: { tag: "a" } },
      [{ text: "b", targetPath: "image.tag" }],
      { image: { tag: "b" } },
    ],
    [
      "23/11: a second path does not win over a nested inline value",
      { image: { tag: "a" }, replicas: 1 },
      [
        { text: "5", targetPath: "replicas" },
        { text: "b", targetPath: "image.tag" },
      ],
      { image: { tag: "a" }, replicas: 1 },
    ],
    [
      "a path does not override a reference that has its parent too",
      { image: { tag: "a" } },
      [{ text: "image: {repository: x}" }, { text: "b", targetPath: "image.tag" }],
      { image: { repository: "x", tag: "a" } },
    ],
    [
      "a path wins two levels below a parent that only inline has",
      { a: { b: { c: 1 } } },
      [{ text: "a: {z: 1}" }, { text: "2", targetPath: "a.b.c" }],
      { a: { z: 1, b: { c: 2 } } },
    ],
    [
      "a later reference wins over a path",
      {},
      [{ text: "2", targetPath: "x.y" }, { text: 'x: {"y": 3}' }],
      { x: { y: 3 } },
    ],
    [
      "a path wins over a later reference below a parent of inline",
      { x: { q: 1 } },
      [{ text: "2", targetPath: "x.y" }, { text: 'x: {"y": 3}' }],
      { x: { q: 1, y: 2 } },
    ],
    [
      "23/10: lists are replaced, maps are merged",
      { a: [3], m: { y: 2 } },
      [{ text: "a: [1, 2]\nm: {x: 1}" }],
      { a: [3], m: { x: 1, y: 2 } },
    ],
    ["23/13: a value in quotes is a text", {}, [{ text: '"true"', targetPath: "a" }], { a: "true" }],
    ["23/13: a value without quotes is a boolean", {}, [{ text: "true", targetPath: "a" }], { a: true }],
    [
      "23/14: literal: true stores a,b={c} verbatim",
      {},
      [{ text: "a,b={c}", targetPath: "a", isLiteral: true }],
      { a: "a,b={c}" },
    ],
    ["a comma begins a second pair", {}, [{ text: "a,b={c}", targetPath: "text" }], { text: "a", b: ["c"] }],
    ["yes is a boolean in YAML 1.1", {}, [{ text: "a: yes" }], { a: true }],
  ];
  test.each(rows)("%s", async (_title, inline, from, merged) => {
    expect((await helm.prepare(await inputOf({}, { inline, from }), limits, forever)).values).toEqual(merged);
  });

  test("13: the digest of values is the same as Flux's", async () => {
    const digestOf = async (inline: object) =>
      (await helm.prepare(await inputOf({}, { inline }), limits, forever)).configDigest;
    expect(await digestOf({})).toBe("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(await digestOf({ replicaCount: 2 })).toBe(
      "sha256:e15c415d62760896bd8bec192a44c5716dc224db9e0fc609b9ac14718f8f9e56",
    );
    const image = { repository: "registry.example.com/acme/cart", tag: "1.4.2" };
    expect(await digestOf({ image, ports: [8080, 9090], replicas: 3 })).toBe(
      "sha256:13ef0c67e540559e6a87e051ca406b4a669fdeb84cacc332dcd6d4095d403397",
    );
  });
});
