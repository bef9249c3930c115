import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { valueLeaves } from "../../../lib/helm/value-origins.ts";

/** Each leaf as `path = value < layers`. */
function leavesOf(merged: JsonObject, ...layers: readonly JsonObject[]): readonly string[] {
  const found = valueLeaves(
    merged,
    layers.map((values) => ({ values })),
  );
  return found.map(({ layers: places, path, value }) => `${path} = ${JSON.stringify(value)} < ${places.join(",")}`);
}

describe("the origin of merged values", () => {
  test("is the last layer that has this value", () => {
    const base = { image: { tag: "v1", pull: true }, replicas: 1 };
    const over = { image: { tag: "v2" }, replicas: 1 };
    expect(leavesOf({ image: { tag: "v2", pull: true }, replicas: 1 }, base, over)).toEqual([
      'image.tag = "v2" < 1',
      "image.pull = true < 0",
      "replicas = 1 < 1",
    ]);
  });

  test("is the layer with the resulting value, even if a later layer has another value", () => {
    expect(leavesOf({ port: 80 }, { port: 80 }, { port: 90 })).toEqual(["port = 80 < 0"]);
  });

  test("is found in lists by index, so that one item may come from another layer", () => {
    const merged = { hosts: [{ name: "a" }, { name: "c" }] };
    const place = { hosts: [null, { name: "c" }] };
    expect(leavesOf(merged, { hosts: [{ name: "a" }, { name: "b" }] }, place)).toEqual([
      'hosts[0].name = "a" < 0',
      'hosts[1].name = "c" < 1',
    ]);
  });

  test("is found for null and empty values too", () => {
    expect(leavesOf({ a: null, b: {}, c: [] }, { a: null, b: {} }, { c: [] })).toEqual([
      "a = null < 0",
      "b = {} < 0",
      "c = [] < 1",
    ]);
  });

  test("lists all layers with a value at this path if none has the result", () => {
    expect(leavesOf({ a: 3 }, { a: 1 }, { b: 1 }, { a: 2 })).toEqual(["a = 3 < 0,2"]);
  });

  test("has keys escaped as helm --set requires", () => {
    expect(leavesOf({ "a.b/c": { "x=y": 1 } }, {})).toEqual([String.raw`a\.b/c.x\=y = 1 < `]);
  });

  test("is empty for no values", () => {
    expect(leavesOf({}, {})).toEqual([]);
  });
});
