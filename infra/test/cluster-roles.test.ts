import { Stack } from "aws-cdk-lib";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readInstallation, roleOf } from "../../functions/settings/installation.ts";
import { type AddClusterProps, SluiceCluster } from "../lib/cluster.ts";
import { SluiceClusterRoles, type SluiceClusterRolesProps } from "../lib/cluster-roles.ts";
import { SluiceConfiguration } from "../lib/configuration.ts";
import { InstallationDocument } from "../lib/installation.ts";
import { Sluice, type SluiceProps } from "../lib/sluice.ts";
import { checkedApp, env, resourcesOf, type TemplateFile, templateOf } from "./synthesise.ts";

const far = "arn:aws:eks:eu-north-1:210987654321:cluster/far";
const farEnv = { account: "210987654321", region: "eu-north-1" };
const roleNamed = (name: string) => `arn:aws:iam::210987654321:role/${name}`;

/** Clusters of two accounts in one app: the roles in the cluster's account, and the Sluice that enters by them. */
function twoAccounts(props: SluiceProps = { webhooks: true, notifications: true }) {
  const app = checkedApp();
  const stack = new Stack(app, "Sluice", { env });
  const sluice = new Sluice(stack, "Sluice", props);
  const there = new Stack(app, "Far", { env: farEnv });
  const roles = new SluiceClusterRoles(there, "Roles", {
    clusterArn: far,
    rights: "namespaces",
    sluice,
    configurations: true,
  });
  const cluster = sluice.addCluster("Far", { clusterArn: far, rights: "namespaces", roles });
  new SluiceConfiguration(stack, "Shop", {
    cluster,
    name: "shop",
    namespace: "apps",
    source: { oci: { url: "oci://registry.example.com/shop" } },
    kustomizations: { apps: { path: "apps" } },
  });
  return { stack, there, sluice, roles };
}

const Policy = z.object({
  PolicyDocument: z.object({ Statement: z.array(z.looseObject({ Action: z.unknown(), Resource: z.unknown() })) }),
  Roles: z.array(z.object({ Ref: z.string() })),
});

/** The roles that each function may assume, by the name of the function. */
function assumedBy(template: TemplateFile): Readonly<Record<string, readonly unknown[]>> {
  return Object.fromEntries(
    Object.values(resourcesOf(template, "AWS::IAM::Policy")).flatMap(({ Properties }) => {
      const { PolicyDocument, Roles } = Policy.parse(Properties);
      const assumed = PolicyDocument.Statement.filter(({ Action }) => Action === "sts:AssumeRole");
      if (assumed.length === 0) return [];
      const name = Roles[0]?.Ref.replace(/^Sluice|Role[0-9A-F]{8}$/g, "") ?? "";
      return [[name, assumed.map(({ Resource }) => Resource)] as const];
    }),
  );
}

