import { readFileSync } from "node:fs";
import { join } from "node:path";
import { App, type Stack, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { z } from "zod";

export const prod = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
export const env = { account: "123456789012", region: "eu-west-1" };

const Resource = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
});
export const TemplateFile = z.looseObject({ Resources: z.record(z.string(), Resource) });
export type TemplateFile = z.infer<typeof TemplateFile>;
export type Resource = z.infer<typeof Resource>;

const context = z
  .looseObject({ context: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, "../../cdk.json"), "utf8"))).context;

/** An app with the feature flags of ours, and whose synthesis fails at what cdk-nag or CloudFormation's own checks find. */
export function checkedApp(values: Readonly<Record<string, unknown>> = {}): App {
  const app = new App({ analyticsReporting: false, context: { ...context, ...values } });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}

/**
 * An app for a test that reads its template. CloudFormation's own checks, a quarter of such a test's time, are left out: without the
 * feature flags of {@link checkedApp} they only warn.
 */
export function uncheckedApp(context: Readonly<Record<string, string>> = {}): App {
  return new App({ analyticsReporting: false, builtinCloudFormationValidation: false, context });
}

/** The template as it is uploaded; the file of the template, since the CDK's own assertions leave out metadata. */
export function templateOf(stack: Stack): TemplateFile {
  const assembly = stack.node.root;
  if (!App.isApp(assembly)) throw new Error(`${stack.node.path} is in no app`);
  const { templateFullPath } = assembly.synth().getStackByName(stack.stackName);
  return TemplateFile.parse(JSON.parse(readFileSync(templateFullPath, "utf8")));
}

/** The resources of a type by logical id. */
export function resourcesOf({ Resources }: TemplateFile, type: string): Readonly<Record<string, Resource>> {
  return Object.fromEntries(Object.entries(Resources).filter(([, { Type }]) => Type === type));
}

/** A template without what changes with every line of the functions' code: digests of assets, and the versions named by them. */
export function withoutCode(template: TemplateFile): unknown {
  const text = JSON.stringify(template, undefined, 2)
    .replaceAll(/\b[0-9a-f]{64}\.(zip|json|sluice-[0-9a-f]{8})\b/g, "<digest>.$1")
    .replaceAll(/"code": "[0-9a-f]{32}"/g, '"code": "<digest>"')
    .replaceAll(/sha256:[0-9a-f]{64}/g, "sha256:<digest>")
    .replaceAll(/(CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g, "$1<digest>");
  return JSON.parse(text);
}
