import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { embeddedMetrics } from "../../../lib/aws/embedded-metrics.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { metricUnits } from "../../../lib/core/ports/metrics.ts";

const clock: Clock = { now: () => 1_795_262_400_000, monotonic: () => 0, sleep: async () => undefined };
const key = {
  cluster: "prod",
  group: "kustomize.toolkit.fluxcd.io",
  kind: "Kustomization",
  namespace: "apps",
  name: "web",
};

function written(record: (metrics: ReturnType<typeof embeddedMetrics>) => void): readonly string[] {
  const lines: string[] = [];
  record(embeddedMetrics((line) => void lines.push(line), clock, "sluice-table"));
  return lines;
}

describe("metrics in CloudWatch's embedded format", () => {
  test("a measurement is one line with the installation as a dimension, for a duration also the kind, and names as properties", () => {
    expect(
      written((metrics) =>
        metrics.record(key, { ReconcileDuration: 118.5, ReconcilesFailed: 1 }, { outcome: "failed" }),
      ),
    ).toEqual([
      '{"outcome":"failed","installation":"sluice-table","cluster":"prod","group":"kustomize.toolkit.fluxcd.io","kind":"Kustomization","namespace":"apps","name":"web","ReconcileDuration":118.5,"ReconcilesFailed":1,"_aws":{"Timestamp":1795262400000,"CloudWatchMetrics":[{"Namespace":"Sluice","Dimensions":[["installation"]],"Metrics":[{"Name":"ReconcilesFailed","Unit":"Count"}]},{"Namespace":"Sluice","Dimensions":[["installation","kind"]],"Metrics":[{"Name":"ReconcileDuration","Unit":"Milliseconds"}]}]}}\n',
    ]);
  });

  test("no property overrides a dimension or a value", () => {
    const [line = ""] = written((metrics) =>
      metrics.record(key, { ObjectsPruned: 3 }, { cluster: "other", ObjectsPruned: "many", _aws: "none" }),
    );
    expect(JSON.parse(line)).toMatchObject({ cluster: "prod", ObjectsPruned: 3, _aws: { Timestamp: clock.now() } });
  });

  test("all metrics of an object with the longest names are far below a line's limits: 100 metrics, 1 MB", () => {
    const longest = "n".repeat(253);
    const about = { cluster: longest, group: longest, kind: longest, namespace: longest, name: longest };
    const all = Object.fromEntries(Object.keys(metricUnits).map((name) => [name, Number.MAX_SAFE_INTEGER]));
    const [line = ""] = written((metrics) => metrics.record(about, all, { revision: "r".repeat(4096) }));
    expect(Object.keys(metricUnits).length).toBeLessThanOrEqual(100);
    expect(Buffer.byteLength(line)).toBeLessThan(1024 * 1024);
  });

  test("docs/metrics.md has every metric with its unit, and no other", async () => {
    const docs = await readFile(new URL("../../../docs/metrics.md", import.meta.url), "utf8");
    const rows = [...docs.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, unit]) => [name, unit]);
    expect(Object.fromEntries(rows)).toEqual(metricUnits);
  });
});