describe("a cluster of another account", () => {
  test("is reached by each function with its own role: a function open to the internet cannot use reconcile's role", () => {
    const { stack, roles } = twoAccounts();
    const given = assumedBy(templateOf(stack));
    expect(given).toEqual({
      Reconcile: [roles.reconcile],
      Receiver: [roles.receiver],
      Notify: [roles.notify],
      Definitions: [roles.definitions],
      Configuration: [roles.configuration],
    });
    expect(new Set(Object.values(given).flat()).size).toBe(5);
  });

  test("passes their roles to the deployment functions, and the document to the three functions that read it", () => {
    const { stack, sluice, roles } = twoAccounts();
    const template = templateOf(stack);
    const told = (type: string) =>
      Object.values(resourcesOf(template, type)).map(({ Properties }) => Properties["role"]);
    expect(told("Custom::SluiceDefinitions")).toEqual([roles.definitions]);
    expect(told("Custom::SluiceConfiguration")).toEqual([roles.configuration]);
    const document = sluice.node.findChild("Installation");
    const read = document instanceof InstallationDocument ? readInstallation(document.text()) : { faults: ["none"] };
    if ("faults" in read) throw new Error(read.faults.join());
    expect(read.clusters[0]?.roles).toEqual({
      reconcile: roles.reconcile,
      receiver: roles.receiver,
      notify: roles.notify,
    });
    expect(read.clusters.map((entry) => roleOf(entry, "receiver"))).toEqual([roles.receiver]);
  });

  test("that leaves the stack stays accessible until its dependents are deleted, by a right in no permanent policy", () => {
    const template = templateOf(twoAccounts().stack);
    for (const type of ["Custom::SluiceDefinitions", "Custom::SluiceConfiguration"]) {
      const [resource] = Object.values(resourcesOf(template, type));
      const { role } = z.object({ role: z.string() }).parse(resource?.Properties);
      const dependedOn = z.array(z.string()).parse(resource?.["DependsOn"]);
      const entering = Object.entries(resourcesOf(template, "AWS::IAM::Policy"))
        .map(([id, { Properties }]) => [id, Policy.parse(Properties).PolicyDocument.Statement] as const)
        .filter(([, statements]) => statements.some(({ Resource }) => Resource === role));
      expect(entering).toEqual([[expect.any(String), [expect.objectContaining({ Action: "sts:AssumeRole" })]]]);
      expect(dependedOn).toContain(entering[0]?.[0]);
    }
  });

  test("in a separate stack keeps the right to find it until the objects of a configuration are removed", () => {
    const app = checkedApp();
    const sluice = new Sluice(new Stack(app, "Sluice", { env }), "Sluice");
    const stack = new Stack(app, "Own", { env });
    const clusterArn = `arn:aws:eks:${env.region}:${env.account}:cluster/own`;
    const cluster = new SluiceCluster(stack, "Own", { sluice, clusterArn, rights: "namespaces" });
    new SluiceConfiguration(stack, "Shop", {
      cluster,
      name: "shop",
      namespace: "apps",
      source: { oci: { url: "oci://registry.example.com/shop" } },
      kustomizations: { apps: { path: "apps" } },
    });
    const template = templateOf(stack);
    const [resource] = Object.values(resourcesOf(template, "Custom::SluiceConfiguration"));
    expect(z.array(z.string()).parse(resource?.["DependsOn"])).toContainEqual(
      expect.stringMatching(/^ConfigurationReach/),
    );
  });

  test("is refused at synth if the rights for all clusters do not fit into the policies of a role", () => {
    const sluice = new Sluice(new Stack(checkedApp(), "Sluice", { env }), "Sluice");
    const add = (index: number) =>
      sluice.addCluster(`Far${index}`, {
        clusterArn: `${far}${index}`,
        rights: "namespaces",
        roles: { reconcile: roleNamed("reconcile"), definitions: roleNamed(`sluice-definitions-${index}`) },
      });
    const most = 53;
    for (let index = 0; index < most; index++) add(index);
    expect(() => add(most)).toThrow("Sluice/Sluice/Far53: the function definitions of its network enters too many");
  });

  test.each<{ props: Partial<AddClusterProps>; says: string }>([
    { props: { role: roleNamed("sluice") }, says: "give roles in place of role" },
    {
      props: { roles: { reconcile: roleNamed("a"), definitions: roleNamed("b") } },
      says: "has no receiver, which the property webhooks needs",
    },
    {
      props: { roles: { reconcile: roleNamed("a"), receiver: roleNamed("a"), definitions: roleNamed("b") } },
      says: "its roles.receiver must be another role than roles.reconcile",
    },
    { props: {}, says: "give the property roles, a SluiceClusterRoles in a stack of 210987654321" },
    {
      props: { role: roleNamed("a"), roles: { reconcile: roleNamed("a"), definitions: roleNamed("b") } },
      says: "has role and roles: keep one of the two",
    },
  ])("is refused with webhooks: $says", ({ props, says }) => {
    const sluice = new Sluice(new Stack(checkedApp(), "Sluice", { env }), "Sluice", { webhooks: true });
    expect(() => sluice.addCluster("Far", { clusterArn: far, rights: "namespaces", ...props })).toThrow(says);
  });

  test("may use one role if no function is open to the internet", () => {
    const stack = new Stack(checkedApp(), "Sluice", { env });
    new Sluice(stack, "Sluice").addCluster("Far", { clusterArn: far, rights: "namespaces", role: roleNamed("sluice") });
    expect(assumedBy(templateOf(stack))).toEqual({
      Reconcile: [roleNamed("sluice")],
      Definitions: [roleNamed("sluice")],
    });
  });

  test("whose roles lack one for a SluiceConfiguration, or have other rights, is refused with a mend", () => {
    const stack = new Stack(checkedApp(), "Sluice", { env });
    const sluice = new Sluice(stack, "Sluice");
    const roles = { reconcile: roleNamed("a"), definitions: roleNamed("b") };
    const cluster = sluice.addCluster("Far", { clusterArn: far, rights: "namespaces", roles });
    expect(() => cluster.configurationAccess()).toThrow("roles has no role for the function configuration");
    const made = new SluiceClusterRoles(new Stack(stack.node.root, "There", { env: farEnv }), "Roles", {
      clusterArn: far,
      rights: "clusterAdmin",
      sluice,
    });
    expect(() => sluice.addCluster("Far2", { clusterArn: far, rights: "namespaces", roles: made })).toThrow(
      'has the rights "namespaces", and its roles There/Roles have "clusterAdmin": write the same in both',
    );
  });
});

