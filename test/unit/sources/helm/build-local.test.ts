import { describe, expect, test } from "vitest";
import { maxAliasedBytes } from "../../../../lib/manifests/alias-bomb.ts";
import { buildLocal, type ChartShape, findLocalChart } from "../../../../lib/sources/helm/build-local.ts";
import { appChart, below, type Files, packed, sourceTree, unpacked } from "./charts.ts";

const nothing = async () => [];
const plain: ChartShape = { valuesFiles: [], ignoreMissing: false, metadata: "" };

async function build(files: Files, path: string, shape: Partial<ChartShape>, signal: AbortSignal) {
  const tree = sourceTree(files);
  return buildLocal(tree, await findLocalChart(tree, path, signal), { ...plain, ...shape }, nothing, signal);
}

describe("a chart in the artifact of a source", () => {
  test("a folder is packed: metadata, values, templates and all other files, in Helm's order", async ({ signal }) => {
    const files = below("charts/app", { ...appChart, "README.md": "read me", "crds/a.yaml": "kind: A\n" });
    const { bytes, isPackaged } = await build(files, "./charts/app", {}, signal);
    expect(isPackaged).toBe(true);
    expect(Object.entries(await unpacked(bytes, signal))).toEqual([
      ["Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"],
      ["values.yaml", "color: blue\nreplicas: 1\n"],
      ["templates/configmap.yaml", "data: {{ .Values.color | quote }}\n"],
      ["README.md", "read me"],
      ["crds/a.yaml", "kind: A\n"],
    ]);
  });

  test("the same folder gives the same bytes", async ({ signal }) => {
    const files = below("app", appChart);
    const [one, other] = [await build(files, "app", {}, signal), await build(files, "app", {}, signal)];
    expect(Buffer.from(one.bytes).equals(other.bytes)).toBe(true);
  });

  test("a packed chart is copied unchanged", async ({ signal }) => {
    const archive = await packed(appChart);
    const { bytes, isPackaged } = await build({ "dist/app.tgz": archive }, "dist/app.tgz", {}, signal);
    expect({ isPackaged, isSame: Buffer.from(archive).equals(bytes) }).toEqual({ isPackaged: false, isSame: true });
  });

  test("a packed chart is packed again if its version gets metadata", async ({ signal }) => {
    const files = { "dist/app.tgz": await packed(appChart) };
    const { bytes } = await build(files, "dist/app.tgz", { metadata: "abc.1" }, signal);
    expect((await unpacked(bytes, signal))["Chart.yaml"]).toContain("version: 1.0.0+abc.1\n");
  });

  test("build metadata of the chart's version is replaced", async ({ signal }) => {
    const files = below("app", { ...appChart, "Chart.yaml": "apiVersion: v2\nname: app\nversion: v1.2+old\n" });
    const { bytes } = await build(files, "app", { metadata: "new" }, signal);
    expect((await unpacked(bytes, signal))["Chart.yaml"]).toContain("version: 1.2.0+new\n");
  });

  test("values files are paths from the root of the source and are merged into values.yaml", async ({ signal }) => {
    const files = { ...below("charts/app", appChart), "env/prod.yaml": "replicas: 3\n" };
    const valuesFiles = ["charts/app/values.yaml", "env/prod.yaml"];
    const built = await build(files, "charts/app", { valuesFiles }, signal);
    expect(built.valuesFiles).toEqual(valuesFiles);
    expect((await unpacked(built.bytes, signal))["values.yaml"]).toBe("color: blue\nreplicas: 3\n");
  });

  test("values files that result in the chart's own values are not reported", async ({ signal }) => {
    const valuesFiles = ["charts/app/values.yaml", "env/missing.yaml"];
    const built = await build(
      below("charts/app", appChart),
      "charts/app",
      { valuesFiles, ignoreMissing: true },
      signal,
    );
    expect(built.valuesFiles).toEqual([]);
  });

  test.for([
    [
      "a missing values file",
      { valuesFiles: ["env/missing.yaml"] },
      "values files merge error: no values file found at path '/env/missing.yaml' (reference 'env/missing.yaml'); the artifact has the YAML files bad.yaml, bomb.yaml, list.yaml",
    ],
    [
      "a values file that is a list",
      { valuesFiles: ["list.yaml"] },
      "values files merge error: unmarshaling values from 'list.yaml' failed: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}",
    ],
    [
      "a values file that is not YAML",
      { valuesFiles: ["bad.yaml"] },
      "values files merge error: unmarshaling values from 'bad.yaml' failed: error converting YAML to JSON: yaml: line 1: did not find expected node content",
    ],
    [
      "a values file whose aliases expand beyond the limit",
      { valuesFiles: ["bomb.yaml"] },
      `values files merge error: unmarshaling values from 'bomb.yaml' failed: error converting YAML to JSON: yaml: line 18: its aliases expand to more than ${maxAliasedBytes} bytes`,
    ],
  ] as const)("%s stops the build", async ([, shape, message], { signal }) => {
    const doubled = Array.from({ length: 20 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]\n`);
    const bomb = `a0: &a0 [x]\n${doubled.join("")}`;
    const files = { ...below("app", appChart), "list.yaml": "- a\n", "bad.yaml": "a: [\n", "bomb.yaml": bomb };
    await expect(build(files, "app", shape, signal)).rejects.toMatchObject({
      reason: "ValuesFilesError",
      retry: "never",
      message: expect.stringContaining(message),
    });
  });

  test("a chart without values.yaml cannot have values files", async ({ signal }) => {
    const { "values.yaml": _values, ...bare } = appChart;
    const files = { ...below("app", bare), "env.yaml": "a: 1\n" };
    await expect(build(files, "app", { valuesFiles: ["env.yaml"] }, signal)).rejects.toThrow(
      "values files merge error: failed to locate values file: values.yaml",
    );
  });

  test(".helmignore excludes files, and so does Helm for hidden templates", async ({ signal }) => {
    const ignore = "# notes\n*.md\n/docs/\n";
    const more = { ".helmignore": ignore, "README.md": "", "docs/a.txt": "", "sub/docs/b.txt": "", "templates/.x": "" };
    const { bytes } = await build(below("app", { ...appChart, ...more }), "app", {}, signal);
    const names = Object.keys(await unpacked(bytes, signal));
    expect(names).toEqual(["Chart.yaml", "values.yaml", "templates/configmap.yaml", ".helmignore", "sub/docs/b.txt"]);
  });

  test("the name of a chart may differ from its folder: its metadata counts", async ({ signal }) => {
    const { bytes } = await build(below("another", appChart), "another", {}, signal);
    expect(Object.keys(await unpacked(bytes, signal))).toContain("Chart.yaml");
  });

  test.for([
    [
      "a path that is not there",
      "charts/nothing",
      "invalid chart reference: stat source/charts/nothing: no such file or directory; the artifact has the charts broken, climbing, nameless, unversioned",
    ],
    [
      "a folder without Chart.yaml",
      "empty",
      "invalid chart reference: open source/empty/Chart.yaml: no such file or directory; the artifact has the charts broken, climbing,",
    ],
    ["a file that is no archive", "empty/x", "invalid chart reference: gzip: invalid header"],
    ["a file that is too short for an archive", "empty/short", "invalid chart reference: unexpected EOF"],
    ["a chart without a name", "nameless", "invalid chart reference: validation: chart.metadata.name is required"],
    [
      "a chart whose version is no version",
      "unversioned",
      'invalid chart reference: validation: chart.metadata.version "one" is invalid',
    ],
    [
      "a chart whose name leads elsewhere",
      "climbing",
      'invalid chart reference: validation: chart.metadata.name "../x" is invalid',
    ],
    [
      "metadata that is not YAML",
      "broken",
      "invalid chart reference: cannot load 'Chart.yaml': error converting YAML to JSON: yaml: line 1: did not find expected node content",
    ],
    ["no path", "", "invalid chart reference: no path set for local chart reference"],
    ["an absolute path", "/app", "invalid chart reference: local chart reference path is expected to be relative"],
  ] as const)("%s is an invalid reference", async ([, path, message], { signal }) => {
    const files = {
      "empty/x": "a longer text",
      "empty/short": "text",
      "nameless/Chart.yaml": "apiVersion: v2\nversion: 1.0.0\n",
      "unversioned/Chart.yaml": "apiVersion: v2\nname: app\nversion: one\n",
      "climbing/Chart.yaml": "apiVersion: v2\nname: ../x\nversion: 1.0.0\n",
      "broken/Chart.yaml": "a: [\n",
    };
    await expect(findLocalChart(sourceTree(files), path, signal)).rejects.toMatchObject({
      reason: "InvalidChartReference",
      retry: "never",
      message: expect.stringContaining(message),
    });
  });

  test("a path with .. stays inside the artifact", async ({ signal }) => {
    const found = await findLocalChart(sourceTree(below("app", appChart)), "../../app", signal);
    expect(found.place).toBe("app");
  });
});
