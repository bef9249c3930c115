import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packLocalChart } from "../../../cli/local-chart.ts";
import { type Files, packed, unpacked } from "../sources/helm/charts.ts";

const { signal } = new AbortController();
const chart: Files = {
  "Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
  "values.yaml": "color: blue\nsize: small\n",
  "values-prod.yaml": "color: red\n",
  "templates/web.yaml": "kind: ConfigMap\n",
  "notes.bak": "left out",
  ".helmignore": "*.bak\n",
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-chart-"));
  for (const [name, content] of Object.entries(chart)) {
    await mkdir(dirname(join(folder, "web", name)), { recursive: true });
    await writeFile(join(folder, "web", name), content);
  }
});
afterAll(() => rm(folder, { recursive: true }));

const template = (spec: object = {}) => ({
  chart: {
    spec: {
      chart: "./charts/web",
      version: "*",
      reconcileStrategy: "ChartVersion" as const,
      sourceRef: { kind: "GitRepository" as const, name: "app" },
      ...spec,
    },
  },
});

test("a folder is packed as a chart under its name, without files in .helmignore", async () => {
  const files = await unpacked(await packLocalChart(join(folder, "web"), {}, signal), signal);
  expect(Object.keys(files)).toContain("templates/web.yaml");
  expect(Object.keys(files)).not.toContain("notes.bak");
});

test.each([
  ["as a git repository names them", "charts/web/values-prod.yaml", "color: red\nsize: small\n"],
  ["as a chart repository names them", "values-prod.yaml", "color: red\nsize: small\n"],
])("values files of the HelmRelease are merged into its values, %s", async (_, file, values) => {
  const spec = template({ valuesFiles: ["values.yaml", file] });
  const files = await unpacked(await packLocalChart(join(folder, "web"), spec, signal), signal);
  expect(files["values.yaml"]).toBe(values);
});

test("a packed chart is used unchanged", async () => {
  const bytes = await packed(chart);
  const file = join(folder, "app-1.0.0.tgz");
  await writeFile(file, bytes);
  expect(Buffer.from(await packLocalChart(file, {}, signal)).equals(bytes)).toBe(true);
});

test("a path without a chart is named as given", async () => {
  const none = join(folder, "none");
  await expect(packLocalChart(none, {}, signal)).rejects.toThrow(`there is no chart at ${none}`);
  const parent = join(folder, "charts");
  await mkdir(join(parent, "web"), { recursive: true });
  await writeFile(join(parent, "web", "Chart.yaml"), "apiVersion: v2\nname: app\nversion: 1.0.0\n");
  await expect(packLocalChart(parent, {}, signal)).rejects.toThrow(`${parent} is not a chart: it has no Chart.yaml`);
});

test("a missing values file is an error with its path", async () => {
  const spec = template({ valuesFiles: ["none.yaml"] });
  await expect(packLocalChart(join(folder, "web"), spec, signal)).rejects.toThrow("no values file found at path");
});
