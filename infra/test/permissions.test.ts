import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { SluiceStack } from "../lib/app-stack.ts";
import { shapes } from "./shapes.ts";
import { checkedApp, resourcesOf, type TemplateFile, templateOf } from "./synthesise.ts";

const list = z.union([z.array(z.unknown()), z.unknown().transform((one): readonly unknown[] => [one])]);
const Statement = z.looseObject({
  Effect: z.string(),
  Action: list,
  Resource: list,
  Condition: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
});
const PolicyDocument = z.object({ Statement: z.array(Statement) });
const RolePolicy = z.object({ PolicyDocument, Roles: z.array(z.object({ Ref: z.string() })) });

interface Right {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
}

/** `SluiceTable.Arn`, `SluiceArtifacts.Arn/artifacts/*`: an expression of a template as a reader would write it. */
function readable(value: unknown): string {
  const expression = z
    .union([
      z.string(),
      z.object({ Ref: z.string() }).transform(({ Ref }) => (Ref === "AWS::Partition" ? "aws" : Ref)),
      z.object({ "Fn::GetAtt": z.tuple([z.string(), z.string()]) }).transform((one) => one["Fn::GetAtt"].join(".")),
      z.object({ "Fn::Sub": z.string() }).transform((one) => one["Fn::Sub"]),
      z
        .object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) })
        .transform((one) => one["Fn::Join"][1].map(readable).join("")),
    ])
    .parse(value);
  return expression.replaceAll(/\b[0-9a-f]{64}\b/g, "<digest>").replaceAll("AWS::AccountId", "<account>");
}

/** The roles' logical ids, without what the CDK appends to make them unique. */
const plain = (text: string): string => text.replaceAll(/(?<=[A-Za-z])[0-9A-F]{8}\b/g, "");

/** The condition of a KMS key whose alias is named: no other request is allowed. */
function requestedAs({ StringEquals = {} }: z.output<typeof Statement>["Condition"]): string {
  const alias = StringEquals["kms:RequestAlias"];
  return typeof alias === "string" ? ` requested as ${alias}` : "";
}

/** The partitions of the state table that requests are bound to. */
function boundTo(condition: z.output<typeof Statement>["Condition"]): string {
  const keys = condition["ForAllValues:StringLike"]?.["dynamodb:LeadingKeys"];
  return keys === undefined ? "" : ` partitions ${list.parse(keys).join(", ")}`;
}

function rightsOf(template: TemplateFile): readonly Right[] {
  const policies = [
    ...Object.values(resourcesOf(template, "AWS::IAM::Policy")),
    ...Object.values(resourcesOf(template, "AWS::IAM::ManagedPolicy")),
  ];
  return policies.flatMap(({ Properties }) => {
    const { PolicyDocument: document, Roles } = RolePolicy.parse(Properties);
    const statements = document.Statement.filter(({ Effect }) => Effect === "Allow");
    return Roles.flatMap(({ Ref }) =>
      statements.flatMap(({ Action, Condition, Resource }) =>
        Action.flatMap((action) =>
          Resource.map((resource) => ({
            role: plain(Ref).replace(/^Sluice|(ServiceRole|Role)$/g, ""),
            action: String(action),
            resource: plain(readable(resource)) + requestedAs(Condition) + boundTo(Condition),
          })),
        ),
      ),
    );
  });
}

/** What has no finer resource; each is a review of the service's documentation. */
const withoutResource = [
  "ec2:AssignPrivateIpAddresses",
  "ec2:CreateNetworkInterface",
  "ec2:DeleteNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:UnassignPrivateIpAddresses",
  "ecr:GetAuthorizationToken",
];

describe.each(Object.entries(shapes))("the roles of the shape %s", (_, make) => {
  const rights = rightsOf(templateOf(make().stack));

  test("name every action, and every resource unless the service has no finer one", () => {
    const wide = rights.filter(
      ({ action, resource }) => action.includes("*") || (resource === "*" && !withoutResource.includes(action)),
    );
    expect(wide).toEqual([]);
    // The stars inside ARNs: streams of a function's own log, artifacts, whose names are digests, and the key of an alias.
    const inside = rights.filter(
      ({ resource }) => resource !== "*" && resource.split(" partitions ")[0]?.includes("*"),
    );
    const starred =
      /^(SluiceArtifacts\.Arn\/artifacts\/\*|arn:aws:s3:::cdk-hnb659fds-assets-.*\/\*\.sluice-[0-9a-f]{8}|arn:aws:eks:.*:cluster\/\*|arn:aws:kms:[^*]*:key\/\* requested as alias\/[^*]+)$/;
    expect(inside.filter(({ resource }) => !starred.test(resource))).toEqual([]);
    const describing = inside.filter(({ resource }) => resource.startsWith("arn:aws:eks:"));
    expect(describing.filter(({ action }) => action !== "eks:DescribeCluster")).toEqual([]);
    expect(describing.filter(({ role }) => /^(Reconcile|Ingest|Sweep)/.test(role))).toEqual([]);
  });

  test("of functions that only request runs write work items of the table, and nothing of the ledger, the history or others", () => {
    const written = rights.filter(
      ({ role, action }) => /^(Ingest|Sweep|Receiver)/.test(role) && /^dynamodb:(?!Get|BatchGet|Query)/.test(action),
    );
    expect(new Set(written.map(({ action, resource }) => `${action} ${resource}`))).toEqual(
      new Set([
        "dynamodb:PutItem SluiceTable.Arn partitions layout",
        "dynamodb:UpdateItem SluiceTable.Arn partitions obj#*",
      ]),
    );
    const unbound = rights.filter(
      ({ role, action, resource }) =>
        /^(Ingest|Sweep|Receiver)/.test(role) && action.startsWith("dynamodb:") && resource === "SluiceTable.Arn",
    );
    expect(unbound).toEqual([]);
  });

  test("have no managed policy of AWS, and no right that the document does not list", () => {
    const template = templateOf(make().stack);
    const attached = Object.values(resourcesOf(template, "AWS::IAM::Role")).map(
      ({ Properties }) => Properties["ManagedPolicyArns"],
    );
    expect(attached.filter((arns) => arns !== undefined)).toEqual([]);
  });
});

