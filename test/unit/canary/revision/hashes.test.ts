import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { CanaryStatus } from "../../../../lib/api/canary.ts";
import { statusChecksum } from "../../../../lib/canary/revision/checksum.ts";
import { configHash } from "../../../../lib/canary/revision/config-hash.ts";
import { serviceSpecHash, templateHash } from "../../../../lib/canary/revision/template-hash.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../../../lib/core/json.ts";

const Vector = z.object({
  type: z.string(),
  hash: z.string(),
  json: z.custom<JsonObject>(isJsonObject),
});
type Vector = z.infer<typeof Vector>;

function fixture(name: string): string {
  return readFileSync(new URL(`../../../fixtures/canary-hash/${name}`, import.meta.url), "utf8");
}

const hashOf: Readonly<Record<string, (json: JsonObject) => string>> = {
  template: templateHash,
  "v1.PodTemplateSpec": templateHash,
  "v1.ServiceSpec": serviceSpecHash,
  config: (json) => configHash(z.record(z.string(), z.string()).parse(json)),
  status: (json) => statusChecksum(CanaryStatus.parse(json)),
};

function differing(vectors: readonly Vector[]): readonly unknown[] {
  return vectors
    .map(({ type, hash, json }) => ({ type, hash, ours: hashOf[type]?.(json), json }))
    .filter(({ hash, ours }) => hash !== ours);
}

describe("hashes of a Canary", () => {
  const recorded = z.array(Vector).parse(parseJson(fixture("recorded.json")));

  test.each([
    { type: "template", title: "canary/18: a pod template has the hash that Flagger recorded for it" },
    { type: "config", title: "canary/15: a tracked config has the 16 hex digits that Flagger recorded for it" },
    { type: "status", title: "a status has the checksum that Flagger sent to a webhook" },
  ])("$title", ({ type: of }) => {
    const vectors = recorded.filter(({ type }) => type === of);
    expect(vectors.length).toBeGreaterThan(1);
    expect(differing(vectors)).toEqual([]);
  });

  test("canary/18: generated objects with every field of a pod template have the same hash as in Go", () => {
    const vectors = fixture("vectors.jsonl")
      .trimEnd()
      .split("\n")
      .map((line) => Vector.parse(parseJson(line)));
    expect(new Set(vectors.map(({ hash }) => hash)).size).toBeGreaterThan(300);
    expect(differing(vectors).slice(0, 5)).toEqual([]);
  });

  test("a field with another shape than in Kubernetes is refused by the name of its type", () => {
    const template = { spec: { containers: [{ name: 3 }] } };
    expect(() => templateHash(template)).toThrow("a string of Kubernetes cannot be read from a JSON number");
    expect(() => templateHash({ spec: { containers: {} } })).toThrow("a []v1.Container of Kubernetes");
    expect(() => templateHash({ spec: { overhead: { cpu: "much" } } })).toThrow('"much" is not a quantity');
    const huge = { spec: { overhead: { cpu: "0.1e-999999999" } } };
    expect(() => templateHash(huge)).toThrow("the exponent -999999999 of a quantity is too large");
  });

  test("a ConfigMap without data has the same hash as one with empty data", () => {
    expect(configHash({})).toBe("74234e98afe7498f");
  });
});
