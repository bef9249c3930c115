import { expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { substituteObjects } from "../../../../lib/manifests/build/substitute-objects.ts";
import type { PostBuild } from "../../../../lib/manifests/build-spec.ts";
import { goYamlText } from "../../../../lib/manifests/go-yaml/emit.ts";

const { signal } = new AbortController();
const configMap = (data: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...metadata },
  data,
});

function substitute(
  objects: readonly JsonObject[],
  variables: Readonly<Record<string, string>>,
  {
    files = {},
    folder = "",
    maxSteps,
    ...more
  }: Partial<PostBuild> & {
    readonly files?: Readonly<Record<string, string>>;
    readonly folder?: string;
    readonly maxSteps?: number;
  } = {},
) {
  const tree = { folder, files: new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)])) };
  const output = { objects, text: objects.map((object) => goYamlText(object)).join("---\n") };
  const postBuild = {
    variables: new Map(Object.entries(variables)),
    secrets: [],
    always: false,
    strict: true,
    ...more,
  };
  return substituteObjects(output, postBuild, tree, signal, maxSteps);
}

test("substituted values are parsed as YAML again, so quotes decide their type (60)", async () => {
  const objects = [configMap({ bare: "${n}", quoted: "${q}${n}${q}", tagged: "!!str ${n}", list: "[${n}, ${word}]" })];
  const { objects: done, text } = await substitute(objects, { n: "123", q: '"', word: "x" });
  expect(done).toEqual([configMap({ bare: 123, quoted: "123", tagged: "!!str 123", list: "[123, x]" })]);
  expect(text).toContain('  quoted: "123"\n');
});

test("a value that is not UTF-8 fails only the objects that use it, not those with an escaped name", async () => {
  const notText = new Set(["bin"]);
  const escaped = configMap({ a: "$${bin} of ${v}" });
  const { objects } = await substitute([escaped], { v: "x", bin: "\ufffd" }, { notText });
  expect(objects).toEqual([configMap({ a: "${bin} of x" })]);
  await expect(substitute([configMap({ a: "${v:-${bin}}" })], { bin: "\ufffd" }, { notText })).rejects.toThrow(
    "envsubst error: YAMLToJSON: yaml: invalid leading UTF-8 octet",
  );
});

test("every document is printed as by kustomize, and those without a dollar stay unchanged", async () => {
  const objects = [configMap({ a: "${v}" }), configMap({ a: "1" }, { name: "b" })];
  const { text } = await substitute(objects, { v: "yes" });
  expect(text).toBe(
    ["apiVersion: v1", "data:", "  a: true", "kind: ConfigMap", "metadata:", "  name: a", "---"].join("\n") +
      ["", "apiVersion: v1", "data:", '  a: "1"', "kind: ConfigMap", "metadata:", "  name: b", ""].join("\n"),
  );
});

test.each(["labels", "annotations"])(
  "an object whose %s opt out is unchanged, but only with exactly these words (58)",
  async (where) => {
    const out = configMap({ a: "${v}" }, { [where]: { "kustomize.toolkit.fluxcd.io/substitute": "disabled" } });
    const not = configMap(
      { a: "${v}" },
      { name: "b", [where]: { "kustomize.toolkit.fluxcd.io/substitute": "Disabled" } },
    );
    const { objects } = await substitute([out, not], { v: "x" });
    expect(objects).toEqual([out, { ...not, data: { a: "x" } }]);
  },
);

test("custom resource definitions are not substituted", async () => {
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "${v}" },
  };
  expect((await substitute([definition], { v: "x" })).objects).toEqual([definition]);
});

test("without variables nothing is changed, unless the strategy is Always (52, 53)", async () => {
  const objects = [configMap({ a: "${v:=blue} $$" })];
  expect((await substitute(objects, {})).objects).toEqual(objects);
  expect((await substitute(objects, {}, { always: true })).objects).toEqual([configMap({ a: "blue $" })]);
});

