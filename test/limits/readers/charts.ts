import { messageOf } from "../../../lib/core/failure.ts";
import { gzip, packEnd, packEntry } from "../../../lib/sources/archive/pack-tar.ts";
import { chartOf } from "../../../lib/sources/helm/chart.ts";
import {
  chartBudget,
  maxChartFileBytes,
  maxChartFiles,
  maxUnpackedChartBytes,
  readArchive,
} from "../../../lib/sources/helm/chart-archive.ts";
import { chartYaml, maxChartYamlBytes } from "../../../lib/sources/helm/chart-yaml.ts";
import { packageChart } from "../../../lib/sources/helm/package-chart.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;

function* filesOf(count: number, bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < count; at++) yield* packEntry({ type: "file", path: `app/${at}`, mode: 0o644, bytes });
  yield packEnd();
}

function reading(name: string, text: () => string): WorstInput {
  return {
    reader: "lib/sources/helm/chart-yaml.ts",
    name,
    memoryMiB: 300,
    make: async () => {
      const bytes = Buffer.from(text().slice(0, maxChartYamlBytes));
      return async () => {
        try {
          chartYaml(bytes);
        } catch (error) {
          messageOf(error);
        }
      };
    },
  };
}

function unpacking(name: string, count: number, bytes: Uint8Array): WorstInput {
  return {
    reader: "lib/sources/helm/chart-archive.ts",
    name,
    memoryMiB: 400,
    make: async () => {
      const packed = await gzip(filesOf(count, bytes));
      return () => readArchive(packed, chartBudget(), signal).catch(messageOf);
    },
  };
}

/** The worst inputs of what reads charts of Helm. */
export const chartReaders: readonly WorstInput[] = [
  unpacking("empty files, as many as are allowed", maxChartFiles, Buffer.alloc(0)),
  unpacking(
    "files that pack well, 100 MiB of them",
    maxUnpackedChartBytes / maxChartFileBytes,
    Buffer.alloc(maxChartFileBytes),
  ),
  reading("a list of short texts", () => "- a\n".repeat(maxChartYamlBytes / 4)),
  reading("keys that are all the same", () => "a: 1\n".repeat(maxChartYamlBytes / 5)),
  reading("short values in flow style", () => `[${"1,".repeat(maxChartYamlBytes / 2 - 2)}1]`),
  reading(
    "aliases that double",
    () =>
      `a: &a [x,x]\n${Array.from({ length: 40 }, (_, at) => `b${at}: &b${at} [*${at === 0 ? "a" : `b${at - 1}`},*${at === 0 ? "a" : `b${at - 1}`}]`).join("\n")}\n`,
  ),
  {
    reader: "lib/sources/helm/package-chart.ts",
    name: "a schema of short values",
    memoryMiB: 400,
    make: async () => {
      const files = [
        { name: "Chart.yaml", bytes: Buffer.from("apiVersion: v2\nname: app\nversion: 1.0.0\n") },
        { name: "values.schema.json", bytes: Buffer.from(`[${"1,".repeat(maxChartFileBytes / 2 - 2)}1]`) },
      ];
      const chart = await chartOf(files, chartBudget(), signal);
      return () => packageChart(chart).catch(messageOf);
    },
  },
];
