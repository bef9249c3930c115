import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
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

test("the example of docs/constructs.md synthesises unchanged, without credentials", () => {
  const [, example = ""] = /```typescript\n(.*?)```/s.exec(document("constructs.md")) ?? [];
  const app = `${example.replace('"@sluice/cdk"', '"./lib/index.ts"')}\nconsole.log(app.synth().stacks.map(({ stackName }) => stackName).join());`;
  const env = { PATH: process.env["PATH"] ?? "", AWS_EC2_METADATA_DISABLED: "true" };
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", app], {
    cwd: infra,
    env,
    encoding: "utf8",
  });
  expect({ stdout, errors: stderr.match(/^.*Error.*$/m)?.[0] }).toEqual({ stdout: "Far,Sluice\n", errors: undefined });
});