test("an invalid variable name is refused, even if nothing uses it (59)", async () => {
  await expect(substitute([configMap({ a: "1" })], { "my-var": "x" })).rejects.toMatchObject({
    reason: "BuildFailed",
    message:
      "post build failed for 'ConfigMap.v1.[noGrp]/a': envsubst error: 'my-var' var name is invalid, must match '^[_[:alpha:]][_[:alpha:][:digit:]]*$'",
  });
});

test("an invalid expression is reported with its object, its file and its line (57)", async () => {
  const files = { "deploy/b.yaml": "kind: Deployment\ndata:\n  a: ${a.b} and more\nmetadata:\n  name: a # the web\n" };
  const deployment = { ...configMap({ a: "${a.b} and more" }), apiVersion: "apps/v1", kind: "Deployment" };
  await expect(substitute([deployment], { v: "x" }, { files })).rejects.toMatchObject({
    reason: "BuildFailed",
    message:
      "post build failed for 'Deployment.v1.apps/a': envsubst error: variable substitution failed: missing closing brace: ${a.b} in deploy/b.yaml, line 3",
  });
});

const inDocument = (name: string, before = "") =>
  `${before}kind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  a: \${a.b}\n`;

test.each<{ what: string; files: Readonly<Record<string, string>>; place: string }>([
  {
    what: "not that of another folder, or of a comment",
    files: { "dev/a.yaml": inDocument("a"), "prod/a.yaml": inDocument("a", "# ${a.b}\n") },
    place: " in prod/a.yaml, line 6",
  },
  {
    what: "not that of another object",
    files: { "prod/a.yaml": `${inDocument("aa")}---\n${inDocument("a")}`, "prod/b.yaml": inDocument("b") },
    place: " in prod/a.yaml, line 11",
  },
  {
    what: "that of a base",
    files: { "base/a.json": '{"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "${a.b}"}}\n' },
    place: " in base/a.json, line 1",
  },
  {
    what: "not that of a folder or an object whose name has the same prefix",
    files: {
      "prod-old/a.yaml": inDocument("a"),
      "prod.yaml": inDocument("a"),
      "prod/b.yaml": inDocument("a-b"),
      "prod/c.yaml": inDocument("ab"),
      "prod/d.yaml": `\n${inDocument("a")}`,
    },
    place: " in prod/d.yaml, line 6",
  },
  {
    what: "unknown for two matching bases",
    files: { "base/a.yaml": inDocument("a"), "dev/a.yaml": inDocument("a") },
    place: "",
  },
  {
    what: "unknown for two matching patches",
    files: { "prod/a.yaml": inDocument("a"), "prod/p.yaml": inDocument("a") },
    place: "",
  },
])("the place of an invalid expression is $what", async ({ files, place }) => {
  const object = configMap({ a: "${a.b}" });
  await expect(substitute([object], { v: "x" }, { files, folder: "prod" })).rejects.toMatchObject({
    message: expect.stringMatching(new RegExp(`missing closing brace: \\$\\{a\\.b\\}${place}$`)),
  });
});

test("the place in a file is not searched for an object whose name has spaces", async () => {
  const files = { "a.yaml": inDocument('" "'), "b.yaml": inDocument('"a b"') };
  for (const name of [" ", "a b"]) {
    await expect(substitute([configMap({ a: "${a.b}" }, { name })], { v: "x" }, { files })).rejects.toMatchObject({
      message: expect.stringMatching(/missing closing brace: \$\{a\.b\}$/),
    });
  }
});

test("no value of a Secret is quoted", async () => {
  const secret = { ...configMap({}), kind: "Secret", stringData: { a: "${hunter2.x}" } };
  await expect(substitute([secret], { v: "x" })).rejects.toMatchObject({
    message:
      "post build failed for 'Secret.v1.[noGrp]/a': envsubst error: variable substitution failed: missing closing brace",
  });
});

