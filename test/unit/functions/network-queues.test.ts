import { expect, test } from "vitest";
import { queueOfCluster, queueOfNetwork } from "../../../functions/lambda/network-queues.ts";
import { never } from "../../contract/state-back-end.ts";

const region = "eu-west-1";
const arnOf = (name: string) => `arn:aws:eks:${region}:123456789012:cluster/${name}`;
const blue = "https://sqs.test/123456789012/blue";
const green = "https://sqs.test/123456789012/green";

/** The URLs of the queues of these clusters, and how often the document was read. */
async function queuesOf(SLUICE_QUEUE_URLS: Readonly<Record<string, string>>, names: readonly string[]) {
  let reads = 0;
  const clusters = [
    {
      arn: arnOf("one"),
      network: "blue",
      maxRuns: 1,
      repositories: {},
      buckets: {},
      decryptionKeys: {},
      targets: {},
      notificationTargets: {},
    },
    {
      arn: arnOf("two"),
      network: "green",
      maxRuns: 1,
      repositories: {},
      buckets: {},
      decryptionKeys: {},
      targets: {},
      notificationTargets: {},
    },
  ];
  const queueOf = queueOfCluster({ AWS_REGION: region, SLUICE_QUEUE_URLS }, async () => {
    reads += 1;
    return { clusters };
  });
  const queues = await Promise.all(names.map((name) => queueOf(arnOf(name), never)));
  return { urls: queues.map(({ url }) => url), reads };
}

test("the queue of a cluster is that of its network; messages for an unknown cluster are handled by any function", async () => {
  expect(await queuesOf({ blue, green }, ["two", "one", "three"])).toEqual({ urls: [green, blue, blue], reads: 3 });
});

test("with a single network the document is not read", async () => {
  expect(await queuesOf({ blue }, ["two"])).toEqual({ urls: [blue], reads: 0 });
});

test("a function hides messages in the queue of its own network", () => {
  const config = { AWS_REGION: region, SLUICE_QUEUE_URLS: { blue, green } };
  expect(queueOfNetwork({ ...config, SLUICE_NETWORK: "green" })).toEqual({ url: green, region });
  expect(() => queueOfNetwork({ ...config, SLUICE_NETWORK: "red" })).toThrow(RangeError);
});
