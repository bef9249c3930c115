import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dropGuardHandler } from "../../../functions/drop-guard.ts";
import { dropped, type Granted, readGranted, writeGranted } from "../../../functions/settings/granted.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const { signal } = new AbortController();
const prod = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const edge = "arn:aws:eks:eu-west-1:123456789012:cluster/edge";
const apps = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/apps";
const stack = "arn:aws:cloudformation:eu-west-1:123456789012:stack/Sluice/11111111-2222-3333-4444-555555555555";

const full: Granted = {
  clusters: { [prod]: "clusterAdmin", [edge]: "namespaces" },
  repositories: { [prod]: { "flux-system": [apps] }, [edge]: { "flux-system": [apps] } },
  decryptionKeys: { [prod]: { apps: ["arn:aws:kms:eu-west-1:123456789012:alias/sops"] } },
  targets: { [prod]: { apps: [edge] } },
  webhooks: ["default", "internal"],
  admission: true,
};
const { [edge]: _, ...onlyProd } = full.clusters;

/** The answer to a request: the physical id, or why it failed. */
async function answer(
  type: "Create" | "Update" | "Delete",
  before: Granted | undefined,
  after: Granted,
  { allowDrops, status = "UPDATE_IN_PROGRESS" }: { allowDrops?: string; status?: string | Error } = {},
): Promise<string> {
  const asked: string[] = [];
  const handle = dropGuardHandler({
    log: silentLog,
    stackStatus: async (arn) => {
      asked.push(arn);
      if (typeof status !== "string") throw status;
      return status;
    },
  });
  const said = await handle(
    {
      type,
      resource: `${stack}/SluiceDropsGranted`,
      physicalId: type === "Create" ? undefined : "sluice-installation",
      properties: { granted: writeGranted(after), ...(allowDrops === undefined ? {} : { allowDrops }) },
      oldProperties: before === undefined ? {} : { granted: writeGranted(before) },
    },
    signal,
  ).then(
    ({ physicalId }) => physicalId,
    (error: unknown) => String(error),
  );
  expect(asked.filter((arn) => arn !== stack)).toEqual([]);
  return said;
}

describe("a deployment", () => {
  test("that drops nothing passes, and so do the first one and the deletion of the stack", async () => {
    const more = { ...full, clusters: { ...full.clusters, [`${prod}-2`]: "namespaces" as const } };
    const bare = { ...full, clusters: {}, repositories: {}, decryptionKeys: {}, targets: {}, webhooks: [] };
    expect(
      await Promise.all([
        answer("Update", full, more),
        answer("Create", undefined, bare),
        answer("Delete", undefined, full),
      ]),
    ).toEqual(["sluice-installation", "sluice-installation", "sluice-installation"]);
  });

  test("that drops a cluster is refused with its name, the place and a mend", async () => {
    expect(await answer("Update", full, { ...full, clusters: onlyProd })).toBe(
      `Error: this deployment would drop the cluster ${edge}. Nothing has been taken away. Write it into the installation again (the context of cdk.json, or the code of your app), or, if it is meant, deploy with -c allowDrops=true (the property allowDrops of Sluice)`,
    );
  });

  test("that drops a grant passes with allowDrops", async () => {
    const passed = await answer("Update", full, { ...full, clusters: onlyProd }, { allowDrops: "true" });
    expect(passed).toBe("sluice-installation");
  });

  test("that is rolled back removes what it had added", async () => {
    for (const status of ["UPDATE_ROLLBACK_IN_PROGRESS", "ROLLBACK_IN_PROGRESS"])
      expect(await answer("Update", full, { ...full, clusters: onlyProd }, { status })).toBe("sluice-installation");
  });

  test("that drops a grant is refused if the status of the stack cannot be read, and the error says how to continue", async () => {
    const said = await answer("Update", full, { ...full, admission: false }, { status: new Error("denied") });
    expect(said).toContain("would drop the admission webhook.");
    expect(said).toContain("cannot be found out: denied. A rollback that stops here goes on with aws cloudformation");
  });
});

test("dropped clusters, rights, repositories, keys, targets, webhooks and the admission webhook are reported by name", () => {
  expect(
    dropped(full, {
      clusters: { [prod]: "namespaces" },
      repositories: {},
      decryptionKeys: { [prod]: { apps: [] } },
      targets: {},
      webhooks: ["default"],
      admission: false,
    }),
  ).toEqual([
    `the cluster ${edge}`,
    `the rights clusterAdmin in the cluster ${prod}, which become namespaces`,
    "the URL for webhooks of the network internal",
    "the admission webhook",
    `the repository ${apps} for the namespace flux-system of the cluster ${prod}`,
    `the KMS key arn:aws:kms:eu-west-1:123456789012:alias/sops for the namespace apps of the cluster ${prod}`,
    `the target cluster ${edge} for the namespace apps of the cluster ${prod}`,
  ]);
  expect(dropped(full, full)).toEqual([]);
});

