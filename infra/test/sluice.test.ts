import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSystem, Stack } from "aws-cdk-lib";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import {
  AdmissionConfig,
  Config,
  documentVariables,
  NotifyConfig,
  ReconcileConfig,
  readConfig,
} from "../../functions/settings/config.ts";
import { stateTable, ttlAttribute } from "../../lib/aws/dynamodb/table.ts";
import { Sluice, type SluiceProps } from "../lib/sluice.ts";
import { shapes } from "./shapes.ts";
import { env, prod, type Resource, resourcesOf, templateOf, uncheckedApp } from "./synthesise.ts";

const privateCluster = templateOf(shapes.privateCluster().stack);

function only(type: string, id: RegExp): Resource {
  const found = Object.entries(resourcesOf(privateCluster, type)).filter(([name]) => id.test(name));
  const [[, resource] = []] = found;
  if (resource === undefined || found.length !== 1) throw new Error(`${found.length} of ${type} match ${String(id)}`);
  return resource;
}

describe("Sluice deploys", () => {
  test("the table that the tests create, with its protection", () => {
    expect(only("AWS::DynamoDB::Table", /./).Properties).toMatchObject({
      ...stateTable,
      TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
    });
  });

  test("a key of 64 random hexadecimal digits", () => {
    const { Properties, DeletionPolicy } = only("AWS::SecretsManager::Secret", /InstallationKey/);
    expect(DeletionPolicy).toBe("Retain");
    const generate = z
      .strictObject({
        PasswordLength: z.literal(64),
        ExcludeUppercase: z.literal(true),
        ExcludePunctuation: z.literal(true),
        IncludeSpace: z.literal(false),
        RequireEachIncludedType: z.literal(false),
        ExcludeCharacters: z.string(),
      })
      .parse(Properties["GenerateSecretString"]);
    const left = Array.from("abcdefghijklmnopqrstuvwxyz0123456789").filter(
      (letter) => !generate.ExcludeCharacters.includes(letter),
    );
    expect(left.toSorted().join("")).toBe("0123456789abcdef");
  });

  test("a function whose runs send the next wake-up to its own queue, which Lambda's loop detection must allow", () => {
    const loops = Object.values(resourcesOf(privateCluster, "AWS::Lambda::Function")).map(({ Properties }) => [
      String(Properties["Description"]),
      Properties["RecursiveLoop"],
    ]);
    const allowed = loops.filter(([, loop]) => loop === "Allow").map(([description]) => description);
    expect(new Set(allowed)).toEqual(new Set(["Sluice: reconcile"]));
  });

  test("state that is kept after the stack is deleted, and state that is not", () => {
    const policies = (type: string) =>
      Object.values(resourcesOf(privateCluster, type)).map(({ DeletionPolicy }) => DeletionPolicy);
    expect(policies("AWS::DynamoDB::Table")).toEqual(["Retain"]);
    expect(policies("AWS::S3::Bucket")).toEqual(["Retain"]);
    expect(policies("AWS::ECR::Repository")).toEqual(["Retain"]);
    // If a deployment is rolled back, its version is deleted, or the same deployment could not create it again.
    expect(new Set(policies("AWS::Lambda::Version"))).toEqual(new Set(["RetainExceptOnCreate"]));
    expect(new Set(policies("AWS::Logs::LogGroup"))).toEqual(new Set(["Delete"]));
  });

  test("functions on arm64 and Node 24, invoked through the alias, with partial batch failures", () => {
    for (const { Properties } of Object.values(resourcesOf(privateCluster, "AWS::Lambda::Function"))) {
      expect(Properties).toMatchObject({ Architectures: ["arm64"], Runtime: "nodejs24.x", Handler: "index.handler" });
    }
    const mappings = Object.values(resourcesOf(privateCluster, "AWS::Lambda::EventSourceMapping"));
    expect(mappings).toHaveLength(5);
    for (const { Properties } of mappings) {
      expect(Properties["FunctionResponseTypes"]).toEqual(["ReportBatchItemFailures"]);
      expect(JSON.stringify(Properties["ScalingConfig"])).toMatch(/^\{"MaximumConcurrency":\d+\}$/);
      expect(JSON.stringify(Properties["FunctionName"])).toMatch(/\{"Ref":"Sluice\w+Live\w+"\}.+":live"/);
    }
  });

  test("queues that hide a message at least as long as their function runs", () => {
    const reconcile = only("AWS::Lambda::Function", /ReconcileFunction/).Properties["Timeout"];
    expect(only("AWS::SQS::Queue", /WakeUpsDefault/).Properties["VisibilityTimeout"]).toBe(reconcile);
    const ingest = Number(only("AWS::Lambda::Function", /IngestFunction/).Properties["Timeout"]);
    expect(only("AWS::SQS::Queue", /Hints$/).Properties["VisibilityTimeout"]).toBe(6 * ingest);
    const notify = only("AWS::Lambda::Function", /^SluiceNotifyFunction/).Properties["Timeout"];
    expect(only("AWS::SQS::Queue", /NotificationsDefault/).Properties["VisibilityTimeout"]).toBe(notify);
  });

  test("environment variables that the functions accept", () => {
    const known = Object.keys({ ...Config.shape, ...NotifyConfig.shape, ...AdmissionConfig.shape });
    const common = Config.pick({ SLUICE_TABLE: true, ...documentVariables });
    const schemas = {
      Ingest: common,
      Sweep: common,
      Reconcile: ReconcileConfig,
      Receiver: common,
      Notify: NotifyConfig,
      Admission: AdmissionConfig,
    };
    for (const [name, schema] of Object.entries(schemas)) {
      const { Variables } = z
        .object({ Variables: z.record(z.string(), z.unknown()) })
        .parse(only("AWS::Lambda::Function", new RegExp(`^Sluice${name}Function`)).Properties["Environment"]);
      expect(Object.keys(Variables).filter((variable) => !known.includes(variable))).toEqual([]);
      const deployed = Object.entries(Variables).map(([key, value]) => [key, deployedValue(key, value)] as const);
      const environment = { AWS_REGION: "eu-west-1", ...Object.fromEntries(deployed) };
      expect(() => readConfig<z.ZodType>(schema, environment)).not.toThrow();
    }
  });
});

