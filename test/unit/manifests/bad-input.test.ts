import { describe, expect, test } from "vitest";
import { buildFiles, configMap, type Files, noEngine } from "./build-files.ts";

async function failureOf(files: Files, engine = undefined as Parameters<typeof buildFiles>[2]): Promise<string> {
  return buildFiles(files, {}, engine).then(
    ({ digest }) => `built ${digest}`,
    (error: Error) => `${"reason" in error ? String(error.reason) : error.name}: ${error.message}`,
  );
}

const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

describe("bad input is refused with one clear message", () => {
  const decode = "BuildFailed: failed to decode Kubernetes YAML from a.yaml: ";
  const twice = "BuildFailed: kustomize build failed: map[string]interface {}(nil): yaml: unmarshal errors:\n  ";
  test.each([
    {
      name: "YAML that does not parse",
      text: `${head}data: [`,
      message: `${decode}MalformedYAMLError: yaml: line 5: did not find expected node content`,
    },
    {
      name: "a tab for indentation",
      text: `${head}data:\n\ta: b\n`,
      message: `${decode}MalformedYAMLError: yaml: line 6: found character that cannot start any token`,
    },
    {
      name: "a key twice",
      text: `${head}data:\n  x: y\n  x: z\n`,
      message: `${twice}line 7: mapping key "x" already defined at line 6`,
    },
    {
      name: "a key twice in a later document",
      text: `${configMap("b")}---\n${head}data:\n  x: y\nkind: z\n`,
      message: `${twice}line 7: mapping key "kind" already defined at line 2`,
    },
    {
      name: "an object without kind",
      text: "metadata:\n  name: a\n",
      message: `${decode}missing kind in object {{ } {{a } map[] map[]}}`,
    },
    {
      name: "an object without name",
      text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n",
      message: `${decode}missing metadata.name in object {{v1 ConfigMap} {{ } map[] map[]}}`,
    },
    {
      name: "a file that is not an object",
      text: "stages: [build, test]\n",
      message: `${decode}missing Resource metadata`,
    },
    {
      name: "a Secret with an annotation and without apiVersion: no value of any object is shown",
      text: "kind: Secrets\nmetadata:\n  name: a\n  annotations:\n    last: hunter2\nitems:\n- kind: X\n  spec: {a: [hunter2]}\n",
      message:
        'BuildFailed: failed to decode Kubernetes apiVersion, kind and name from: {"items":[{"kind":"X","spec":{"a":"*****"}}],"kind":"Secrets","metadata":{"annotations":{"last":"*****"},"name":"a"}}',
    },
    {
      name: "bytes that are not UTF-8",
      text: Buffer.concat([Buffer.from(`${head}data:\n  x: "`), Buffer.from([0xff, 0x22])]),
      message: `${decode}MalformedYAMLError: yaml: invalid leading UTF-8 octet`,
    },
    {
      name: "a separator with something after it",
      text: `${configMap("b")}--- x\n${head}`,
      message: `${decode}invalid document separator: *****`,
    },
    {
      name: "5,000 levels of nesting",
      text: `${head}data: ${"[".repeat(5_000)}${"]".repeat(5_000)}\n`,
      message: `${decode}yaml: line 5: nested deeper than 100 levels`,
    },
    {
      name: "4,000 levels of indentation",
      text: `${head}data:\n${Array.from({ length: 4_000 }, (_, level) => `${" ".repeat(level + 1)}a:`).join("\n")}\n`,
      message: `${decode}yaml: line 104: nested deeper than 100 levels`,
    },
    {
      name: "an alias bomb of nine levels",
      text: `${head}data:\n${bomb()}`,
      message: `${decode}yaml: line 12: its aliases expand to more than 16777216 bytes`,
    },
    {
      name: "the same object twice",
      text: `${head}---\n${head}`,
      message:
        "BuildFailed: kustomize build failed: accumulating resources: accumulation err='accumulating resources from './a.yaml': may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.[noNs]': must build at directory: 'a.yaml': file is not directory",
    },
    {
      name: "a name that is a number: Flux would leave the object out, and prune it",
      text: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 5\n",
      message:
        'BuildFailed: failed to decode Kubernetes apiVersion, kind and name from: {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"*****"}}',
    },
    {
      name: "a kind that is a number",
      text: "apiVersion: v1\nkind: 5\nmetadata:\n  name: a\ndata:\n  pin: hunter2\n",
      message:
        'BuildFailed: error unmarshaling JSON: while decoding JSON: Object \'Kind\' is missing in \'{"apiVersion":"v1","data":{"pin":"*****"},"kind":5,"metadata":{"name":"a"}}\'',
    },
    {
      name: "an object without apiVersion",
      text: "kind: ConfigMap\nmetadata:\n  name: a\n",
      message:
        'BuildFailed: failed to decode Kubernetes apiVersion, kind and name from: {"kind":"ConfigMap","metadata":{"name":"a"}}',
    },
    {
      name: "a Secret without apiVersion, whose values are not shown",
      text: "kind: Secret\nmetadata:\n  name: a\ndata:\n  pin: aHVudGVyMg==\nstringData:\n  word: hunter2\n",
      message:
        'BuildFailed: failed to decode Kubernetes apiVersion, kind and name from: {"data":{"pin":"*****"},"kind":"Secret","metadata":{"name":"a"},"stringData":{"word":"*****"}}',
    },
  ])("$name", async ({ text, message }) => {
    expect(await failureOf({ "a.yaml": text, "b.yaml": configMap("other") })).toBe(message);
  });

  function bomb(): string {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `  a${level + 1}: &a${level + 1} [${Array.from({ length: 10 }, () => `*a${level}`).join(", ")}]`,
    );
    return ["  a0: &a0 x", ...levels, ""].join("\n");
  }

  test("a stray CI file fails the build, and is named (37)", async () => {
    const message = await failureOf({ ".ci/jobs.yml": "on: push\n", "a.yaml": configMap("a") });
    expect(message).toBe("BuildFailed: failed to decode Kubernetes YAML from .ci/jobs.yml: missing Resource metadata");
  });

  test.each([
    { path: "./y", says: "stat y: no such file or directory; the artifact has the folders x, z" },
    { path: "../../y", says: "stat y: no such file or directory; the artifact has the folders x, z" },
    {
      path: "z/prod/web",
      says: "stat z/prod/web: no such file or directory; the artifact has the folders z/dev, z/test",
    },
    { path: "x/y", says: "stat x/y: no such file or directory; the artifact has no folders in x" },
    { path: "x/a.yaml", says: "x/a.yaml: not a directory; it is a file, set spec.path to its folder ./x" },
    { path: "x/a.yaml/y", says: "stat x/a.yaml/y: not a directory; the artifact has no folders in x" },
  ])("a missing path is reported with Flux's text and the existing folders: $path (22, 23)", async (one) => {
    const files = { "x/a.yaml": configMap("a"), "z/dev/a.yaml": "", "z/test/a.yaml": "" };
    await expect(buildFiles(files, { path: one.path }, noEngine)).rejects.toMatchObject({
      reason: "ArtifactFailed",
      message: `kustomization path not found: ${one.says}`,
    });
  });
});

