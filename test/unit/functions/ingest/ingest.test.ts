import { describe, expect, test } from "vitest";
import { ecrHosts } from "../../../../functions/ingest/ecr.ts";
import { ingestBatchHandler, maxEventBytes } from "../../../../functions/ingest.ts";
import { gitTopic, repositoryTopic } from "../../../../lib/core/topics.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { ecrPush } from "../../../../local/aws-events.ts";
import { keyOf, never } from "../../../contract/state-back-end.ts";
import { ingestWorld, sample } from "./ingest-world.ts";

const topic = "repo#123456789012.dkr.ecr.us-west-2.amazonaws.com/my-repository-name";
const tag = (...names: readonly string[]) => ({ topic, follows: { kind: "names", names: [...names] } }) as const;

describe("an event of ECR", () => {
  test("wakes every source that follows its tag, and no other", async () => {
    using world = await ingestWorld({
      web: tag("latest"),
      db: topic,
      range: { topic, follows: { kind: "range", semver: "*" } },
      other: tag("v1"),
      elsewhere: "repo#123456789012.dkr.ecr.eu-west-1.amazonaws.com/my-repository-name",
      shorter: "repo#123456789012.dkr.ecr.us-west-2.amazonaws.com/my-repository",
    });
    expect(await world.ingest(await sample("ecr-push"))).toEqual(["db", "web"]);
    expect(await world.ingest(await sample("ecr-delete"))).toEqual(["db", "web"]);
    expect(await world.ingest(await sample("ecr-push", { "image-tag": "v1.2.0" }))).toEqual(["db", "range"]);
  });

  test("wakes sources by any host name of the registry: dual-stack, FIPS or both", async () => {
    const hosts = {
      dual: "123456789012.dkr-ecr.us-west-2.on.aws",
      dualFips: "123456789012.dkr-ecr-fips.us-west-2.on.aws",
      fips: "123456789012.dkr.ecr-fips.us-west-2.amazonaws.com",
      other: "123456789012.dkr-ecr.us-west-1.on.aws",
      usual: "123456789012.dkr.ecr.us-west-2.amazonaws.com",
    };
    const topics = Object.entries(hosts).map(([name, host]): [string, string] => [
      name,
      repositoryTopic(host, "my-repository-name"),
    ]);
    using world = await ingestWorld(Object.fromEntries(topics));
    const woken = (await world.ingest(await sample("ecr-push"))).toSorted();
    expect(woken).toEqual(["dual", "dualFips", "fips", "usual"]);
  });

  test.each(["ecr-push", "ecr-delete"])("without a tag (%s) wakes every source that follows a tag", async (name) => {
    using world = await ingestWorld({ web: tag("latest"), other: tag("v1") });
    const { detail, ...event } = await sample(name);
    const { "image-tag": _, ...untagged } = detail;
    expect(await world.ingest({ ...event, detail: untagged })).toEqual(["other", "web"]);
    expect(await world.ingest({ ...event, detail: { ...untagged, "image-tag": "" } })).toEqual(["other", "web"]);
  });

  test("of a replication wakes the sources of the target registry", async () => {
    using world = await ingestWorld({
      here: "repo#123456789012.dkr.ecr.us-east-1.amazonaws.com/docker-hub/alpine",
      there: "repo#123456789012.dkr.ecr.us-west-2.amazonaws.com/docker-hub/alpine",
    });
    expect(await world.ingest(await sample("ecr-replication"))).toEqual(["here"]);
  });

  test("of a failed action, or of another action, wakes no source and is not an error", async () => {
    using world = await ingestWorld({ db: topic });
    expect(await world.ingest(await sample("ecr-push", { result: "FAILURE" }))).toEqual([]);
    expect(await world.ingest(await sample("ecr-push", { "action-type": "UPDATE_STORAGE_CLASS" }))).toEqual([]);
    expect(world.refused()).toBe(0);
  });

  test("of the embedded registry reaches sources that name it by address and by localhost, once each", async () => {
    const push = { registry: "127.0.0.1:5000", repository: "apps", tag: "v1", digest: "sha256:0" };
    const names = { a: "repo#127.0.0.1:5000/apps", b: "repo#localhost:5000/apps", c: "repo#localhost:5001/apps" };
    const registryHosts = () => ["127.0.0.1:5000", "localhost:5000", "localhost:5000"];
    using world = await ingestWorld(names, { registryHosts });
    expect(await world.ingest(ecrPush(push, systemClock.now()))).toEqual(["a", "b"]);
  });

  test.each([
    { region: "eu-central-1", host: "1.dkr.ecr.eu-central-1.amazonaws.com" },
    { region: "us-gov-west-1", host: "1.dkr.ecr.us-gov-west-1.amazonaws.com" },
    { region: "cn-north-1", host: "1.dkr.ecr.cn-north-1.amazonaws.com.cn" },
    { region: "cn-northwest-1", host: "1.dkr.ecr.cn-northwest-1.amazonaws.com.cn" },
    { region: "eusc-de-east-1", host: "1.dkr.ecr.eusc-de-east-1.amazonaws.eu" },
    { region: "us-iso-east-1", host: "1.dkr.ecr.us-iso-east-1.c2s.ic.gov" },
    { region: "us-isob-east-1", host: "1.dkr.ecr.us-isob-east-1.sc2s.sgov.gov" },
    { region: "us-isof-south-1", host: "1.dkr.ecr.us-isof-south-1.csp.hci.ic.gov" },
    { region: "eu-isoe-west-1", host: "1.dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk" },
  ])("in $region belongs to the registry $host, and wakes its sources", async ({ region, host }) => {
    expect(ecrHosts("1", region)).toEqual([host]);
    using world = await ingestWorld({ db: `repo#${host}/my-repository-name` });
    expect(await world.ingest({ ...(await sample("ecr-push")), account: "1", region })).toEqual(["db"]);
  });
});

