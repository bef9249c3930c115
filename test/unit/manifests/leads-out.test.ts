import { expect, test } from "vitest";
import { buildFiles, configMap, type Files } from "./build-files.ts";

/** Whole roll-outs that try to escape are in test/e2e/escape. Here is what their authors are told. */
const deploy: Files = {
  "app/a.yaml": configMap("a"),
  "base/kustomization.yaml": "resources: [b.yaml]\n",
  "base/b.yaml": configMap("b"),
};

function kustomization(text: string): Files {
  return { ...deploy, "app/kustomization.yaml": text };
}

const remote = "remote bases are not supported: put a copy into the artifact";

test.each([
  { text: "resources: ['https://example.test/base']", says: `'https://example.test/base': ${remote}` },
  { text: "resources: ['HTTPS://example.test/base']", says: `'https://example.test/base': ${remote}` },
  { text: "resources: ['git@example.test:o/r']", says: remote },
  { text: "resources: ['github.com/o/r//d?ref=v1']", says: remote },
  { text: "resources: ['git::https://example.test/o/r.git']", says: remote },
  { text: "components: ['https://example.test/o/r.git']", says: "accumulating components: " },
  // kustomize itself takes this for the name of a folder.
  { text: "resources: ['oci://example.test/o/r']", says: "not a valid directory" },
])("a remote base is refused, and the message says what to do instead (47): $text", async ({ text, says }) => {
  await expect(buildFiles(kustomization(text), { path: "app" })).rejects.toMatchObject({
    reason: "BuildFailed",
    message: expect.stringMatching(/^kustomize build failed: /),
  });
  await expect(buildFiles(kustomization(text), { path: "app" })).rejects.toThrow(says);
});

/** After a key, what stands there is not shown unless it ends as files do: it may be a literal, and a secret. */
const hidden = "*****";

test.each([
  { text: "resources: [/etc/passwd]", path: "/etc/passwd" },
  { text: "bases: [/etc]", path: "/etc" },
  { text: "resources: [../../x]", path: "../../x" },
  { text: "resources: ['../../../../../../proc/self/environ']", path: "proc/self/environ" },
  { text: "configMapGenerator: [{name: x, files: [k=/etc/passwd]}]", path: hidden },
  { text: "configMapGenerator: [{name: x, envs: [/proc/self/environ]}]", path: "/proc/self/environ" },
  { text: "secretGenerator: [{name: x, env: /proc/self/environ}]", path: "/proc/self/environ" },
  { text: "crds: [/x]", path: "/x" },
  { text: "configurations: [/x]", path: "/x" },
  { text: "openapi: {path: /x}", path: "/x" },
  { text: "patches: [{path: /x}]", path: "/x" },
  { text: "patches: [{path: ../../x}]", path: "../../x" },
])("a path out of the artifact is refused by name (48): $text", async ({ text, path }) => {
  const said = await buildFiles(kustomization(text), { path: "app" }).catch((error: Error) => error.message);
  expect(said).toMatch(/^kustomize build failed: /);
  expect(said).toContain("fs-security-constraint ");
  expect(said).toContain(path);
  expect(said).toContain("; a build reads no files outside of the artifact: put a copy into it");
});

const noHelm = "Sluice runs no Helm in a build: use a HelmRelease, or render the chart in CI and commit the manifests";

test.each([
  { text: "helmCharts: [{name: x}]", says: `must specify --enable-helm; ${noHelm}` },
  { text: "helmChartInflationGenerator: [{chartName: x}]", says: `must specify --enable-helm; ${noHelm}` },
  {
    text: "generators: ['{apiVersion: v1, kind: X, metadata: {name: x, annotations: {config.kubernetes.io/function: \"exec: {path: ./x}\"}}}']",
    says: "; Sluice runs no plugins in a build: run them in CI and commit the manifests that they make",
  },
])("charts and programs are refused in a build, with what to do instead (49): $text", async ({ text, says }) => {
  await expect(buildFiles(kustomization(text), { path: "app" })).rejects.toThrow(says);
});

test("files of sibling folders in the artifact may be used", async () => {
  const files = kustomization(
    "resources: [../base, a.yaml]\nconfigMapGenerator: [{name: c, files: [../base/b.yaml]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n",
  );
  const { manifests } = await buildFiles(files, { path: "app" });
  expect(manifests.map(({ metadata }) => metadata.name)).toEqual(["b", "a", "c"]);
});

test("variables without a value in an env file are not read from the environment", async () => {
  process.env["SLUICE_CANARY"] = "canary-in-the-mine";
  try {
    const env = kustomization(
      "configMapGenerator: [{name: leak, envs: [names.env]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n",
    );
    const files = { ...env, "app/names.env": "SLUICE_CANARY\nPATH\nHOME\n" };
    const { manifests } = await buildFiles(files, { path: "app" });
    expect(manifests[0]?.["data"]).toEqual({ SLUICE_CANARY: "", PATH: "", HOME: "" });
  } finally {
    delete process.env["SLUICE_CANARY"];
  }
});

test("a schema of one build does not affect the next", async () => {
  const schema = JSON.stringify({
    definitions: {
      "v1.Odd": {
        type: "object",
        properties: {
          parts: {
            type: "array",
            "x-kubernetes-patch-merge-key": "name",
            "x-kubernetes-patch-strategy": "merge",
            items: { type: "object" },
          },
        },
        "x-kubernetes-group-version-kind": [{ group: "example.test", kind: "Odd", version: "v1" }],
      },
    },
  });
  const odd = "apiVersion: example.test/v1\nkind: Odd\nmetadata:\n  name: odd\n";
  const files = (openapi: string): Files => ({
    "kustomization.yaml": `${openapi}resources: [odd.yaml]\npatches: [{path: patch.yaml}]\n`,
    "odd.yaml": `${odd}parts:\n- {name: one}\n`,
    "patch.yaml": `${odd}parts:\n- {name: two}\n`,
    "schema.json": schema,
  });
  const partsOf = async (openapi: string) => (await buildFiles(files(openapi))).manifests[0]?.["parts"];
  const plain = await partsOf("");
  expect(await partsOf("openapi: {path: schema.json}\n")).toEqual([{ name: "two" }, { name: "one" }]);
  expect(await partsOf("")).toEqual(plain);
  expect(plain).toEqual([{ name: "two" }]);
});
