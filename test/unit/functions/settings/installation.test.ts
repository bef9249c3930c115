import { describe, expect, test } from "vitest";
import {
  type InstallationDocument,
  maxClusters,
  maxInstallationBytes,
  maxNetworks,
  readInstallation,
} from "../../../../functions/settings/installation.ts";
import { defaultSettings } from "../../../../functions/settings/settings.ts";

const arnOf = (name: string, account = "123456789012", region = "eu-west-1") =>
  `arn:aws:eks:${region}:${account}:cluster/${name}`;
const host = "123456789012.dkr.ecr.eu-west-1.amazonaws.com";
const role = "arn:aws:iam::123456789012:role/sluice/target";

function faultsOf(document: unknown): readonly string[] {
  const read = readInstallation(JSON.stringify(document));
  return "faults" in read ? read.faults : [];
}

/** The faults of a document with one cluster that is prod but for these fields. */
const faultsOfCluster = (fields: object) => faultsOf({ version: 1, clusters: [{ arn: arnOf("prod"), ...fields }] });

describe("the document of an installation", () => {
  test("may leave out settings with a default", () => {
    expect(readInstallation(JSON.stringify({ version: 1, clusters: [{ arn: arnOf("prod") }] }))).toEqual({
      version: 1,
      clusters: [
        {
          arn: arnOf("prod"),
          network: "default",
          maxRuns: 20,
          repositories: {},
          buckets: {},
          decryptionKeys: {},
          targets: {},
          notificationTargets: {},
        },
      ],
      settings: { values: defaultSettings, given: new Set() },
    });
    expect(faultsOf({ version: 1, clusters: [] })).toEqual([]);
  });

  test("contains clusters of several accounts, regions and networks, their repositories, and the settings", () => {
    const document: InstallationDocument = {
      version: 1,
      clusters: [
        { arn: arnOf("prod"), role, network: "blue", maxRuns: 1_000, repositories: { apps: [`${host}/team/*`] } },
        { arn: arnOf("prod", "210987654321"), network: "green" },
        { arn: arnOf("prod", "123456789012", "eu-north-1") },
      ],
      settings: { "concurrent-ssa": 4 },
    };
    expect(readInstallation(JSON.stringify(document))).toMatchObject({
      clusters: [document.clusters[0], { network: "green" }, { network: "default" }],
      settings: { values: { "concurrent-ssa": 4 }, given: new Set(["concurrent-ssa"]) },
    });
  });

  test.each([
    { what: "no JSON", text: '{"hunter2"', fault: "the document must be an object in JSON" },
    { what: "a list", text: "[]", fault: "the document must be an object in JSON" },
  ])("with $what is refused", ({ text, fault }) => {
    expect(readInstallation(text)).toEqual({ faults: [fault] });
  });

  test.each([
    [{ arn: "hunter2" }, "clusters[0].arn must be arn:aws:eks:<region>:<account>:cluster/<name>"],
    [{ arn: undefined }, "clusters[0].arn is required, as text"],
    [{ role: "hunter2" }, "clusters[0].role must be arn:aws:iam::<account>:role/<name>"],
    [
      { role: "arn:aws:iam::210987654321:role/hunter2" },
      "clusters[0].role must be in the account of its cluster: EKS describes a cluster to no other account",
    ],
    [{ roles: "hunter2" }, "clusters[0].roles must be an object with the role of each function"],
    [{ roles: { reconcile: "hunter2" } }, "clusters[0].roles.reconcile must be arn:aws:iam::<account>:role/<name>"],
    [
      { roles: { reconcile: role, receiver: "arn:aws:iam::210987654321:role/hunter2" } },
      "clusters[0].roles.receiver must be in the account of its cluster: EKS describes a cluster to no other account",
    ],
    [
      { roles: { reconcile: role, receiver: role } },
      "clusters[0].roles.receiver must be another role than roles.reconcile: the receiver is open to the internet",
    ],
    [
      { role, roles: { reconcile: role } },
      "clusters[0].roles must not be given together with role: keep one of the two",
    ],
    [{ network: "hunter_2" }, "clusters[0].network must be letters, digits and hyphens, 32 at most"],
    [{ network: "h".repeat(33) }, "clusters[0].network must be letters, digits and hyphens, 32 at most"],
    [{ maxRuns: 0 }, "clusters[0].maxRuns must be a whole number from 1 to 1000"],
    [{ maxRuns: 1_001 }, "clusters[0].maxRuns must be a whole number from 1 to 1000"],
    [{ maxRuns: "20" }, "clusters[0].maxRuns must be a whole number from 1 to 1000"],
    [{ repositories: ["hunter2"] }, "clusters[0].repositories must list repositories by namespace"],
    [{ repositories: { Apps_1: [] } }, "clusters[0].repositories.Apps_1 must be the name of a namespace"],
    [{ repositories: { apps: "hunter2" } }, "clusters[0].repositories.apps must be a list of repositories"],
    [
      { repositories: { apps: [`${host}/team`, "hunter2/*"] } },
      "clusters[0].repositories.apps[1] must begin with the whole host of ECR or CodeCommit: <account>.dkr.ecr.<region>.amazonaws.com/team/*",
    ],
    [{ decryptionKeys: ["hunter2"] }, "clusters[0].decryptionKeys must list keys by namespace"],
    [{ decryptionKeys: { apps: "hunter2" } }, "clusters[0].decryptionKeys.apps must be a list of keys"],
    [{ targets: ["hunter2"] }, "clusters[0].targets must list clusters by namespace"],
    [{ targets: { apps: "hunter2" } }, "clusters[0].targets.apps must be a list of clusters"],
    [{ cloudWatchRegions: ["hunter2"] }, "clusters[0].cloudWatchRegions must list regions by namespace"],
    [
      { cloudWatchRegions: { apps: ["hunter2"] } },
      "clusters[0].cloudWatchRegions.apps[0] must be the name of a region, such as eu-west-1",
    ],
    [{ notificationTargets: ["hunter2"] }, "clusters[0].notificationTargets must list targets by namespace"],
    [
      { notificationTargets: { apps: "hunter2" } },
      "clusters[0].notificationTargets.apps must be a list of topics, buses and queues",
    ],
    [
      { roles: { reconcile: role, notify: "arn:aws:iam::210987654321:role/hunter2" } },
      "clusters[0].roles.notify must be in the account of its cluster: EKS describes a cluster to no other account",
    ],
    [{ netwrok: "hunter2" }, "clusters[0].netwrok is not known: did you mean network?"],
    [
      { x: 1 },
      "clusters[0].x is not known: remove it, or choose of arn, role, roles, network, maxRuns, repositories, buckets, decryptionKeys, targets, notificationTargets, cloudWatchRegions",
    ],
  ])("with a cluster %j is refused without quoting any value", (fields, fault) => {
    expect(faultsOfCluster(fields)).toEqual([fault]);
  });

  test.each(["hunter2", "key/*", "key/1+hunter2", "key/1+arn:aws:iam::123456789012:role/*"])(
    "with the KMS key %s is refused: each key must be listed by its full name",
    (key) => {
      const given = key === "hunter2" ? key : `arn:aws:kms:eu-west-1:123456789012:${key}`;
      const form =
        "must be arn:aws:kms:<region>:<account>:key/<id> or …:alias/<name>, with or without +arn:aws:iam::<account>:role/<name>";
      expect(faultsOfCluster({ decryptionKeys: { apps: [given] } })).toEqual([
        `clusters[0].decryptionKeys.apps[0] ${form}`,
      ]);
    },
  );

  test.each([
    "hunter2",
    `${arnOf("other")}x/y`,
    `${arnOf("other")}+hunter2`,
    `${arnOf("other")}+arn:aws:iam::999999999999:role/other`,
  ])(
    "with the target %s is refused: each target must be listed by its full name, and a role must be of its account",
    (target) => {
      expect(faultsOfCluster({ targets: { apps: [target] } })).toEqual([
        "clusters[0].targets.apps[0] must be arn:aws:eks:<region>:<account>:cluster/<name>, with or without +arn:aws:iam::<the same account>:role/<name>",
      ]);
    },
  );

  test.each(["hunter2", "arn:aws:sns:eu-west-1:123456789012:*", "arn:aws:sqs:eu-west-1:123456789012:a:b"])(
    "with the notification target %s is refused: each must be listed by its full name",
    (target) => {
      expect(faultsOfCluster({ notificationTargets: { apps: [target] } })).toEqual([
        "clusters[0].notificationTargets.apps[0] must be arn:aws:sns:<region>:<account>:<topic>, arn:aws:events:<region>:<account>:event-bus/<name> or arn:aws:sqs:<region>:<account>:<queue>",
      ]);
    },
  );

  test("with the same target twice is refused, because only one of its roles could be used", () => {
    const other = arnOf("other");
    const role = `${other}+arn:aws:iam::${other.split(":")[4]}:role/enters`;
    expect(faultsOfCluster({ targets: { apps: [other, role] } })).toEqual([
      "clusters[0].targets.apps must list each cluster once, with or without a role",
    ]);
    expect(faultsOfCluster({ targets: { apps: [other], web: [role] } })).toEqual([]);
  });

  test.each([
    [{ version: 2, clusters: [] }, "version must be 1: this release supports no other"],
    [{ version: 1 }, "clusters must be a list of clusters"],
    [{ version: 1, clusters: ["hunter2"] }, "clusters[0] must be an object with the ARN of a cluster"],
    [{ version: 1, clusters: [], cluster: [] }, "cluster is not known: did you mean clusters?"],
    [{ version: 1, clusters: [], settings: "hunter2" }, "settings: this is not a document of settings"],
    [
      { version: 1, clusters: [], settings: { "concurent-ssa": 1 } },
      "settings: concurent-ssa is not a setting: did you mean concurrent-ssa?",
    ],
    [{ version: 1, clusters: [], settings: { "concurrent-ssa": 0 } }, "settings: concurrent-ssa must be"],
  ])("%j is refused without quoting any value", (document, fault) => {
    expect(faultsOf(document)).toEqual([expect.stringContaining(fault)]);
  });

  test("reports all errors at once", () => {
    const clusters = [{ arn: "prod" }, { arn: arnOf("prod"), maxRun: 1 }];
    expect(faultsOf({ version: 1, clusters, settings: { network: 1 } })).toHaveLength(3);
  });

  test("with two entries of one cluster is refused", () => {
    const china = "arn:aws-cn:eks:eu-west-1:123456789012:cluster/prod";
    const clusters = [arnOf("prod"), arnOf("other"), arnOf("prod"), china].map((arn) => ({ arn }));
    expect(faultsOf({ version: 1, clusters })).toEqual([
      "clusters[2].arn is the cluster of clusters[0] too: remove one of them",
      "clusters[3].arn is the cluster of clusters[0] too: remove one of them",
    ]);
  });

  test("has limits on clusters, networks and bytes", () => {
    const documentOf = (count: number, networkOf: (index: number) => string) => ({
      version: 1,
      clusters: Array.from({ length: count }, (_, index) => ({ arn: arnOf(`c${index}`), network: networkOf(index) })),
    });
    expect(faultsOf(documentOf(maxClusters, () => "one"))).toEqual([]);
    expect(faultsOf(documentOf(maxClusters + 1, () => "one"))).toEqual([
      "clusters must be 200 clusters at most: use a second installation for the others",
    ]);
    expect(faultsOf(documentOf(maxNetworks, String))).toEqual([]);
    expect(faultsOf(documentOf(maxNetworks + 1, String))).toEqual(["clusters must be in 10 networks at most"]);
    const text = JSON.stringify({ version: 1, clusters: [] });
    expect(readInstallation(text.padEnd(maxInstallationBytes))).not.toHaveProperty("faults");
    expect(readInstallation(text.padEnd(maxInstallationBytes + 1))).toEqual({
      faults: ["the document must be of 1048576 bytes at most: use a second installation"],
    });
  });
});
