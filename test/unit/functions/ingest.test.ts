import { describe, expect, test } from "vitest";
import { ecrHosts, ingestHandler } from "../../../functions/ingest.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { ecrPush } from "../../../local/ecr-push.ts";
import { sqliteEdges } from "../../../local/state/edges.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { keyOf, leased, never } from "../../contract/state-back-end.ts";
import { silentLog } from "../../doubles/silent-log.ts";

/** As https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-eventbridge.html shows it. */
const pushed = {
  version: "0",
  id: "13cde686-328b-6117-af20-0e5566167482",
  "detail-type": "ECR Image Action",
  source: "aws.ecr",
  account: "123456789012",
  time: "2019-11-16T01:54:34Z",
  region: "us-west-2",
  resources: [],
  detail: {
    result: "SUCCESS",
    "repository-name": "fleet/apps",
    "image-digest": "sha256:7f5b2640fe6fb4f46592dfd3410c4a79dac4f89e4782432e0378abcd1234",
    "action-type": "PUSH",
    "image-tag": "latest",
  },
};

async function requestedBy(event: unknown, listening: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const database = openStateDatabase(":memory:");
  const edges = sqliteEdges(database);
  const items = sqliteWorkItems(database);
  const requested: string[] = [];
  try {
    for (const [name, what] of Object.entries(listening)) {
      await edges.listen([what], await leased({ items }, keyOf(name)), never);
    }
    const handler = ingestHandler({
      edges,
      log: silentLog,
      registryHosts: (account, region) =>
        account === "000000000000" ? ["127.0.0.1:5000", "localhost:5000"] : ecrHosts(account, region),
      requests: {
        async request(key, reason) {
          requested.push(`${formatWorkKey(key)} ${reason}`);
        },
      },
    });
    await handler(event, never);
    return requested;
  } finally {
    database.close();
  }
}

const listening = {
  web: "repo#123456789012.dkr.ecr.us-west-2.amazonaws.com/fleet/apps",
  db: "repo#123456789012.dkr.ecr.us-west-2.amazonaws.com/fleet/apps",
  elsewhere: "repo#123456789012.dkr.ecr.eu-west-1.amazonaws.com/fleet/apps",
  other: "repo#123456789012.dkr.ecr.us-west-2.amazonaws.com/fleet",
};

describe("ingest", () => {
  test("a push to ECR asks for a run of every source that listens to the repository, and of no other", async () => {
    expect(await requestedBy(pushed, listening)).toEqual([
      `${formatWorkKey(keyOf("db"))} push`,
      `${formatWorkKey(keyOf("web"))} push`,
    ]);
  });

  test.each([
    { name: "that failed", detail: { ...pushed.detail, result: "FAILURE" } },
    { name: "that deleted an image", detail: { ...pushed.detail, "action-type": "DELETE" } },
  ])("an action $name asks for nothing", async ({ detail }) => {
    expect(await requestedBy({ ...pushed, detail }, listening)).toEqual([]);
  });

  test.each([
    { name: "an event of another service", event: { ...pushed, source: "aws.s3" }, says: "source" },
    { name: "another event of ECR", event: { ...pushed, "detail-type": "ECR Image Scan" }, says: "detail-type" },
    {
      name: "an event without a repository",
      event: { ...pushed, detail: { ...pushed.detail, "repository-name": "" } },
      says: "repository-name",
    },
    { name: "no event at all", event: "push", says: "object" },
  ])("$name is refused", async ({ event, says }) => {
    await expect(requestedBy(event, listening)).rejects.toThrow(says);
  });

  test("the embedded registry's push reaches sources that name it by address and by localhost", async () => {
    const push = { registry: "127.0.0.1:5000", repository: "apps", tag: "v1", digest: "sha256:0" };
    const names = { a: "repo#127.0.0.1:5000/apps", b: "repo#localhost:5000/apps", c: "repo#localhost:5001/apps" };
    expect(await requestedBy(ecrPush(push, systemClock.now()), names)).toEqual([
      `${formatWorkKey(keyOf("a"))} push`,
      `${formatWorkKey(keyOf("b"))} push`,
    ]);
  });

  test.each([
    { region: "eu-central-1", host: "1.dkr.ecr.eu-central-1.amazonaws.com" },
    { region: "cn-north-1", host: "1.dkr.ecr.cn-north-1.amazonaws.com.cn" },
  ])("the registry of an account in $region is $host", ({ region, host }) => {
    expect(ecrHosts("1", region)).toEqual([host]);
  });
});
