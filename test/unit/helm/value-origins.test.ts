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

describe("the leaves of merged values", () => {
  test("come each from the last layer that has this value", () => {
    const base = { image: { tag: "v1", pull: true }, replicas: 1 };
    const over = { image: { tag: "v2" }, replicas: 1 };
    expect(leavesOf({ image: { tag: "v2", pull: true }, replicas: 1 }, base, over)).toEqual([
      'image.tag = "v2" < 1',
      "image.pull = true < 0",
      "replicas = 1 < 1",
    ]);
  });

  test("come from the layer whose value they have, also where a later layer has another one", () => {
    expect(leavesOf({ port: 80 }, { port: 80 }, { port: 90 })).toEqual(["port = 80 < 0"]);
  });

  test("are found in lists place by place, so that one place may come from another layer", () => {
    const merged = { hosts: [{ name: "a" }, { name: "c" }] };
    const place = { hosts: [null, { name: "c" }] };
    expect(leavesOf(merged, { hosts: [{ name: "a" }, { name: "b" }] }, place)).toEqual([
      'hosts[0].name = "a" < 0',
      'hosts[1].name = "c" < 1',
    ]);
  });

  test("are also null and what is empty", () => {
    expect(leavesOf({ a: null, b: {}, c: [] }, { a: null, b: {} }, { c: [] })).toEqual([
      "a = null < 0",
      "b = {} < 0",
      "c = [] < 1",
    ]);
  });

  test("name all layers that have something there if none has this value", () => {
    expect(leavesOf({ a: 3 }, { a: 1 }, { b: 1 }, { a: 2 })).toEqual(["a = 3 < 0,2"]);
  });

  test("have keys escaped as helm --set wants them", () => {
    expect(leavesOf({ "a.b/c": { "x=y": 1 } }, {})).toEqual([String.raw`a\.b/c.x\=y = 1 < `]);
  });

  test("of no values are none", () => {
    expect(leavesOf({}, {})).toEqual([]);
  });
});
