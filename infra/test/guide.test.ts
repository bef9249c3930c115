import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { expect, test } from "vitest";
import { z } from "zod";
import { readContext } from "../lib/context.ts";
import { functionRows } from "../lib/functions.ts";
import { pascalCase } from "../lib/queues.ts";
import { prod } from "./synthesise.ts";

const infra = join(import.meta.dirname, "..");
const document = (name: string) => readFileSync(join(infra, "../docs", name), "utf8");

test("the installation in the guide can be read unchanged", () => {
  const [, json = ""] = /```json\n(.*?)```/s.exec(document("deploy.md")) ?? [];
  const { context } = z.object({ context: z.record(z.string(), z.unknown()) }).parse(JSON.parse(json));
  expect(readContext(context)).toEqual({
    isGiven: true,
    environment: "123456789012/eu-west-1",
    clusters: [{ arn: prod, rights: "namespaces" }],
    repositories: [{ arn: "arn:aws:ecr:eu-west-1:123456789012:repository/apps", namespaces: ["flux-system"] }],
    buckets: [],
    emails: ["platform@example.com"],
    networks: {},
    removalPolicy: "RETAIN",
    settings: {},
    pageEmails: [],
    ticketEmails: [],
    webhooks: false,
    notifications: false,
    admission: false,
    allowDrops: false,
  });
});

test("docs/logs.md lists the log group of every function", () => {
  const page = document("logs.md");
  const groups = Object.keys(functionRows).map((name) => `Sluice${pascalCase(name)}Log`);
  expect(groups.filter((group) => !page.includes(`| \`${group}\` |`))).toEqual([]);
});

test("the Kustomization of the guide uses a service account that the guide creates and binds in its target namespace", () => {
  const [, yaml = ""] = /<<YAML\n(.*?)\nYAML\n/s.exec(document("deploy.md")) ?? [];
  const objects = z
    .array(z.looseObject({ kind: z.string(), metadata: z.object({ name: z.string(), namespace: z.string() }) }))
    .parse(loadAll(yaml));
  const one = (kind: string) => objects.find((object) => object.kind === kind);
  const account = one("ServiceAccount")?.metadata;
  expect(one("Kustomization")).toMatchObject({
    metadata: { namespace: account?.namespace },
    spec: { serviceAccountName: account?.name, targetNamespace: one("RoleBinding")?.metadata.namespace },
  });
  expect(one("RoleBinding")).toMatchObject({ subjects: [{ kind: "ServiceAccount", ...account }] });
});

/** Runs an app without credentials: for each of its stacks, the security groups of others that it opens, or the error. */
function openedBy(code: string): unknown {
  const app = `${code.replace('"@sluice/cdk"', '"./lib/index.ts"')}
const opened = ({ Resources }) =>
  Object.values(Resources).flatMap(({ Type, Properties }) =>
    Type === "AWS::EC2::SecurityGroupIngress" && typeof Properties.GroupId === "string" ? [Properties.GroupId] : [],
  );
console.log(JSON.stringify(app.synth().stacks.map(({ stackName, template }) => [stackName, opened(template)])));`;
  // The CDK leaves its assembly in the temporary folder; that of these tests is removed.
  const env = { PATH: process.env["PATH"] ?? "", AWS_EC2_METADATA_DISABLED: "true", TMPDIR: tmpdir() };
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", app], {
    cwd: infra,
    env,
    encoding: "utf8",
  });
  return stdout === "" ? (stderr.match(/^.*Error.*$/m)?.[0] ?? stderr) : JSON.parse(stdout);
}

const examplesOf = (page: string) =>
  [...document(page).matchAll(/```typescript\n(.*?)```/gs)].map(([, code = ""]) => code);

test("the example of docs/constructs.md synthesises without credentials, and opens the cluster's private endpoint", () => {
  const [example = ""] = examplesOf("constructs.md");
  expect(openedBy(example)).toEqual([
    ["Far", []],
    ["Sluice", ["sg-0123456789abcdef0"]],
  ]);
});

test("the examples of docs/vpc.md synthesise together, and open the cluster's private endpoint", () => {
  const [cluster = "", endpoints = ""] = examplesOf("vpc.md");
  const app = `import { Sluice } from "@sluice/cdk";
import { App, Stack } from "aws-cdk-lib";
const app = new App();
const stack = new Stack(app, "Sluice", { env: { account: "123456789012", region: "eu-west-1" } });
`;
  expect(openedBy(`${app}${endpoints}${cluster}`)).toEqual([["Sluice", ["sg-0123456789abcdef0"]]]);
});
