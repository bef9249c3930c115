import { describe, expect, test } from "vitest";
import { HelmChartSpec, maxValuesFiles, overHelmChartLimits } from "../../../lib/api/helm-chart.ts";
import { gzip } from "../../../lib/sources/archive/pack-tar.ts";
import { buildRemote } from "../../../lib/sources/helm/build-remote.ts";
import { chartOf, maxNestedCharts } from "../../../lib/sources/helm/chart.ts";
import {
  chartBudget,
  maxChartBytes,
  maxChartFileBytes,
  maxChartFiles,
  maxUnpackedChartBytes,
  readArchive,
} from "../../../lib/sources/helm/chart-archive.ts";
import { maxListedItems, readMetadata } from "../../../lib/sources/helm/chart-metadata.ts";
import { chartYaml, maxChartYamlBytes } from "../../../lib/sources/helm/chart-yaml.ts";
import { helmIgnore, maxHelmIgnoreBytes, maxHelmIgnoreRules } from "../../../lib/sources/helm/helm-ignore.ts";
import { maxPackedChartBytes, packageChart } from "../../../lib/sources/helm/package-chart.ts";
import { tarOf } from "../sources/tar-of.ts";

describe("limits on charts of Helm", () => {
  test("apply to a packed chart", async ({ signal }) => {
    const shape = { valuesFiles: [], ignoreMissing: false, metadata: "" };
    await expect(buildRemote(Buffer.alloc(maxChartBytes + 1), "1.0.0", shape, signal)).rejects.toThrow(
      `exceeds '${maxChartBytes}' bytes limit`,
    );
  });

  test("apply to a chart that Sluice packs", async ({ signal }) => {
    const text = "apiVersion: v2\nname: app\nversion: 1.0.0\n";
    const chart = await chartOf([{ name: "Chart.yaml", bytes: Buffer.from(text) }], chartBudget(), signal);
    const { length } = await packageChart(chart, maxPackedChartBytes);
    await expect(packageChart(chart, length)).resolves.toHaveLength(length);
    await expect(packageChart(chart, length - 1)).rejects.toThrow(`more than ${length - 1} bytes when it is packed`);
  });

  test("apply to a file of a chart", async ({ signal }) => {
    const archive = await gzip([tarOf([{ name: "app/a", size: maxChartFileBytes + 1 }])]);
    await expect(readArchive(archive, chartBudget(), signal)).rejects.toThrow(
      `larger than the maximum file size ${maxChartFileBytes}`,
    );
  });

  test("apply to all files of a chart", async ({ signal }) => {
    const archive = await gzip([tarOf([{ name: "app/a", content: "abc" }])]);
    await expect(readArchive(archive, { ...chartBudget(), bytes: 2 }, signal)).rejects.toThrow(
      `larger than the maximum size ${maxUnpackedChartBytes}`,
    );
    expect(chartBudget().bytes).toBe(maxUnpackedChartBytes);
  });

  test("apply to the number of files of a chart", async ({ signal }) => {
    const archive = await gzip([tarOf([{ name: "app/a" }, { name: "app/b" }])]);
    await expect(readArchive(archive, { ...chartBudget(), files: 1 }, signal)).rejects.toThrow(
      `more than ${maxChartFiles} files`,
    );
    expect(chartBudget().files).toBe(maxChartFiles);
  });

  test("apply to charts in charts", async ({ signal }) => {
    const chart = "apiVersion: v2\nname: app\nversion: 1.0.0\n";
    const nested = (depth: number) =>
      Array.from({ length: depth + 1 }, (_, at) => ({
        name: `${"charts/a/".repeat(at)}Chart.yaml`,
        bytes: Buffer.from(chart),
      }));
    await expect(chartOf(nested(maxNestedCharts), chartBudget(), signal)).resolves.toBeDefined();
    await expect(chartOf(nested(maxNestedCharts + 1), chartBudget(), signal)).rejects.toThrow(
      `charts are nested more than ${maxNestedCharts} deep`,
    );
  });

  test("apply to the YAML of a chart", () => {
    expect(chartYaml(Buffer.from(`a: ${"b".repeat(maxChartYamlBytes - 3)}`))).toHaveLength(1);
    expect(() => chartYaml(Buffer.alloc(maxChartYamlBytes + 1))).toThrow(`more than ${maxChartYamlBytes} bytes`);
    const bomb = Array.from(
      { length: 40 },
      (_, at) => `a${at}: &a${at} [${at === 0 ? "x,x" : `*a${at - 1},*a${at - 1}`}]`,
    );
    expect(() => chartYaml(Buffer.from(bomb.join("\n")))).toThrow("its aliases expand to more than");
  });

  test("apply to lists in Chart.yaml", () => {
    const text = (count: number) => `name: app\nkeywords: [${"a,".repeat(count)}]\n`;
    expect(() => readMetadata(Buffer.from(text(maxListedItems)), undefined)).not.toThrow();
    expect(() => readMetadata(Buffer.from(text(maxListedItems + 1)), undefined)).toThrow(
      `keywords has more than ${maxListedItems} items`,
    );
  });

  test("apply to .helmignore", () => {
    expect(() => helmIgnore(Buffer.alloc(maxHelmIgnoreBytes + 1))).toThrow(`more than ${maxHelmIgnoreBytes} bytes`);
    expect(() => helmIgnore(Buffer.from("a\n".repeat(maxHelmIgnoreRules)))).toThrow(
      `more than ${maxHelmIgnoreRules} rules`,
    );
  });

  test("apply to values files of a HelmChart", () => {
    const spec = (count: number) =>
      HelmChartSpec.parse({
        chart: "app",
        interval: "1m",
        sourceRef: { kind: "HelmRepository", name: "charts" },
        valuesFiles: Array.from({ length: count }, () => "a.yaml"),
      });
    expect(overHelmChartLimits(spec(maxValuesFiles))).toEqual([]);
    expect(overHelmChartLimits(spec(maxValuesFiles + 1))).toHaveLength(1);
  });
});
