import { describe, expect, test } from "vitest";
import { quantity } from "../../../../../lib/canary/metrics/providers/quantity.ts";
import { defaultCanarySettings } from "../../../../../lib/canary/settings.ts";
import { ApiError } from "../../../../../lib/core/ports/cluster.ts";
import type { ExternalMetrics } from "../../../../../lib/core/ports/external-metrics.ts";
import { askedOf, serverWorld } from "./server-world.ts";

const list = (...values: readonly string[]) => ({
  kind: "ExternalMetricValueList",
  items: values.map((value) => ({ value })),
});

/** The API of the cluster itself. */
function ofCluster(values: ExternalMetrics["values"], noCrossNamespaceRefs = false) {
  const settings = { ...defaultCanarySettings, noCrossNamespaceRefs };
  return serverWorld({ type: "externalmetrics" }, { parts: { externalMetrics: { values }, settings } });
}

const notAsked = () => Promise.reject(new Error("it is asked"));

describe("the API of external metrics", () => {
  test.each([
    [
      "default/myMetric?labelSelector=label1%3Dvalue1",
      { namespace: "default", name: "myMetric", labelSelector: "label1=value1" },
    ],
    ["ops/myMetric\n", { namespace: "ops", name: "myMetric", labelSelector: "" }],
    ["/metric_only", { namespace: "default", name: "metric_only", labelSelector: "" }],
    ["metric_only", { namespace: "default", name: "metric_only", labelSelector: "" }],
  ])("of the cluster is queried with %j, and the first value counts", async (query, metric) => {
    const asked: unknown[] = [];
    const world = ofCluster(async (given) => {
      asked.push(given);
      return list("1111100u", "2");
    });
    expect([await world.query(query), asked]).toEqual([1.1111, [metric]]);
  });

  test.each([
    [
      "ns/metric/extra",
      /^error parsing metric query: malformed query string, too many slashes, expected .*got ns\/metric\/extra$/,
    ],
    ["ns/", /^error parsing metric query: metric name cannot be empty$/],
    ["/", /^error parsing metric query: metric name cannot be empty$/],
    ["", /^error parsing metric query: metric name cannot be empty$/],
    ["m?labelSelector=a+b", /^error parsing metric query: error parsing label selector from string a b: /],
    ["../m", /^error querying external metrics API: invalid namespace "\.\.": \[may not be '\.\.'\]$/],
    ["ops/.", /^error querying external metrics API: invalid resource "\.": \[may not be '\.'\]$/],
    ["ops/a%25", /^error querying external metrics API: invalid resource "a%": \[may not contain '%'\]$/],
  ])("is not queried with %j", async (query, text) => {
    expect(await ofCluster(notAsked).query(query)).toMatch(text);
  });

  test("is not queried in another namespace than the template's if the installation forbids such references", async () => {
    expect(await ofCluster(notAsked, true).query("ops/m")).toBe(
      "can't access external metric ops/m, cross-namespace references are blocked",
    );
    expect(await ofCluster(async () => list("1"), true).query("apps/m")).toBe(1);
  });

  test("is queried with the account of the step; the online check uses the namespace of the template", async () => {
    const asked: unknown[] = [];
    const values = async (given: unknown) => {
      asked.push(given);
      return list("1");
    };
    const user = "system:serviceaccount:apps:deployer";
    const world = serverWorld(
      { type: "externalmetrics" },
      { parts: { externalMetrics: { values }, accountUser: user } },
    );
    expect([await world.query("ops/m"), await world.probe()]).toEqual([1, "online"]);
    expect(asked).toEqual([
      { namespace: "ops", name: "m", labelSelector: "", user },
      { namespace: "apps", name: "dummy-metric", labelSelector: "", user },
    ]);
  });

  test("without a value has no data", async () => {
    expect(await ofCluster(async () => list()).query("m")).toBe("none: no external metrics found: no values found");
  });

  test("that refuses fails the check; a cluster that does not answer does not", async () => {
    const failing = (code: number) =>
      ofCluster(() => Promise.reject(new ApiError({ code, reason: "", message: "no" })));
    expect(await failing(404).query("m")).toBe("error querying external metrics API: no");
    expect(await failing(403).probe()).toBe("external metrics service unavailable: no");
    await expect(failing(0).query("m")).rejects.toThrow("no");
  });

  test("at the address of the provider is queried with the token of its Secret", async () => {
    const world = serverWorld(
      { type: "externalmetrics", address: "https://metrics.example.com/", insecureSkipVerify: true },
      { secret: { token: "t" }, answers: [{ body: JSON.stringify(list("2Ki")) }] },
    );
    expect(await world.query("ops/m?labelSelector=a%3Db")).toBe(2_048);
    expect(askedOf(world)).toEqual([
      {
        asked:
          "GET https://metrics.example.com/apis/external.metrics.k8s.io/v1beta1/namespaces/ops/m?labelSelector=a%3Db",
        headers: { accept: "application/json", authorization: "Bearer t" },
      },
    ]);
    expect(world.requests[0]?.tls).toEqual({ insecure: true });
  });
});

test.each([
  ["1", 1],
  ["1500m", 1.5],
  ["11111e-4", 1.1111],
  ["1e3", 1_000],
  ["1.5Gi", 1_610_612_736],
  ["-2k", -2_000],
  ["100n", 1e-7],
])("the quantity %s is %d", (text, value) => {
  expect(quantity(text)).toBe(value);
});

test.each(["", "x", "1x", "1 k", "Ki"])("%j is not a quantity", (text) => {
  expect(() => quantity(text)).toThrow("unable to parse quantity");
});