test.each([
  ["an alias", "*a"],
  ["a tag that makes something", "!!js/function x"],
  ["an unfinished list", "["],
])("a value that is %s breaks the object and nothing else", async (_, v) => {
  await expect(substitute([configMap({ a: "${v}" })], { v })).rejects.toMatchObject({
    reason: "BuildFailed",
    message: expect.stringContaining("post build failed for 'ConfigMap.v1.[noGrp]/a': envsubst error: YAMLToJSON: "),
  });
});

test("a value that breaks the object is reported by its variable, with Flux's text around it", async () => {
  await expect(substitute([configMap({ a: "${left}x ${n}" })], { left: "[", n: "1" })).rejects.toMatchObject({
    message: expect.stringMatching(
      /^post build failed for 'ConfigMap\.v1\.\[noGrp\]\/a': envsubst error: YAMLToJSON: the object with the values of left, n cannot be read: /,
    ),
  });
});

test("an object that becomes another one is refused with Flux's text, in any order", async () => {
  const [a, b, c] = [configMap({}, { name: "${v}" }), configMap({}, { name: "b" }), configMap({}, { name: "${w}" })];
  const refusal = { reason: "BuildFailed", message: "in Replace: id matched 2 resources" };
  await expect(substitute([a, b], { v: "b" })).rejects.toMatchObject(refusal);
  await expect(substitute([b, a], { v: "b" })).rejects.toMatchObject(refusal);
  await expect(substitute([a, c], { v: "x", w: "x" })).rejects.toMatchObject(refusal);
  const { objects } = await substitute([a, b], { v: "c" });
  expect(objects.map(({ metadata }) => metadata)).toEqual([{ name: "c" }, { name: "b" }]);
});

test("an unset variable is empty if the build is not strict (54)", async () => {
  const object = configMap({ a: "x${missing}", length: "${#missing}", upper: "${missing^^}." });
  const { objects } = await substitute([object], { other: "x" }, { strict: false });
  expect(objects).toEqual([configMap({ a: "x", length: 0, upper: "." })]);
});

test("an error while reading the variables fails the first object that needs them", async () => {
  const out = configMap({}, { name: "out", labels: { "kustomize.toolkit.fluxcd.io/substitute": "disabled" } });
  const fault = `substitute from 'ConfigMap/vars' error: configmaps "vars" not found`;
  await expect(substitute([out, configMap({})], {}, { fault })).rejects.toMatchObject({
    reason: "BuildFailed",
    message: `post build failed for 'ConfigMap.v1.[noGrp]/a': ${fault}`,
  });
  expect((await substitute([out], {}, { fault })).objects).toEqual([out]);
});

test("the place of an invalid expression is not confused with an object whose name differs only in its dots", async () => {
  const files = { "a.yaml": inDocument("axb"), "b.yaml": inDocument("a.b"), "c.yaml": inDocument("a-b") };
  await expect(substitute([configMap({ a: "${a.b}" }, { name: "a.b" })], { v: "x" }, { files })).rejects.toMatchObject({
    message: expect.stringMatching(/ in b\.yaml, line 5$/),
  });
});

test("an object whose expressions take many steps is still substituted", async () => {
  const v = `é${"a".repeat(999)}`;
  const objects = [configMap({ a: "${v##*[?]b*}${v##*[a]*}".repeat(20) })];
  const { objects: done } = await substitute(objects, { v });
  expect(done).toEqual([configMap({ a: v.repeat(20) })]);
});

test("the objects of a build share its steps: those that need more in total are refused", async () => {
  const variables = { v: "a".repeat(1_000) };
  const object = (index: number): JsonObject => configMap({ a: "${v//b/}".repeat(10) }, { name: `a${index}` });
  const some = Array.from({ length: 3 }, (_, index) => object(index));
  // Each reads the value ten times, and writes it as often.
  const maxSteps = 50_000;
  await expect(substitute(some.slice(0, 2), variables, { maxSteps })).resolves.toBeDefined();
  await expect(substitute(some, variables, { maxSteps })).rejects.toThrow(
    "post build failed for 'ConfigMap.v1.[noGrp]/a2': envsubst error: the build needs more than 50000 steps of substitution",
  );
});