/** One row for each role and resource; resources that differ only in the name of a cluster or a repository share one. */
function roleTable(): string {
  const rows = new Map<string, Set<string>>();
  for (const { role, action, resource } of rightsOf(templateOf(shapes.privateCluster().stack))) {
    const key = `| ${role} | \`${resource}\` |`;
    rows.set(key, (rows.get(key) ?? new Set()).add(`\`${action}\``));
  }
  const lines = [...rows].map(([key, actions]) => `${key} ${[...actions].toSorted().join(", ")} |`).toSorted();
  return ["| role | resource | actions |", "| --- | --- | --- |", ...lines].join("\n");
}

/** A statement that denies writing to a resource to all but some. */
interface Guard {
  /** The logical id of the resource. */
  readonly resource: string;
  readonly shown: string;
  readonly actions: readonly string[];
  /** Roles without their prefix, as in {@link rightsOf}; ARNs of others. */
  readonly writers: readonly string[];
  readonly isOpenToServices: boolean;
}

const Guarding = z.union([
  z.object({ PolicyDocument }),
  z.object({ ResourcePolicy: z.object({ PolicyDocument }) }).transform(({ ResourcePolicy }) => ResourcePolicy),
]);

function guardsOf({ Resources }: TemplateFile): readonly Guard[] {
  return Object.entries(Resources).flatMap(([id, { Properties }]) => {
    const policy = Guarding.safeParse(Properties);
    if (!policy.success) return [];
    const { Statement: statements } = policy.data.PolicyDocument;
    return statements.flatMap((statement): readonly Guard[] => {
      if (statement.Effect !== "Deny" || !/^DenyOther/.test(String(statement["Sid"]))) return [];
      const [own = "*"] = statement.Resource.map(readable);
      const shown = own === "*" ? `${id}.Arn` : own;
      const writers = list.parse(statement.Condition["ArnNotLike"]?.["aws:PrincipalArn"] ?? []);
      return [
        {
          ...{ resource: shown.replace(/\.Arn.*$/, ""), shown, actions: statement.Action.map(String) },
          writers: writers.map((arn) => plain(readable(arn)).replace(/^(?:Sluice)?(.*?)Role\.Arn$/, "$1")),
          isOpenToServices: statement.Condition["Bool"] !== undefined,
        },
      ];
    });
  });
}

function writerTable(): string {
  const lines = guardsOf(templateOf(shapes.privateCluster().stack)).map(({ shown, actions, writers, ...guard }) => {
    const roles = writers.map((one) => (one.startsWith("arn:") ? "`breakGlassPrincipals`" : one));
    const who = [...roles, ...(guard.isOpenToServices ? ["services of AWS that another statement names"] : [])];
    return `| ${shown} | ${who.join(", ")} | ${actions.map((action) => `\`${action}\``).join(", ")} |`;
  });
  return ["| resource | who | actions |", "| --- | --- | --- |", ...lines.toSorted()].join("\n");
}

const emptied = () => new SluiceStack(checkedApp({ clusters: "none", removalPolicy: "DESTROY" }), "Sluice");

describe.each([
  ...Object.entries(shapes).map(([name, make]) => [name, () => make().stack] as const),
  ["with removalPolicy DESTROY", emptied] as const,
])("the writers of the shape %s", (_, make) => {
  const template = templateOf(make());
  const guards = guardsOf(template);

  test("are guarded at the table, the bucket and each queue", () => {
    const stored = ["AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SQS::Queue"].flatMap((type) =>
      Object.keys(resourcesOf(template, type)),
    );
    expect(new Set(guards.map(({ resource }) => resource))).toEqual(new Set(stored));
  });

  test("are the roles that have a right to write there, and no other role", () => {
    const rights = rightsOf(template);
    for (const [resource, statements = []] of Object.entries(Object.groupBy(guards, (guard) => guard.resource))) {
      const actions = statements.flatMap((guard) => guard.actions);
      const allowed = rights.filter(
        (right) => right.resource.replace(/\.Arn.*$/, "") === resource && actions.includes(right.action),
      );
      // Principals of breakGlassPrincipals have their rights elsewhere, and what empties the bucket has them in its policy.
      const roles = statements
        .flatMap(({ writers }) => writers)
        .filter((one) => !one.startsWith("arn:") && !one.startsWith("CustomS3AutoDelete"));
      expect([resource, new Set(roles)]).toEqual([resource, new Set(allowed.map(({ role }) => role))]);
    }
  });
});

function filled(text: string, section: string, table: string): string {
  const [begin = "", ...after] = text.split(new RegExp(`(?<=<!-- ${section}: [^\\n]*-->\\n)`));
  const end =
    after
      .join("")
      .split(new RegExp(`(?=<!-- /${section} -->)`))
      .at(-1) ?? "";
  return `${begin}\n${table}\n\n${end}`;
}

test("the roles of the functions are listed in docs/security.md", async () => {
  const file = join(import.meta.dirname, "../../docs/security.md");
  const text = readFileSync(file, "utf8");
  await expect(filled(filled(text, "roles", roleTable()), "writers", writerTable())).toMatchFileSnapshot(file);
});
