import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { expect, test } from "vitest";
import { z } from "zod";
import { readSettings } from "../../../functions/settings/read-settings.ts";
import { AlertSpec } from "../../../lib/api/alert.ts";
import { AlertProviderSpec } from "../../../lib/api/alert-provider.ts";
import { CanarySpec, MetricTemplateSpec } from "../../../lib/api/canary.ts";

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
  ["MetricTemplate", MetricTemplateSpec],
]);

/** The path of each field, so that one that the schema does not know, and drops, is noticed. */
function paths(value: unknown, at = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [at];
  return Object.entries(value).flatMap(([name, part]) => paths(part, `${at}.${name}`));
}

test.each([
  ["as it is", []],
  ["with the webhooks of the load tester", ["webhooks.yaml"]],
])("the Canary of the example is accepted by the API server, %s", async (_how, patches) => {
  const [{ spec }] = z.tuple([Canary]).parse(await documents("canary.yaml"));
  const [patch] = (await Promise.all(patches.map(documents))).flat().map((each) => Patch.parse(each));
  const patched = { ...spec, analysis: { ...spec.analysis, ...patch?.spec.analysis } };
  const read = CanarySpec.parse(patched);
  expect(paths(patched).filter((path) => !paths(read).includes(path))).toEqual([]);
});

const docs = join(import.meta.dirname, "../../../docs");
const pages = (await readdir(docs)).filter((name) => /^canar.*\.md$/.test(name));

test.each(pages)("objects in docs/%s have only fields of their kind", async (page) => {
  const text = await readFile(join(docs, page), "utf8");
  const blocks = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  const shown = blocks.flatMap((block) => loadAll(block)).flatMap((each) => Shown.safeParse(each).data ?? []);
  expect(shown.flatMap(({ kind, spec }) => unknownPaths(kind, spec))).toEqual([]);
});

test("the page of examples has six Canaries and a MetricTemplate", async () => {
  const text = await readFile(join(docs, "canary-examples.md"), "utf8");
  expect(text.match(/^kind: (?:Canary|MetricTemplate)$/gm)).toHaveLength(7);
});

/** Fields that the schema of the kind does not know, and drops. Throws for an invalid one. */
function unknownPaths(kind: string, spec: unknown): readonly string[] {
  const schema = specs.get(kind);
  if (schema === undefined) return [];
  const read = paths(schema.parse(spec));
  return paths(spec).flatMap((path) => (read.includes(path) ? [] : [`${kind}${path}`]));
}

test("the settings on the page of examples are valid", async () => {
  const text = await readFile(join(docs, "canary-examples.md"), "utf8");
  const [, block = ""] = /^```yaml\n(mesh-provider.*?)^```$/ms.exec(text) ?? [];
  expect(block).not.toBe("");
  expect(readSettings(block)).not.toHaveProperty("faults");
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