test("a bucket that a namespace may no longer read is reported as dropped; former releases had none", () => {
  const withBucket: Granted = { ...full, buckets: { [prod]: { apps: ["team-manifests"] } } };
  expect(dropped(withBucket, full)).toEqual([
    `the bucket team-manifests for the namespace apps of the cluster ${prod}`,
  ]);
  expect(dropped(full, withBucket)).toEqual([]);
  expect(readGranted(writeGranted(withBucket))).toEqual(withBucket);
});

test("notifications and their targets are reported as dropped by name; former releases had none", () => {
  const topic = "arn:aws:sns:eu-west-1:123456789012:alerts";
  const told: Granted = {
    ...full,
    notifications: ["default", "internal"],
    notificationTargets: { [prod]: { apps: [topic] } },
  };
  expect(dropped(told, { ...full, notifications: ["default"] })).toEqual([
    "the notifications of the network internal",
    `the target of notifications ${topic} for the namespace apps of the cluster ${prod}`,
  ]);
  expect(dropped(full, told)).toEqual([]);
  expect(readGranted(writeGranted(told))).toEqual(told);
});

test("CloudWatch is reported as dropped by region and namespace; former releases had none", () => {
  const reading: Granted = { ...full, cloudWatchRegions: { [prod]: { apps: ["eu-west-1"] } } };
  expect(dropped(reading, full)).toEqual([
    `the CloudWatch of the region eu-west-1 for the namespace apps of the cluster ${prod}`,
  ]);
  expect(dropped(full, reading)).toEqual([]);
  expect(readGranted(writeGranted(reading))).toEqual(reading);
});

test("a table and a bucket that no longer outlive the stack are reported as dropped; former releases did not record it", () => {
  const retained: Granted = { ...full, retained: true };
  const deleted: Granted = { ...full, retained: false };
  expect(dropped(retained, deleted)).toEqual([
    "the protection of the table and the bucket, which would be deleted with the stack (removalPolicy DESTROY)",
  ]);
  expect([dropped(deleted, retained), dropped(full, deleted), dropped(retained, retained)]).toEqual([[], [], []]);
  expect(readGranted(writeGranted(deleted))).toEqual(deleted);
});

test("an email address that gets no more alarms of a severity is reported as dropped; former releases recorded none", () => {
  const told: Granted = {
    ...full,
    alarmEmails: { page: ["all@example.test"], ticket: ["all@example.test", "desk@example.test"] },
  };
  const paged: Granted = { ...full, alarmEmails: { page: ["all@example.test"], ticket: ["desk@example.test"] } };
  expect(dropped(told, paged)).toEqual(["the email address all@example.test for alarms that make a ticket"]);
  expect(dropped(paged, full)).toEqual([
    "the email address all@example.test for alarms that page",
    "the email address desk@example.test for alarms that make a ticket",
  ]);
  expect([dropped(full, told), dropped(paged, told)]).toEqual([[], []]);
  expect(readGranted(writeGranted(told))).toEqual(told);
});

test("200 clusters with 40 repositories each fit into a request of CloudFormation, and can be read back", () => {
  const arns = Array.from({ length: 200 }, (_each, index) => `${prod}-${index}`);
  const patterns = Array.from({ length: 40 }, (_each, index) => `${apps}/team-${index}`);
  const granted = {
    ...full,
    clusters: Object.fromEntries(arns.map((arn) => [arn, "namespaces" as const])),
    repositories: Object.fromEntries(arns.map((arn) => [arn, { "flux-system": patterns }])),
  };
  const text = writeGranted(granted);
  expect(text.length).toBeLessThan(100_000);
  expect(readGranted(text)).toEqual(granted);
  expect(readGranted(writeGranted(full))).toEqual(full);
});

test("docs/constructs.md names everything that a deployment may not drop from a namespace", () => {
  const some = { [prod]: { apps: ["some"] } };
  // The compiler asks for each grant that there is.
  const every: Required<Granted> = {
    ...full,
    ...{ repositories: some, buckets: some, decryptionKeys: some, targets: some },
    ...{ notificationTargets: some, cloudWatchRegions: some, notifications: ["default"] },
    ...{ retained: true, alarmEmails: { page: [], ticket: [] } },
  };
  const { clusters } = every;
  const none = { clusters, repositories: {}, decryptionKeys: {}, targets: {}, webhooks: [], admission: false };
  const nouns = dropped(every, none).flatMap(
    (phrase) => /^the (.*?)(?: of the region)? some for the namespace/.exec(phrase)?.[1] ?? [],
  );
  expect(nouns).toHaveLength(6);
  const page = readFileSync(join(import.meta.dirname, "../../../docs/constructs.md"), "utf8");
  const [sentence = ""] = /- A deployment that drops something.*?\./.exec(page.replaceAll(/\s+/g, " ")) ?? [];
  expect(nouns.filter((noun) => !sentence.includes(noun))).toEqual([]);
});
