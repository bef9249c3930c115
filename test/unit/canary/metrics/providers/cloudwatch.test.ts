import { expect, test } from "vitest";
import { type CloudWatch, CloudWatchError, type MetricDataRequest } from "../../../../../lib/core/ports/cloud-watch.ts";
import { metricWorld } from "../metric-world.ts";
import { serverWorld } from "./server-world.ts";

const provider = { type: "cloudwatch", region: "eu-west-1" } as const;
const queries = `[
  {"id": "e1", "Expression": "m1 / m2", "label": "ErrorRate", "unknown": 1},
  {"Id": "m1", "MetricStat": {"metric": {"namespace": "N", "MetricName": "Errors", "dimensions": [{"name": "a", "Value": "b"}]}, "period": 60, "Stat": "Sum"}, "ReturnData": false}
]`;

function ask(answer: readonly (readonly number[])[] | CloudWatchError, interval = "1m") {
  const requests: MetricDataRequest[] = [];
  const cloudWatch: CloudWatch = {
    async metricData(request) {
      requests.push(request);
      if (answer instanceof CloudWatchError) throw answer;
      return answer;
    },
  };
  return { ...serverWorld(provider, { interval, parts: { cloudWatch } }), asked: requests };
}

test("CloudWatch is queried for ten intervals and at most 20 points, and the first value of the first result counts", async () => {
  const { query, asked } = ask([[1.5, 2], [3]]);
  expect(await query(queries)).toBe(1.5);
  expect(asked).toEqual([
    {
      ...{ namespace: "apps", region: "eu-west-1", maxDatapoints: 20 },
      ...{ startMs: 1_795_348_200_000, endMs: 1_795_348_800_000 },
      queries: [
        { Id: "e1", Expression: "m1 / m2", Label: "ErrorRate" },
        {
          Id: "m1",
          MetricStat: {
            Metric: { Namespace: "N", MetricName: "Errors", Dimensions: [{ Name: "a", Value: "b" }] },
            Period: 60,
            Stat: "Sum",
          },
          ReturnData: false,
        },
      ],
    },
  ]);
});

test.each([[[]], [[[]]]])("an answer of CloudWatch without values has no data: %j", async (answer) => {
  expect(await ask(answer).query("[]")).toMatch(
    /^none: invalid repon?se:? .*: no values found$|^none: invalid response: /,
  );
});

test.each([["{}"], ["[1]"], ["x"]])("the CloudWatch query %s is refused as invalid", async (query) => {
  expect(await ask([]).query(query)).toMatch(/^error unmarshaling query: /);
});

test("an error of CloudWatch is reported; its error for an empty query shows that CloudWatch answers", async () => {
  const failed = new CloudWatchError("failed", "cloudwatch:GetMetricData on CloudWatch in eu-west-1: allow it");
  expect(await ask(failed).query("[]")).toBe(`error requesting cloudwatch: ${failed.message}`);
  expect(await ask(failed).probe()).toBe(`unexpected error: ${failed.message}`);
  const { probe, asked } = ask(new CloudWatchError("invalid", "no queries"));
  expect([await probe(), asked.map((request) => request.queries)]).toEqual(["online", [[]]]);
});

test("a CloudWatch template needs an interval, because a MetricTemplate has no default", async () => {
  expect(await ask([], "").query("[]")).toBe('error parsing metric interval: time: invalid duration ""');
});

test("without an AWS identity a CloudWatch check fails with this reason", async () => {
  expect(await serverWorld(provider).query("[]")).toBe("error requesting cloudwatch: no AWS identity is lent here");
});

test("canary/48: a CloudWatch template without a region fails", async () => {
  const { check } = metricWorld({
    metrics: [{ name: "errors", interval: "1m", templateRef: { name: "errors" } }],
    templates: { "apps/errors": { provider: { type: "cloudwatch" }, query: "[]" } },
  });
  expect(await check()).toBe("Metric template errors.apps provider cloudwatch error: region not specified");
});