const queue = "https://sqs.eu-west-1.amazonaws.com/123456789012/queue";
/** What CloudFormation makes of expressions. */
const values: Readonly<Record<string, string>> = {
  SLUICE_TABLE: "Sluice-Table",
  SLUICE_BUCKET: "sluice-artifacts",
  SLUICE_INSTALLATION_BUCKET: "cdk-assets",
  SLUICE_DEAD_LETTER_QUEUE_URL: queue,
  SLUICE_NOTIFICATION_QUEUE_URL: `${queue}.fifo`,
  SLUICE_ADMISSION_SECRET: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:path",
  SLUICE_WEBHOOK_URL: "https://abcdefghijklmnop.lambda-url.eu-west-1.on.aws/",
  SLUICE_INSTALLATION_KEY_SECRET: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:key",
};

function deployedValue(key: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (key !== "SLUICE_QUEUE_URLS") return values[key] ?? "123456789012";
  const { "Fn::Join": join } = z.object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) }).parse(value);
  return join[1].map((part) => (typeof part === "string" ? part : queue)).join("");
}

describe("the document that describes the installation to the functions", () => {
  test.each<{ readonly staging: string; readonly context: Record<string, string>; readonly left: readonly unknown[] }>([
    { staging: "is copied into the assembly, and its temporary file is deleted", context: {}, left: [] },
    {
      staging: "stays in its temporary file if the app copies no assets into the assembly",
      context: { "aws:cdk:disable-asset-staging": "true" },
      left: [expect.stringMatching(/^sluice-installation-/)],
    },
  ])("$staging", ({ context, left }) => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-document-"));
    const temporary = vi.spyOn(FileSystem, "tmpdir", "get").mockReturnValue(folder);
    try {
      const stack = new Stack(uncheckedApp(context), "Test", { env });
      new Sluice(stack, "Sluice").addCluster("Prod", { clusterArn: prod, rights: "clusterAdmin" });
      templateOf(stack);
      expect(readdirSync(folder)).toEqual(left);
    } finally {
      temporary.mockRestore();
      rmSync(folder, { recursive: true });
    }
  });
});

