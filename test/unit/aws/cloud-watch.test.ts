import { expect, test } from "vitest";
import { cloudWatch } from "../../../lib/aws/cloud-watch.ts";
import { CloudWatchError, type MetricDataRequest } from "../../../lib/core/ports/cloud-watch.ts";
import { faultyWire, type WireFault } from "../../doubles/faulty-wire.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const never = new AbortController().signal;
const request: MetricDataRequest = {
  ...{
    namespace: "apps",
    region: "eu-north-1",
    maxDatapoints: 20,
    startMs: 1_795_348_200_500,
    endMs: 1_795_348_800_500,
  },
  queries: [{ Id: "m1", Expression: "1" }],
};

/** One call over the wire, which is answered so. */
async function over(answers: readonly WireFault[], change: Partial<MetricDataRequest> = {}) {
  const seen: { readonly authorization: string; readonly target: string; readonly body: unknown }[] = [];
  await using wire = await faultyWire(undefined, ({ headers }, count, body) => {
    const { authorization = "", "x-amz-target": target = "" } = headers;
    seen.push({ authorization, target: String(target), body: JSON.parse(body.toString()) });
    return answers[Math.min(count, answers.length - 1)] ?? "dropped";
  });
  const clock = steppedClock();
  const port = cloudWatch({
    connection: { endpoint: wire.url, credentials: { accessKeyId: "x", secretAccessKey: "y" } },
    clock: { now: () => clock.now(), sleep: async (ms) => clock.pass(ms) },
    isAllowed: (namespace, region) => namespace === "apps" && region === "eu-north-1",
  });
  const result = await port.metricData({ ...request, ...change }, never).catch((error: unknown) => {
    if (!(error instanceof CloudWatchError)) throw error;
    return `${error.reason}: ${error.message}`;
  });
  return { result, seen };
}

const good = (body: object): WireFault => ({ status: 200, body: JSON.stringify(body) });
const refusal = (status: number, type: string): WireFault => ({
  status,
  body: JSON.stringify({ __type: `com.amazonaws.cloudwatch#${type}`, message: "no" }),
});

test("GetMetricData is one request in its region, signed for CloudWatch", async () => {
  const { result, seen } = await over([
    good({ MetricDataResults: [{ Id: "m1", Values: [1.5, 2] }, { Values: ["NaN"] }, {}] }),
  ]);
  expect(result).toEqual([[1.5, 2], [Number.NaN], []]);
  expect(seen).toEqual([
    {
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=x\/\d{8}\/eu-north-1\/monitoring\/aws4_request,/,
      ),
      target: "GraniteServiceVersion20100801.GetMetricData",
      body: {
        StartTime: 1_795_348_200.5,
        EndTime: 1_795_348_800.5,
        MaxDatapoints: 20,
        MetricDataQueries: [{ Id: "m1", Expression: "1" }],
      },
    },
  ]);
});

test("a temporary error is retried three more times", async () => {
  const { result, seen } = await over([refusal(500, "InternalServiceFault"), refusal(400, "Throttling"), good({})]);
  expect([result, seen.length]).toEqual([[], 3]);
  const down = await over([refusal(500, "InternalServiceFault")]);
  expect([down.result, down.seen.length]).toEqual([expect.stringMatching(/^failed: cloudwatch:GetMetricData on /), 4]);
});

test.each([
  [refusal(400, "ValidationError"), /^invalid: cloudwatch:GetMetricData on CloudWatch in eu-north-1: no$/],
  [refusal(400, "AccessDeniedException"), /^failed: .*allow cloudwatch:GetMetricData in the policy of the role/],
  [refusal(403, "ExpiredTokenException"), /^failed: .*credentials have expired/],
  [good({ MetricDataResults: [{ Values: ["x"] }] }), /^failed: cloudwatch:GetMetricData: AWS's answer cannot be read$/],
])("a missing right is distinguished from an invalid request: %#", async (answer, text) => {
  expect((await over([answer])).result).toMatch(text);
});

test("the identity is used only for the namespaces and regions that the installation lists", async () => {
  const other = await over([good({})], { namespace: "other" });
  expect([other.result, other.seen]).toEqual([
    "failed: this installation does not lend its AWS identity to namespace other for CloudWatch in eu-north-1: add it to the cloudWatchRegions of this cluster in the installation",
    [],
  ]);
  const elsewhere = await over([good({})], { region: "us-east-1" });
  expect([elsewhere.result, elsewhere.seen]).toEqual([
    expect.stringMatching(/namespace apps for CloudWatch in us-east-1/),
    [],
  ]);
  const nowhere = await over([good({})], { region: "x.example.com/" });
  expect([nowhere.result, nowhere.seen]).toEqual([
    'failed: "x.example.com/" is not a region of AWS: set spec.provider.region',
    [],
  ]);
});
