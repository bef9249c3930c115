import { readFileSync } from "node:fs";
import { CfnParameter, Stack } from "aws-cdk-lib";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readGranted } from "../../functions/settings/granted.ts";
import { SluiceStack } from "../lib/app-stack.ts";
import { SluiceObservability } from "../lib/observability.ts";
import { Sluice } from "../lib/sluice.ts";
import { shapes } from "./shapes.ts";
import { checkedApp, env, prod, resourcesOf, type TemplateFile, templateOf } from "./synthesise.ts";

const repository = "arn:aws:ecr:eu-west-1:123456789012:repository/apps";

function dependenciesOf({ Resources }: TemplateFile, id: string): readonly string[] {
  const listed = Resources[id]?.["DependsOn"] ?? [];
  return z.union([z.array(z.string()), z.string().transform((one) => [one])]).parse(listed);
}

/** What CloudFormation has before it makes or updates a resource: what it depends on and refers to, and so on. */
function before(template: TemplateFile, id: string, seen = new Set<string>()): ReadonlySet<string> {
  const text = JSON.stringify(template.Resources[id]);
  const named = Object.keys(template.Resources).filter(
    (other) => other !== id && (text.includes(`"${other}"`) || text.includes(`\${${other}`)),
  );
  for (const other of named) {
    if (seen.has(other)) continue;
    seen.add(other);
    before(template, other, seen);
  }
  return seen;
}

function guardOf(template: TemplateFile) {
  const [found] = Object.entries(resourcesOf(template, "Custom::SluiceInstallation"));
  if (found === undefined) throw new Error("the template has no guard");
  const [id, { Properties: properties }] = found;
  return { id, properties };
}

describe.each(Object.entries(shapes))("the drop guard in the shape %s", (_, make) => {
  const template = templateOf(make().stack);
  const { id } = guardOf(template);

  test("is deployed before every resource whose update removes something, and depends on none of them", () => {
    const own = before(template, id);
    const kinds =
      /^(AWS::IAM::(Managed)?Policy|AWS::Lambda::Function|AWS::EKS::AccessEntry|AWS::DynamoDB::Table|AWS::S3::Bucket|Custom::(SluiceDefinitions|S3AutoDeleteObjects))$/;
    const waiting = Object.entries(template.Resources).filter(([each, { Type }]) => kinds.test(Type) && !own.has(each));
    expect(waiting.length).toBeGreaterThan(4);
    expect(waiting.filter(([each]) => !dependenciesOf(template, each).includes(id))).toEqual([]);
    expect([...own].filter((each) => !each.startsWith("SluiceDropGuard"))).toEqual([]);
  });
});

test("the drop guard compares all grants, whatever their order is", () => {
  const far = `${prod}-2`;
  const granted = (clusters: readonly object[]) => {
    const context = { clusters, repositories: repository, webhooks: true };
    const { properties } = guardOf(templateOf(new SluiceStack(checkedApp(context), "Sluice")));
    expect(properties["allowDrops"]).toBeUndefined();
    return z.string().parse(properties["granted"]);
  };
  const entries = [
    { arn: far, rights: "clusterAdmin" },
    { arn: prod, rights: "namespaces" },
  ];
  const text = granted(entries);
  expect(granted(entries.toReversed())).toBe(text);
  const pattern = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/apps";
  expect(readGranted(text)).toEqual({
    clusters: { [prod]: "namespaces", [far]: "clusterAdmin" },
    repositories: { [prod]: { "flux-system": [pattern] }, [far]: { "flux-system": [pattern] } },
    decryptionKeys: {},
    targets: {},
    webhooks: ["default"],
    admission: false,
    retained: true,
  });
});

test("the stack tells the drop guard whether table and bucket outlive it, and which alarms each email address gets", () => {
  const granted = (context: Readonly<Record<string, unknown>>) => {
    const { properties } = guardOf(templateOf(new SluiceStack(checkedApp({ clusters: "none", ...context }), "Sluice")));
    return readGranted(z.string().parse(properties["granted"]));
  };
  const emails = { emails: ["b@example.test", "a@example.test"], pageEmails: "pager@example.test" };
  const before = granted(emails);
  expect(before).toMatchObject({
    retained: true,
    alarmEmails: {
      page: ["a@example.test", "b@example.test", "pager@example.test"],
      ticket: ["a@example.test", "b@example.test"],
    },
  });
  expect(granted({ removalPolicy: "DESTROY" })).toMatchObject({ retained: false });
});

test("the drop guard compares no address that is known only while the stack is deployed", () => {
  const stack = new Stack(checkedApp(), "Sluice", { env });
  const sluice = new Sluice(stack, "Sluice");
  const { valueAsString } = new CfnParameter(stack, "Address");
  new SluiceObservability(stack, "Watch", { sluice, emails: [valueAsString, "a@example.test"] });
  const granted = readGranted(z.string().parse(guardOf(templateOf(stack)).properties["granted"]));
  expect(granted.alarmEmails).toEqual({ page: ["a@example.test"], ticket: ["a@example.test"] });
});

test("what empties the bucket is made after the drop guard, so that a refused deployment leaves the bucket alone", () => {
  const template = templateOf(new SluiceStack(checkedApp({ clusters: "none", removalPolicy: "DESTROY" }), "Sluice"));
  const { id } = guardOf(template);
  const [emptying] = Object.keys(resourcesOf(template, "Custom::S3AutoDeleteObjects"));
  expect(dependenciesOf(template, emptying ?? "")).toContain(id);
});

test("-c allowDrops=true allows one deployment to remove grants", () => {
  const template = templateOf(new SluiceStack(checkedApp({ clusters: "none", allowDrops: "true" }), "Sluice"));
  expect(guardOf(template).properties["allowDrops"]).toBe("true");
});

test("the functions of a Sluice may read only the documents of their own installation in the CDK's bucket", () => {
  const app = checkedApp();
  const stacks = ["One", "Other"].map((name) => {
    const stack = new Stack(app, name, { env });
    new Sluice(stack, "Sluice");
    return stack;
  });
  const assembly = app.synth();
  const ends = stacks.map(({ stackName }) => {
    const { template } = z
      .object({ template: z.unknown() })
      .parse({ template: JSON.parse(readFileSync(assembly.getStackByName(stackName).templateFullPath, "utf8")) });
    const text = JSON.stringify(template);
    const read = new Set([...text.matchAll(/cdk-hnb659fds-assets-[^"]*?\/(\*[^"]*)"/g)].map(([, end]) => end));
    const keys = new Set([...text.matchAll(/"SLUICE_INSTALLATION_KEY":"([^"]*)"/g)].map(([, key]) => key));
    const [end = ""] = read;
    const [key = ""] = keys;
    expect([read.size, keys.size]).toEqual([1, 1]);
    expect(end).toMatch(/^\*\.sluice-[0-9a-f]{8}$/);
    expect(key).toMatch(/^[0-9a-f]{64}\./);
    expect(key.slice(64)).toBe(end.slice(1));
    const files = readFileSync(`${assembly.directory}/${stackName}.assets.json`, "utf8");
    // The key under which the file is uploaded.
    expect(files).toContain(`"objectKey": "${key}"`);
    return end;
  });
  expect(new Set(ends).size).toBe(2);
});
