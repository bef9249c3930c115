import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { expect, test } from "vitest";
import { z } from "zod";
import { AlertSpec } from "../../../lib/api/alert.ts";
import { AlertProviderSpec } from "../../../lib/api/alert-provider.ts";
import { CanarySpec } from "../../../lib/api/canary.ts";

const folder = join(import.meta.dirname, "../../../examples/podinfo-canary");
const documents = async (file: string): Promise<readonly unknown[]> =>
  loadAll(await readFile(join(folder, file), "utf8"));

const Named = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
const Canary = z.looseObject({ kind: z.literal("Canary"), spec: z.looseObject({ analysis: z.looseObject({}) }) });
const Patch = z.strictObject({
  spec: z.strictObject({ analysis: z.strictObject({ webhooks: z.array(z.unknown()) }) }),
});

const Shown = z.looseObject({ kind: z.string(), spec: z.unknown().optional() });
const specs = new Map<string, z.ZodType>([
  ["Alert", AlertSpec],
  ["AlertProvider", AlertProviderSpec],
  ["Canary", CanarySpec],
]);

/** The path of each field, so that one that the schema does not know, and drops, is noticed. */
function paths(value: unknown, at = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [at];
  return Object.entries(value).flatMap(([name, part]) => paths(part, `${at}.${name}`));
}

test.each([
  ["as it is", []],
  ["with the webhooks of the load tester", ["webhooks.yaml"]],
])("the Canary of the example is one that the API server takes, %s", async (_how, patches) => {
  const [{ spec }] = z.tuple([Canary]).parse(await documents("canary.yaml"));
  const [patch] = (await Promise.all(patches.map(documents))).flat().map((each) => Patch.parse(each));
  const patched = { ...spec, analysis: { ...spec.analysis, ...patch?.spec.analysis } };
  const read = CanarySpec.parse(patched);
  expect(paths(patched).filter((path) => !paths(read).includes(path))).toEqual([]);
});

test("objects on the page about webhooks are such as the API server takes", async () => {
  const page = await readFile(join(folder, "../../docs/canary-webhooks.md"), "utf8");
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => text);
  const shown = blocks.flatMap((text) => loadAll(text)).map((each) => Shown.parse(each));
  const checked = shown.flatMap(({ kind, spec }) => {
    const schema = specs.get(kind);
    if (schema === undefined) return [];
    const read = paths(schema.parse(spec));
    return [{ kind, unknown: paths(spec).filter((path) => !read.includes(path)) }];
  });
  expect(checked).toEqual(["Canary", "AlertProvider", "Alert"].map((kind) => ({ kind, unknown: [] })));
});

test("the example's Service has a name that its Canary does not use, and its webhooks name the load tester's", async () => {
  const named = async (file: string): Promise<readonly string[]> =>
    (await documents(file)).map((each) => Named.parse(each)).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  expect(await named("podinfo.yaml")).toEqual(["Deployment/podinfo", "Service/podinfo-different-name"]);
  expect(await named("load-tester.yaml")).toEqual(["Deployment/flagger-loadtester", "Service/flagger-loadtester"]);
  const patch = await readFile(join(folder, "webhooks.yaml"), "utf8");
  expect([...patch.matchAll(/url: http:\/\/([^/]+)\//g)].map(([, host]) => host)).toEqual(
    Array.from({ length: 3 }, () => "flagger-loadtester.default"),
  );
});