describe("unusual input that is valid", () => {
  test.each([
    {
      name: "200,000 entries",
      text: `${head}data:\n${Array.from({ length: 200_000 }, (_, index) => `  k${index}: v`).join("\n")}\n`,
    },
    { name: "Windows line ends", text: configMap("a").replaceAll("\n", "\r\n") },
    {
      name: "empty documents, comments and separators",
      text: `---\n---\n# nothing\n--- # still nothing\n${configMap("a")}---\n\n---\n`,
    },
    { name: "no line end at the end", text: configMap("a").trimEnd() },
    {
      name: "JSON in a .yaml file",
      text: '{"apiVersion": "v1", "kind": "ConfigMap",\n "metadata": {"name": "a"}, "data": {"a": "b"}}',
    },
    { name: "a byte order mark", text: `\ufeff${configMap("a")}` },
    { name: "aliases that stand for little", text: `${head}data:\n  a: &x b\n  b: *x\n` },
    {
      name: "a list of objects",
      text: `apiVersion: v1\nkind: List\nitems:\n- ${configMap("a").trimEnd().replaceAll("\n", "\n  ")}\n`,
    },
  ])("$name builds", async ({ text }) => {
    const { manifests } = await buildFiles({ "a.yaml": text });
    expect(manifests.map(({ metadata }) => metadata.name)).toEqual(["a"]);
  });

  test("an empty folder builds to nothing (39)", async () => {
    const { manifests, digest } = await buildFiles({ "README.md": "# nothing" }, {}, noEngine);
    expect(manifests).toEqual([]);
    expect(digest).toBe("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });
});

test.each([
  { name: "a large file", rows: 120_000, images: 0 },
  { name: "a small one in which a thousand images are looked for", rows: 2_000, images: 1_000 },
])("$name is parsed in a separate thread, while this one continues", async ({ rows, images }) => {
  const text = Array.from({ length: rows }, (_, index) => `  key-${index}: value`).join("\n");
  const spec = { images: Array.from({ length: images }, (_, index) => ({ name: `image-${index}`, newTag: "v1" })) };
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  try {
    await buildFiles({ "a.yaml": `${head}data:\n${text}\n` }, spec, noEngine);
  } finally {
    clearInterval(timer);
  }
  expect(ticks).toBeGreaterThan(5);
});