describe("SluiceClusterRoles", () => {
  test("creates a role for each function, which only that function may assume, with one action on one cluster", () => {
    const { sluice, there, roles, stack } = twoAccounts();
    const template = templateOf(there);
    const made = Object.values(resourcesOf(template, "AWS::IAM::Role")).map(({ Properties }) => Properties);
    const named = made.map((one) => roleNamed(String(one["RoleName"])));
    expect(named).toEqual([roles.reconcile, roles.definitions, roles.receiver, roles.notify, roles.configuration]);
    const trusted = made.map((one) => {
      const { Statement } = z
        .object({ Statement: z.tuple([z.looseObject({ Condition: z.object({ ArnEquals: z.unknown() }) })]) })
        .parse(one["AssumeRolePolicyDocument"]);
      expect(JSON.stringify(Statement[0])).toContain(":iam::123456789012:root");
      return JSON.stringify(Statement[0].Condition.ArnEquals);
    });
    const functionRoles = resourcesOf(templateOf(stack), "AWS::IAM::Role");
    const names = ["Reconcile", "Definitions", "Receiver", "Notify", "Configuration"].map((name) => {
      const [, role] = Object.entries(functionRoles).find(([id]) => id.startsWith(`Sluice${name}Role`)) ?? [];
      return String(role?.Properties["RoleName"]);
    });
    expect(sluice.receiverRole()).toBeDefined();
    trusted.forEach((text, index) => expect(text).toContain(`:iam::123456789012:role/${names[index]}"`));
    const rights = Object.values(resourcesOf(template, "AWS::IAM::Policy")).map(
      ({ Properties }) => Policy.parse(Properties).PolicyDocument.Statement,
    );
    expect(rights).toEqual(
      Array.from({ length: 5 }, () => [{ Effect: "Allow", Action: "eks:DescribeCluster", Resource: far }]),
    );
  });

  test("gives each role access to the cluster with the group and the policy of its function", () => {
    const entries = Object.values(resourcesOf(templateOf(twoAccounts().there), "AWS::EKS::AccessEntry"));
    expect(
      entries.map(({ Properties }) => [
        Properties["ClusterName"],
        Properties["KubernetesGroups"],
        JSON.stringify(Properties["AccessPolicies"]).includes("AmazonEKSClusterAdminPolicy"),
      ]),
    ).toEqual([
      ["far", ["sluice-reconcile"], false],
      ["far", ["sluice-definitions"], true],
      ["far", ["sluice-receiver"], false],
      ["far", ["sluice-notify"], false],
      ["far", ["sluice-configuration"], false],
    ]);
  });

  test("is deployed before the Sluice, and a function's role has a fixed name only if another account names it", () => {
    const { stack, there } = twoAccounts();
    templateOf(stack);
    expect(stack.dependencies).toEqual([there]);
    expect(there.dependencies).toEqual([]);
    const named = Object.entries(resourcesOf(templateOf(stack), "AWS::IAM::Role"))
      .filter(([, { Properties }]) => Properties["RoleName"] !== undefined)
      .map(([id]) => id.replace(/^Sluice|Role[0-9A-F]{8}$/g, ""));
    expect(named.toSorted()).toEqual(["Configuration", "Definitions", "Notify", "Receiver", "Reconcile"]);
  });

  const ofAnotherApp = (props: Partial<SluiceClusterRolesProps>, stackEnv = farEnv) => {
    const stack = new Stack(checkedApp(), "Far", { env: stackEnv });
    const roles = new SluiceClusterRoles(stack, "Roles", { clusterArn: far, rights: "clusterAdmin", ...props });
    return { roles, template: templateOf(stack) };
  };
  const functionRoles = {
    reconcile: "arn:aws:iam::123456789012:role/Sluice-ReconcileRole",
    definitions: "arn:aws:iam::123456789012:role/Sluice-DefinitionsRole",
  };

  test("of another app names the roles of the functions, and creates none for functions that are left out", () => {
    const { roles, template } = ofAnotherApp({ functionRoles });
    expect([roles.receiver, roles.notify, roles.configuration]).toEqual([undefined, undefined, undefined]);
    const text = JSON.stringify(resourcesOf(template, "AWS::IAM::Role"));
    for (const arn of Object.values(functionRoles)) expect(text).toContain(`"aws:PrincipalArn":"${arn}"`);
  });

  interface Refused {
    readonly props: Partial<SluiceClusterRolesProps>;
    readonly stackEnv?: typeof farEnv;
    readonly says: string;
  }
  const refused: readonly Refused[] = [
    { props: { functionRoles }, stackEnv: env, says: "put SluiceClusterRoles into a stack of the cluster's account" },
    { props: {}, says: "give exactly one of sluice, in the same app, and functionRoles, of another app" },
    {
      props: { functionRoles: { ...functionRoles, receiver: "arn:aws:iam::123456789012:role/*" } },
      says: 'functionRoles.receiver "arn:aws:iam::123456789012:role/*" is not the ARN of a role',
    },
    // @ts-expect-error -- an app in JavaScript is not compiled, so synth has to refuse it
    { props: { functionRoles: { reconcile: functionRoles.reconcile } }, says: "functionRoles.definitions is missing" },
    // @ts-expect-error -- an app in JavaScript is not compiled, so synth has to refuse it
    { props: { functionRoles, rights: "admin" }, says: 'the rights "admin" are not known' },
  ];
  test.each(refused)("is refused: $says", ({ props, stackEnv, says }) => {
    expect(() => ofAnotherApp(props, stackEnv)).toThrow(says);
  });
});
