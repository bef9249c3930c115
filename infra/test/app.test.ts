import { describe, expect, test } from "vitest";
import { SluiceStack } from "../lib/app-stack.ts";
import { readContext } from "../lib/context.ts";
import { checkedApp, prod, resourcesOf, templateOf } from "./synthesise.ts";

function problem(context: Readonly<Record<string, unknown>>): string {
  try {
    new SluiceStack(checkedApp(context), "Sluice");
    return "none";
  } catch (error) {
    return String(error);
  }
}

describe("the app", () => {
  test.each([
    ["invalid rights", { clusters: [{ arn: prod, rights: "all" }] }, "clusters[0].rights must be namespaces or"],
    ["an invalid address", { clusters: prod, emails: "platform" }, "emails must be addresses with commas"],
    ["a misspelt name", { clusters: prod, repository: "x" }, "repository is not known: did you mean repositories?"],
    ["an unknown name", { clusters: prod, colour: "red" }, "colour is not known: write one of clusters, repositories"],
    ["a name in place of an ARN", { clusters: "prod" }, "clusters[0].arn must be arn:aws:eks:<region>"],
    ["JSON that is cut off", { clusters: `["${prod}"` }, "clusters must be ARNs with commas between them"],
    ["a misspelt key", { clusters: [{ arn: prod, rol: "x" }] }, "clusters[0].rol is not known: did you mean role?"],
    ["a cluster twice", { clusters: `${prod},${prod}` }, "clusters[1].arn is given twice: remove one of the two"],
    [
      "a cluster of another account without a role",
      { clusters: `${prod},arn:aws:eks:eu-west-1:210987654321:cluster/far` },
      "the clusters are in 123456789012/eu-west-1 and 210987654321/eu-west-1: the stack is deployed where the clusters without role are, so give each other cluster the role that reaches it",
    ],
    [
      "an invalid namespace name",
      {
        clusters: prod,
        repositories: [{ arn: "arn:aws:ecr:eu-west-1:123456789012:repository/apps", namespaces: ["BAD_ns"] }],
      },
      "repositories[0].namespaces.0 must be the name of a namespace",
    ],
    [
      "a missing network",
      { clusters: [{ arn: prod, network: "internal" }] },
      'clusters[0].network is "internal", which is not one of networks: add it there',
    ],
    [
      "a network without a word of how it reaches AWS",
      {
        clusters: "none",
        networks: { internal: { vpcId: "vpc-0123456789abcdef1", subnetIds: ["subnet-0123456789abcdef1"] } },
      },
      "networks.internal.egress must be nat or endpoints: how the subnets reach AWS (docs/vpc.md)",
    ],
    [
      "a misspelt key of a network",
      {
        clusters: "none",
        networks:
          '{"internal": {"vpcid": "vpc-0123456789abcdef1", "subnetIds": ["subnet-0123456789abcdef1"], "egress": "nat"}}',
      },
      "networks.internal.vpcid is not known: did you mean vpcId?",
    ],
    [
      "a key of a cluster in a repository",
      { clusters: prod, repositories: [{ arn: "arn:aws:ecr:eu-west-1:123456789012:repository/apps", rights: "x" }] },
      "repositories[0].rights is not known: remove it",
    ],
    [
      "a misspelt key of roles",
      { clusters: [{ arn: prod, roles: { reconcile: "r", definitions: "d", recever: "x" } }] },
      "clusters[0].roles.recever is not known: did you mean receiver?",
    ],
    [
      "a security group without a network",
      { clusters: [{ arn: prod, securityGroup: "sg-0123456789abcdef1" }] },
      "clusters[0].securityGroup needs network, from which it is opened",
    ],
    [
      "a security group of another account",
      { clusters: [prod, { arn: prod, role: "r", network: "default", securityGroup: "sg-0123456789abcdef1" }] },
      "clusters[1].securityGroup is for a cluster in this stack's account and region",
    ],
    [
      "invalid rights of the definitions function",
      { clusters: [{ arn: prod, definitionsRights: "none" }] },
      "clusters[0].definitionsRights must be clusterAdmin or group",
    ],
    [
      "rights of the definitions function where its role is of another account",
      { clusters: [prod, { arn: prod, role: "r", definitionsRights: "group" }] },
      "clusters[1].definitionsRights is for a cluster in this stack's account and region",
    ],
    [
      "an invalid removal policy",
      { clusters: "none", removalPolicy: "SNAPSHOT" },
      "removalPolicy must be RETAIN or DESTROY",
    ],
    ["too many runs", { clusters: [{ arn: prod, maxRuns: 5000 }] }, "maxRuns must be a whole number from 1 to 1000"],
    [
      "a repository in a region without a rule",
      { clusters: prod, repositories: "arn:aws:ecr:eu-central-1:123456789012:repository/apps" },
      'add { account: "123456789012", region: "eu-central-1" } to pushesFrom of the Sluice',
    ],
    [
      "a repository for a missing cluster",
      {
        clusters: prod,
        repositories: [{ arn: "arn:aws:ecr:eu-west-1:123456789012:repository/apps", clusters: [`${prod}-2`] }],
      },
      `the cluster "${prod}-2" is not one of this Sluice: add it first, or name one of ${prod}`,
    ],
  ])("refuses %s, and says what to write instead", (_, context, message) => {
    expect(problem(context)).toContain(message);
  });

  test("accepts ARNs with commas, JSON and lists, and ignores the CDK's own values", () => {
    const other = prod.replace("prod", "test");
    const expected = [{ arn: prod }, { arn: other }];
    const own = { "aws:cdk:bundling-stacks": ["**"], "@aws-cdk/core:flag": true, "cli-telemetry": false };
    expect(readContext({ ...own, clusters: `${prod}, ${other}` }).clusters).toEqual(expected);
    expect(readContext({ clusters: JSON.stringify([prod, { arn: other }]) }).clusters).toEqual(expected);
    expect(readContext({ clusters: "none" })).toEqual({
      isGiven: true,
      clusters: [],
      repositories: [],
      buckets: [],
      networks: {},
      removalPolicy: "RETAIN",
      webhooks: false,
      notifications: false,
      admission: false,
      allowDrops: false,
      settings: {},
      emails: [],
      pageEmails: [],
      ticketEmails: [],
    });
    expect(readContext({ emails: "a@example.com, b@example.com" })).toMatchObject({
      isGiven: false,
      emails: ["a@example.com", "b@example.com"],
    });
    const flags = { webhooks: "true", notifications: "true", admission: true };
    expect(readContext({ clusters: "none", ...flags })).toMatchObject({
      webhooks: true,
      notifications: true,
      admission: true,
    });
    expect(() => readContext({ clusters: "none", webhooks: "yes" })).toThrow("webhooks must be true or false");
  });

  test("synthesises without clusters in the context with a warning, and then refuses commands that compare or change a stack", () => {
    const app = checkedApp();
    const { node } = new SluiceStack(app, "Sluice");
    expect(JSON.stringify(node.metadata)).toContain("the context of cdk.json names no clusters");
    for (const command of ["deploy", "diff", "destroy"]) {
      expect(() => new SluiceStack(checkedApp(), "Sluice", { command })).toThrow(
        `cdk ${command} needs the installation, and the context names no clusters: write them into the "context" of cdk.json, "clusters": [{ "arn":`,
      );
    }
    for (const clusters of ["none", []]) {
      const { node: given } = new SluiceStack(checkedApp({ clusters }), "Sluice", { command: "deploy" });
      expect(JSON.stringify(given.metadata)).not.toContain("names no clusters");
    }
  });

  test("gives administrator rights in a cluster only if the context says so, and warns if the context has no rights", () => {
    const admins = (entry: object) => {
      const stack = new SluiceStack(checkedApp({ clusters: [{ arn: prod, ...entry }] }), "Sluice");
      const warned = JSON.stringify(stack.node.metadata).includes("no rights are written for");
      const template = templateOf(stack);
      const [reconcile] = Object.entries(resourcesOf(template, "AWS::EKS::AccessEntry")).flatMap(
        ([id, { Properties }]) => (id.includes("Reconcile") ? [Properties["AccessPolicies"]] : []),
      );
      return { isAdmin: JSON.stringify(reconcile ?? []).includes("AmazonEKSClusterAdminPolicy"), warned };
    };
    expect(admins({})).toEqual({ isAdmin: false, warned: true });
    expect(admins({ rights: "namespaces" })).toEqual({ isAdmin: false, warned: false });
    expect(admins({ rights: "clusterAdmin" })).toEqual({ isAdmin: true, warned: false });
  });

  test("gives the definitions function administrator rights in a cluster unless the context says group", () => {
    const isAdmin = (entry: object) => {
      const stack = new SluiceStack(
        checkedApp({ clusters: [{ arn: prod, rights: "namespaces", ...entry }] }),
        "Sluice",
      );
      const entries = Object.entries(resourcesOf(templateOf(stack), "AWS::EKS::AccessEntry"));
      const [definitions] = entries.filter(([id]) => id.includes("DefinitionsAccess"));
      return JSON.stringify(definitions).includes("AmazonEKSClusterAdminPolicy");
    };
    expect([{}, { definitionsRights: "clusterAdmin" }, { definitionsRights: "group" }].map(isAdmin)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("gives the settings of the context to the functions, and refuses those that no document may have", () => {
    const settings = { "default-service-account": "deploys" };
    expect(readContext({ clusters: "none", settings: JSON.stringify(settings) }).settings).toEqual(settings);
    expect(problem({ clusters: prod, settings })).toBe("none");
    expect(problem({ clusters: prod, settings: { "default-service-acount": "deploys" } })).toContain(
      "default-service-acount is not a setting: did you mean default-service-account?",
    );
    expect(problem({ clusters: prod, settings: "{" })).toContain("settings must be an object");
  });

  test("sends the alarms to the addresses of the context", () => {
    const template = templateOf(new SluiceStack(checkedApp({ clusters: "none", emails: ["a@example.com"] }), "Sluice"));
    expect(Object.keys(resourcesOf(template, "AWS::SNS::Subscription"))).toHaveLength(2);
    const paged = new SluiceStack(checkedApp({ clusters: "none", pageEmails: "b@example.com" }), "Sluice");
    const [page, ...others] = Object.values(resourcesOf(templateOf(paged), "AWS::SNS::Subscription"));
    expect([JSON.stringify(page), others]).toEqual([expect.stringContaining("b@example.com"), []]);
  });

  test("reaches a private cluster from the subnets of its network, and opens the cluster's endpoint to them", () => {
    const networks = {
      internal: {
        vpcId: "vpc-0123456789abcdef1",
        subnetIds: ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"],
        egress: "endpoints",
      },
    };
    const clusters = [{ arn: prod, rights: "namespaces", network: "internal", securityGroup: "sg-0123456789abcdef1" }];
    const template = templateOf(new SluiceStack(checkedApp({ clusters, networks }), "Sluice"));
    const inVpc = Object.entries(resourcesOf(template, "AWS::Lambda::Function")).flatMap(([id, { Properties }]) =>
      "VpcConfig" in Properties ? [[id.slice(0, 25), Properties["VpcConfig"]] as const] : [],
    );
    expect(inVpc.map(([id]) => id)).toEqual(
      expect.arrayContaining([
        expect.stringContaining("ReconcileInternal"),
        expect.stringContaining("DefinitionsInterna"),
      ]),
    );
    expect(JSON.stringify(inVpc[0]?.[1])).toContain(
      '"SubnetIds":["subnet-0123456789abcdef1","subnet-0123456789abcdef2"]',
    );
    expect(Object.values(resourcesOf(template, "AWS::EC2::SecurityGroupIngress"))).toMatchObject([
      { Properties: { GroupId: "sg-0123456789abcdef1", FromPort: 443, ToPort: 443 } },
    ]);
  });

  const inNetworks = (clusters: number, networks: number) => {
    const names = Array.from({ length: networks }, (_, index) => `net-${index}`);
    const network = { vpcId: "vpc-0123456789abcdef1", subnetIds: ["subnet-0123456789abcdef1"], egress: "nat" };
    return checkedApp({
      networks: Object.fromEntries(names.map((name) => [name, network])),
      clusters: Array.from({ length: clusters }, (_, index) => ({
        ...{ arn: `${prod}-${index}`, rights: "namespaces", network: names[index % networks] ?? "default" },
        ...(networks > 0 ? { securityGroup: `sg-${index.toString(16).padStart(17, "0")}` } : {}),
      })),
    });
  };

  test.each([
    { clusters: 150, networks: 0 },
    // What each network and each security group needs counts as well.
    { clusters: 90, networks: 4 },
  ])("refuses $clusters clusters in $networks networks, whose resources are too many for a stack", (given) => {
    const app = inNetworks(given.clusters, given.networks);
    new SluiceStack(app, "Sluice");
    expect(() => app.synth()).toThrow(/\d{3} resources are too many for one stack, which CloudFormation limits to 500/);
  });

  test("prints the cost of a further network, but not of the first one", () => {
    const said = (app: ReturnType<typeof inNetworks>) => {
      const { node } = new SluiceStack(app, "Sluice");
      return node.metadata.filter(({ type }) => type === "aws:cdk:info").map(({ data }) => String(data));
    };
    expect(said(inNetworks(1, 1))).toEqual([
      "net-0 in networks: each has functions and a queue of its own, about $0.36 a month at rest, beside its NAT gateway or VPC endpoints (docs/cost.md)",
    ]);
    expect(said(inNetworks(1, 0))).toEqual([]);
  });

  test("reaches a cluster of another account with the roles of its functions, also with webhooks, notifications and admission", () => {
    const far = "arn:aws:eks:eu-west-1:210987654321:cluster/far";
    const role = (name: string) => `arn:aws:iam::210987654321:role/${name}`;
    const roles = { reconcile: role("reconcile"), definitions: role("definitions"), receiver: role("receiver") };
    const all = { ...roles, notify: role("notify") };
    const flags = { webhooks: true, notifications: true, admission: true };
    const context = { clusters: [prod, { arn: far, roles: all }], ...flags };
    const template = templateOf(new SluiceStack(checkedApp(context), "Sluice"));
    const assumed = (name: string) =>
      Object.entries(resourcesOf(template, "AWS::IAM::Policy"))
        .filter(([id]) => id.startsWith(`Sluice${name}Role`))
        .flatMap(([, policy]) => JSON.stringify(policy).match(/role\/\w+/g) ?? []);
    expect(["Reconcile", "Receiver", "Notify"].map(assumed)).toEqual([
      ["role/reconcile"],
      ["role/receiver"],
      ["role/notify"],
    ]);
    expect(problem({ ...context, clusters: [prod, { arn: far, roles }] })).toContain("write roles.notify");
    expect(problem({ ...context, clusters: [prod, { arn: far, role: role("one") }] })).toContain("give roles");
  });

  test("without a cluster outputs the roles that a cluster in another account must trust", () => {
    const { Outputs } = templateOf(new SluiceStack(checkedApp({ clusters: "none", webhooks: true }), "Sluice"));
    expect(Outputs).toMatchObject({
      ReconcileRole: expect.anything(),
      DefinitionsRole: expect.anything(),
      ReceiverRole: expect.anything(),
    });
  });

  test("keeps the repositories of the context while no cluster pulls from them", () => {
    const arn = "arn:aws:ecr:eu-west-1:123456789012:repository/apps";
    expect(problem({ clusters: "none", repositories: [{ arn, namespaces: ["apps"] }] })).toBe("none");
  });

  test("allows the namespaces that buckets name to read a bucket, and subscribes to its changes", () => {
    const buckets = [{ arn: "arn:aws:s3:::team-manifests", namespaces: ["apps"] }];
    expect(problem({ clusters: prod, buckets })).toBe("none");
    const template = JSON.stringify(templateOf(new SluiceStack(checkedApp({ clusters: prod, buckets }), "Sluice")));
    expect(template).toContain("arn:aws:s3:::team-manifests/*");
    expect(template).toContain('"detail":{"bucket":{"name":["team-manifests"]}}');
  });

  test("accepts repositories whose names differ only in a slash", () => {
    const repositories = ["a/b", "a-b"].map((name) => `arn:aws:ecr:eu-west-1:123456789012:repository/${name}`);
    expect(problem({ clusters: prod, repositories })).toBe("none");
  });

  test("without a cluster deploys to the region of the first repository, whose pushes arrive there", () => {
    const repositories = ["arn:aws:ecr:eu-central-1:123456789012:repository/apps"];
    const far = { arn: "arn:aws:eks:eu-west-1:210987654321:cluster/far", role: "arn:aws:iam::210987654321:role/far" };
    const { account, region } = new SluiceStack(checkedApp({ clusters: [far], repositories }), "Sluice");
    expect({ account, region }).toEqual({ account: "123456789012", region: "eu-central-1" });
  });

  test("with the removal policy DESTROY deletes table and bucket with the stack, and empties the bucket before", () => {
    const context = { clusters: prod, removalPolicy: "DESTROY" };
    const template = templateOf(new SluiceStack(checkedApp(context), "Sluice"));
    const policies = ["AWS::DynamoDB::Table", "AWS::S3::Bucket"].map((type) =>
      Object.values(resourcesOf(template, type)).map(({ DeletionPolicy }) => DeletionPolicy),
    );
    expect(policies).toEqual([["Delete"], ["Delete"]]);
    expect(Object.keys(resourcesOf(template, "Custom::S3AutoDeleteObjects"))).toHaveLength(1);
  });

  test("deploys to the first cluster's region, even if another user synthesises it", () => {
    const { account, region } = new SluiceStack(checkedApp({ clusters: prod }), "Sluice");
    expect({ account, region }).toEqual({ account: "123456789012", region: "eu-west-1" });
  });

  test("refuses clusters of two regions, because their order would decide the region of the stack", () => {
    const far = prod.replace("eu-west-1", "us-east-1");
    expect(() => new SluiceStack(checkedApp({ clusters: `${prod},${far}` }), "Sluice")).toThrow(
      "the clusters are in 123456789012/eu-west-1 and 123456789012/us-east-1",
    );
  });
});