describe("access from the internet", () => {
  test("is nothing by default", () => {
    const smallest = templateOf(shapes.smallest().stack);
    expect(resourcesOf(smallest, "AWS::Lambda::Url")).toEqual({});
    expect(JSON.stringify(resourcesOf(smallest, "AWS::Lambda::Permission"))).not.toContain('"*"');
  });

  test("with webhooks is one URL per network, of the alias, with at most ten concurrent executions", () => {
    const urls = Object.entries(resourcesOf(privateCluster, "AWS::Lambda::Url")).flatMap(([id, url]) =>
      id.includes("Receiver") ? [url] : [],
    );
    expect(urls).toHaveLength(2);
    for (const { Properties } of urls) {
      expect(Properties).toMatchObject({ AuthType: "NONE", Qualifier: "live" });
      expect(Properties["Cors"]).toBeUndefined();
      expect(JSON.stringify(Properties["TargetFunctionArn"])).toContain("Receiver");
    }
    const reserved = Object.values(resourcesOf(privateCluster, "AWS::Lambda::Function")).flatMap(({ Properties }) =>
      Properties["ReservedConcurrentExecutions"] === undefined ? [] : [Properties["ReservedConcurrentExecutions"]],
    );
    expect(reserved).toEqual([10, 10, 10]);
  });

  test("with admission is one URL in total, and each cluster gets it and the secret that its path is made of", () => {
    const urls = Object.keys(resourcesOf(privateCluster, "AWS::Lambda::Url")).filter((id) => id.includes("Admission"));
    expect(urls).toHaveLength(1);
    const definitions = only("Custom::SluiceDefinitions", /./);
    expect(definitions.Properties["admission"]).toEqual({
      url: { "Fn::GetAtt": [urls[0], "FunctionUrl"] },
      secret: { Ref: expect.stringMatching(/^SluiceAdmissionSecret/) },
    });
    const policies = Object.entries(resourcesOf(privateCluster, "AWS::IAM::Policy"));
    const [own] = policies.filter(([id]) => id.includes("Admission"));
    expect(JSON.stringify(own)).not.toMatch(/dynamodb|eks:|SluiceArtifacts|InstallationKey/);
  });

  test("is passed to the reconcile function of the same network", () => {
    const environmentOf = (id: RegExp) => JSON.stringify(only("AWS::Lambda::Function", id).Properties["Environment"]);
    expect(environmentOf(/^SluiceReconcileFunction/)).toMatch(
      /"SLUICE_WEBHOOK_URL":\{"Fn::GetAtt":\["SluiceReceiverLive/,
    );
    expect(environmentOf(/^SluiceReconcileEuPrivateFunction/)).toMatch(
      /"SLUICE_WEBHOOK_URL":\{"Fn::GetAtt":\["SluiceReceiverEuPrivateLive/,
    );
  });

  test("with webhooks gives the receiver its own group in the cluster, and no right to artifacts or keys", () => {
    const entries = Object.values(resourcesOf(privateCluster, "AWS::EKS::AccessEntry"));
    const [entry] = entries.filter(({ Properties }) => String(Properties["KubernetesGroups"]) === "sluice-receiver");
    expect(entry?.Properties["AccessPolicies"] ?? []).toEqual([]);
    const policies = Object.entries(resourcesOf(privateCluster, "AWS::IAM::Policy")).filter(([id]) =>
      /Receiver/.test(id),
    );
    expect(policies).toHaveLength(2);
    expect(JSON.stringify(policies)).not.toMatch(/SluiceArtifacts|InstallationKey|SluiceParked/);
  });
});

describe("notifications", () => {
  test("are off by default: no queue, no function, and no right for reconcile", () => {
    const smallest = JSON.stringify(templateOf(shapes.smallest().stack));
    expect(smallest).not.toMatch(/Notif|SLUICE_NOTIFICATION/);
  });

  test("go through a FIFO queue per network, whose dead letters are kept for fourteen days", () => {
    const queues = Object.entries(resourcesOf(privateCluster, "AWS::SQS::Queue")).filter(([id]) => /Notif/.test(id));
    expect(queues.map(([id]) => id).toSorted()).toEqual([
      "SluiceNotificationDeadLetters",
      "SluiceNotificationsDefault",
      "SluiceNotificationsEuPrivate",
    ]);
    for (const [id, { Properties }] of queues) {
      expect(Properties["FifoQueue"]).toBe(true);
      // The ids are made by the code, so that an event of five minutes later is another one.
      expect(Properties["ContentBasedDeduplication"]).toBeUndefined();
      const isDead = id.includes("DeadLetters");
      expect(Properties["MessageRetentionPeriod"]).toBe((isDead ? 14 : 4) * 86_400);
      if (isDead) continue;
      expect(Properties["RedrivePolicy"]).toEqual({
        deadLetterTargetArn: { "Fn::GetAtt": ["SluiceNotificationDeadLetters", "Arn"] },
        maxReceiveCount: 12,
      });
    }
  });

  test("are sent only by the reconcile function of the network, and by the redrive", () => {
    const [policy] = Object.values(resourcesOf(privateCluster, "AWS::SQS::QueuePolicy")).filter(
      ({ Properties }) => JSON.stringify(Properties["Queues"]) === '[{"Ref":"SluiceNotificationsEuPrivate"}]',
    );
    const text = JSON.stringify(policy?.Properties["PolicyDocument"]);
    const roles = [...text.matchAll(/"Fn::GetAtt":\["Sluice(\w+?)Role[0-9A-F]{8}","Arn"\]/g)].map(([, role]) => role);
    expect(roles).toEqual(["ReconcileEuPrivate", "Redrive"]);
    const url = (id: RegExp) =>
      z
        .object({ Variables: z.looseObject({ SLUICE_NOTIFICATION_QUEUE_URL: z.object({ Ref: z.string() }) }) })
        .parse(only("AWS::Lambda::Function", id).Properties["Environment"]).Variables.SLUICE_NOTIFICATION_QUEUE_URL.Ref;
    for (const name of ["Reconcile", "Notify"]) {
      expect(url(new RegExp(`^Sluice${name}Function`))).toBe("SluiceNotificationsDefault");
      expect(url(new RegExp(`^Sluice${name}EuPrivateFunction`))).toBe("SluiceNotificationsEuPrivate");
    }
  });

  test("are delivered by a function with its own group in the cluster, and no right to state, artifacts or keys", () => {
    const entries = Object.values(resourcesOf(privateCluster, "AWS::EKS::AccessEntry"));
    const [entry, ...others] = entries.filter(
      ({ Properties }) => String(Properties["KubernetesGroups"]) === "sluice-notify",
    );
    expect(others).toEqual([]);
    expect(entry?.Properties["AccessPolicies"] ?? []).toEqual([]);
    expect(JSON.stringify(entry?.Properties["PrincipalArn"])).toContain("SluiceNotifyEuPrivateRole");
    const policies = Object.entries(resourcesOf(privateCluster, "AWS::IAM::Policy")).filter(([id]) =>
      /Notify/.test(id),
    );
    expect(policies).toHaveLength(2);
    expect(JSON.stringify(policies)).not.toMatch(/dynamodb|SluiceArtifacts|InstallationKey|SluiceParked|SluiceWakeUps/);
  });

  test("may go to the topics, buses and queues that a cluster lists, each with one action, from its own network only", () => {
    const rightsOf = (id: RegExp) => {
      const [policy] = Object.entries(resourcesOf(privateCluster, "AWS::IAM::Policy")).filter(([name]) =>
        id.test(name),
      );
      const Statement = z.looseObject({ Action: z.unknown(), Resource: z.unknown() });
      const { Statement: statements } = z
        .looseObject({ Statement: z.array(Statement) })
        .parse(policy?.[1].Properties["PolicyDocument"]);
      return statements.flatMap(({ Action, Resource }) =>
        /^(sns|events):|^sqs:SendMessage$/.test(String(Action)) ? [[Action, Resource]] : [],
      );
    };
    expect(rightsOf(/NotifyEuPrivate/)).toEqual([
      ["sns:Publish", "arn:aws:sns:eu-west-1:123456789012:alerts"],
      ["events:PutEvents", "arn:aws:events:eu-west-1:123456789012:event-bus/platform"],
      ["sqs:SendMessage", "arn:aws:sqs:eu-west-1:210987654321:alerts"],
    ]);
    expect(rightsOf(/NotifyRole/)).toEqual([]);
  });
});

describe("Sluice refuses", () => {
  const problem = (add: (sluice: Sluice, stack: Stack) => void, props: SluiceProps = {}): string => {
    const stack = new Stack(uncheckedApp(), "Test");
    try {
      add(new Sluice(stack, "Sluice", props), stack);
      return "none";
    } catch (error) {
      return String(error);
    }
  };

  test("a cluster that it cannot reconcile", () => {
    expect(problem((sluice) => sluice.serveCluster({ arn: "prod" }))).toContain(
      'the cluster "prod" is not usable: its arn must be arn:aws:eks:<region>:<account>:cluster/<name>',
    );
    expect(problem((sluice) => sluice.serveCluster({ arn: prod, network: "private" }))).toContain(
      'has no network "private": add it to the property networks with its VPC, or write one of default',
    );
    expect(problem((sluice, { partition }) => sluice.serveCluster({ arn: prod.replace("aws", partition) }))).toContain(
      "has a token in its ARN, role, network or maxRuns, which are known only while the stack is deployed",
    );
  });

  test("targets of notifications that are invalid, are CDK tokens, or that no function sends to", () => {
    const targets = { apps: ["arn:aws:sns:eu-west-1:123456789012:alerts"] };
    const serve = (notificationTargets: Readonly<Record<string, readonly string[]>>) => (sluice: Sluice) =>
      sluice.serveCluster({ arn: prod, notificationTargets });
    expect(problem(serve(targets))).toContain("no function sends to them: write notifications: true");
    expect(problem(serve(targets), { notifications: true })).toBe("none");
    expect(problem(serve({ apps: ["arn:aws:sns:eu-west-1:123456789012:*"] }), { notifications: true })).toContain(
      "its notificationTargets.apps[0] must be arn:aws:sns:<region>:<account>:<topic>",
    );
    const token = (sluice: Sluice, { account }: Stack) =>
      serve({ apps: [`arn:aws:sns:eu-west-1:${account}:alerts`] })(sluice);
    expect(problem(token, { notifications: true })).toContain("has a token in its notificationTargets");
  });

  test("CloudWatch regions that are not valid, or are CDK tokens", () => {
    const serve = (region: string) => (sluice: Sluice) =>
      sluice.serveCluster({ arn: prod, cloudWatchRegions: { apps: [region] } });
    expect(problem(serve("eu-west-1"))).toBe("none");
    expect(problem(serve("*"))).toContain("its cloudWatchRegions.apps[0] must be the name of a region");
    const token = (sluice: Sluice, { region }: Stack) => serve(region)(sluice);
    expect(problem((sluice) => token(sluice, new Stack()))).toContain("write literal names of regions");
  });

  test("a cluster whose roles lack one for the function that delivers notifications", () => {
    const role = (name: string) => `arn:aws:iam::123456789012:role/${name}`;
    const serve = (roles: { readonly reconcile: string; readonly notify?: string }) => (sluice: Sluice) =>
      sluice.serveCluster({ arn: prod, roles });
    expect(problem(serve({ reconcile: role("r") }), { notifications: true })).toContain(
      `roles of the cluster "${prod}" has no notify, which the property notifications needs`,
    );
    expect(problem(serve({ reconcile: role("r"), notify: role("n") }), { notifications: true })).toBe("none");
    expect(problem(serve({ reconcile: role("r") }))).toBe("none");
  });

  test("more clusters than a sweep can handle", () => {
    const add = (sluice: Sluice) => {
      for (let index = 0; index < 300; index++) sluice.serveCluster({ arn: `${prod}-${index}` });
    };
    expect(problem(add)).toContain("a Sluice looks after 200 clusters at most. Add a second Sluice");
  });

  test("settings that the functions refuse at their start", () => {
    expect(problem(() => {}, { settings: { "no-cross-namespace-ref": true } })).toContain("no-cross-namespace-refs");
  });

  test("network names that are not valid resource names, and more than ten networks", () => {
    const { sluice } = shapes.privateCluster();
    expect(sluice.reconcileRole("eu-private")).not.toBe(sluice.reconcileRole());
    const networks = (...names: readonly string[]): SluiceProps => {
      const vpc = Vpc.fromVpcAttributes(new Stack(), "Vpc", { vpcId: "vpc-1", availabilityZones: ["eu-west-1a"] });
      return { networks: Object.fromEntries(names.map((name) => [name, { vpc }])) };
    };
    expect(problem(() => {}, networks("eu_private"))).toContain(
      'the network "eu_private": write letters, digits and hyphens',
    );
    expect(problem(() => {}, networks("eu-west", "euWest"))).toContain("euWest");
    expect(problem(() => {}, networks(...Array.from({ length: 10 }, (_, index) => `n${index}`)))).toContain(
      "ten at most",
    );
  });
});