describe("an event of CodeCommit", () => {
  const repository = "git-codecommit.us-east-2.amazonaws.com/v1/repos/MyDemoRepo";
  const follows = (name: string) => ({ kind: "names", names: [name] }) as const;

  test("wakes the sources that follow the branch, by any address of the repository", async () => {
    using world = await ingestWorld({
      https: { topic: gitTopic(`https://${repository}`), follows: follows("refs/heads/myBranch") },
      ssh: { topic: gitTopic(`ssh://APKAEIBAERJR2EXAMPLE@${repository}`), follows: follows("refs/heads/myBranch") },
      fips: gitTopic("https://git-codecommit-fips.us-east-2.amazonaws.com/v1/repos/MyDemoRepo"),
      other: { topic: gitTopic(`https://${repository}`), follows: follows("refs/heads/main") },
    });
    for (const event of ["referenceCreated", "referenceUpdated", "referenceDeleted"]) {
      expect((await world.ingest(await sample("code-commit-updated", { event }))).toSorted()).toEqual([
        "fips",
        "https",
        "ssh",
      ]);
    }
  });

  test("of a merge without a branch wakes no source and is not an error", async () => {
    using world = await ingestWorld({ https: gitTopic(`https://${repository}`) });
    const event = await sample("code-commit-updated", { event: "unreferencedMergeCommitCreated" });
    expect(await world.ingest(event)).toEqual([]);
    expect(world.refused()).toBe(0);
  });
});

describe("an event of S3", () => {
  test.each(["s3-created", "s3-deleted"])(
    "%s wakes the sources that follow the key's prefix in the bucket",
    async (name) => {
      using world = await ingestWorld({
        whole: "s3#amzn-s3-demo-bucket1",
        inside: { topic: "s3#amzn-s3-demo-bucket1", follows: { kind: "prefix", prefix: "example-" } },
        beside: { topic: "s3#amzn-s3-demo-bucket1", follows: { kind: "prefix", prefix: "other/" } },
        elsewhere: "s3#amzn-s3-demo-bucket2",
      });
      expect(await world.ingest(await sample(name))).toEqual(["inside", "whole"]);
    },
  );
});

