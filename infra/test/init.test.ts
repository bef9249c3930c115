import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { filesOf, type InitOptions } from "../../cli/init-app.ts";
import { SluiceStack } from "../lib/app-stack.ts";
import { checkedApp, prod, resourcesOf, TemplateFile, templateOf } from "./synthesise.ts";

const infra = join(import.meta.dirname, "..");

/** The templates of the stacks of the app that `sluice init` writes, run by the Node of this test, with the flags of its cdk.json. */
function templatesOfInit(options: InitOptions): ReadonlyMap<string, TemplateFile> {
  const files = filesOf(options);
  const app = (files["app.ts"] ?? "").replace('"@sluice/cdk"', '"./lib/index.ts"');
  const { context } = z.looseObject({ context: z.unknown() }).parse(JSON.parse(files["cdk.json"] ?? ""));
  const outdir = mkdtempSync(join(tmpdir(), "sluice-init-app-"));
  try {
    const env = { PATH: process.env["PATH"] ?? "", CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) };
    const code = `${app}\napp.synth();`;
    const options = ["--input-type=module-typescript", "-e", code];
    const { status, stderr } = spawnSync(process.execPath, options, { cwd: infra, env, encoding: "utf8" });
    expect({ status, errors: stderr.match(/^.*Error.*$/m)?.[0] }).toEqual({ status: 0, errors: undefined });
    const written = readdirSync(outdir).filter((name) => name.endsWith(".template.json"));
    return new Map(
      written.map((name) => [
        name.replace(".template.json", ""),
        TemplateFile.parse(JSON.parse(readFileSync(join(outdir, name), "utf8"))),
      ]),
    );
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

/** The type of each resource by its logical id, and the outputs by theirs. */
function idsOf({ Resources, Outputs }: TemplateFile) {
  return { types: Object.entries(Resources).map(([id, { Type }]) => `${id} ${Type}`), outputs: Outputs };
}

test("the app of sluice init has the logical ids of the stack of cdk.json, so a deployment replaces nothing", () => {
  const other = prod.replace("prod", "test");
  const repository = "arn:aws:ecr:eu-west-1:123456789012:repository/apps";
  const emails = ["platform@example.com"];
  const context = { clusters: [prod, other].map((arn) => ({ arn, rights: "namespaces" })), repositories: [repository] };
  const root = idsOf(templateOf(new SluiceStack(checkedApp({ ...context, emails }), "Sluice")));
  const [[, template = { Resources: {} }] = []] = templatesOfInit({
    ...{ cluster: [prod, other], repository: [repository], email: emails },
  });
  const own = idsOf(template);
  expect(own.types.toSorted()).toEqual(root.types.toSorted());
  expect(own.outputs).toEqual(root.outputs);
});

test("the app of sluice init enters a cluster of another account by roles in a stack of that account", () => {
  const far = "arn:aws:eks:eu-west-1:210987654321:cluster/far";
  const templates = templatesOfInit({ cluster: [prod, far] });
  expect([...templates.keys()].toSorted()).toEqual(["Sluice", "SluiceRoles-eu-west-1-210987654321-far"]);
  const there = templates.get("SluiceRoles-eu-west-1-210987654321-far") ?? { Resources: {} };
  const roles = Object.values(resourcesOf(there, "AWS::IAM::Role")).map(({ Properties }) =>
    String(Properties["RoleName"]),
  );
  expect(roles.toSorted()).toEqual([
    expect.stringMatching(/^sluice-definitions-far-/),
    expect.stringMatching(/^sluice-reconcile-far-/),
  ]);
  const own = JSON.stringify(templates.get("Sluice"));
  expect(roles.filter((role) => !own.includes(`arn:aws:iam::210987654321:role/${role}`))).toEqual([]);
});