describe("an event that is not accepted", () => {
  const codeConnections = { source: "aws.codeconnections", "detail-type": "GitSync Repository Sync Status Change" };

  test.each([
    { name: "no event", change: () => "push", says: /^no event of EventBridge: event: .*object/ },
    { name: "an empty object", change: () => ({}), says: /source: / },
    {
      name: "another service",
      change: (event: object) => ({ ...event, source: "aws.ec2" }),
      says: /that is not read.*aws\.ec2/,
    },
    {
      name: "another type",
      change: (event: object) => ({ ...event, "detail-type": "ECR Image Scan" }),
      says: /ECR Image Scan/,
    },
    {
      name: "CodeConnections, which does not report pushes",
      change: (event: object) => ({ ...event, ...codeConnections }),
      says: /codeconnections/,
    },
    {
      name: "swapped names",
      change: (event: object) => ({ ...event, source: "aws.s3" }),
      says: /that is not read/,
    },
    {
      name: "an invalid detail",
      change: (event: object) => ({ ...event, detail: [] }),
      says: /not as documented.*detail: /,
    },
    {
      name: "a repository without a name",
      change: (event: object) => ({ ...event, detail: { "repository-name": "" } }),
      says: /repository-name/,
    },
  ])("$name: one log line with the reason, one count, no error and no source woken", async ({ change, says }) => {
    using world = await ingestWorld({ db: topic });
    expect(await world.ingest(change(await sample("ecr-push")))).toEqual([]);
    expect(world.log.lines).toEqual([{ message: "event not taken", why: expect.stringMatching(says) }]);
    expect(world.refused()).toBe(1);
  });

  test("comes from an unlisted account or region, while events from listed ones are accepted", async () => {
    const admitted = new Set(["123456789012/us-west-2"]);
    const isAdmitted = (account: string, region: string) => admitted.has(`${account}/${region}`);
    using world = await ingestWorld({ db: topic }, { isAdmitted });
    expect(await world.ingest({ ...(await sample("ecr-push")), account: "999999999999" })).toEqual([]);
    expect(await world.ingest({ ...(await sample("ecr-push")), region: "eu-west-1" })).toEqual([]);
    expect(world.refused()).toBe(2);
    expect(String(world.log.lines[0]?.["why"])).toContain("999999999999");
    expect(await world.ingest(await sample("ecr-push"))).toEqual(["db"]);
  });

  test("is logged with little of it quoted, and nothing of its detail", async () => {
    using world = await ingestWorld({});
    await world.ingest({ ...(await sample("ecr-push")), "detail-type": "x".repeat(256) });
    await world.ingest(await sample("ecr-push", { "repository-name": { password: "secret" } }));
    const text = JSON.stringify(world.log.lines);
    expect(text).not.toContain("secret");
    expect(text.length).toBeLessThan(1_500);
  });
});

describe("a batch of hints", () => {
  const record = (messageId: string, body: string) => ({ messageId, receiptHandle: messageId, body });

  test("drops what can never be parsed, and retries what could not be requested", async () => {
    const text = JSON.stringify(await sample("ecr-push"));
    using world = await ingestWorld({ db: topic });
    const failing = { hint: () => Promise.reject(new Error("table away")) };
    const Records = [
      record("no JSON", "{"),
      record("no event", "{}"),
      record("long", `"${"x".repeat(maxEventBytes)}"`),
    ];
    const handler = ingestBatchHandler({ ...world.deps, requests: failing });
    expect(await handler({ Records: [...Records, record("good", text)] }, never)).toEqual({
      batchItemFailures: [{ itemIdentifier: "good" }],
    });
    expect(world.refused()).toBe(3);
    expect(await ingestBatchHandler(world.deps)({ Records: [record("good", text)] }, never)).toEqual({
      batchItemFailures: [],
    });
    expect(world.woken).toEqual([keyOf("db").name]);
    await expect(handler({}, never)).rejects.toThrow("Records");
  });
});
