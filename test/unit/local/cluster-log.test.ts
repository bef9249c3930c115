import { expect, test } from "vitest";
import type { Log, LogFields } from "../../../lib/core/ports/log.ts";
import { logOfCluster, namingClusters } from "../../../local/cluster-log.ts";

const key = { cluster: "uid-1", group: "g", kind: "Kustomization", namespace: "apps", name: "web" };
const nameOf = (id: string): string | undefined => (id === "uid-1" ? "prod" : undefined);

/** The fields of one line, as they are written. */
function written(wrap: (log: Log) => Log, fields?: LogFields): unknown {
  const lines: unknown[] = [];
  const write = (_message: string, each?: LogFields): void => void lines.push(each);
  const log = wrap({ debug: write, info: write, warn: write, error: write });
  for (const level of ["debug", "info", "warn", "error"] as const) log[level]("a message", fields);
  expect(lines.every((line) => JSON.stringify(line) === JSON.stringify(lines[0]))).toBe(true);
  return lines[0];
}

test.each([
  { name: "a work key", fields: { key, outcome: "done" }, becomes: { cluster: "prod", key, outcome: "done" } },
  {
    name: "the text of a work key",
    fields: { key: "uid-1/g/Kustomization/apps/web" },
    becomes: { cluster: "prod", key: "uid-1/g/Kustomization/apps/web" },
  },
  { name: "the id of a cluster", fields: { cluster: "uid-1", woken: 1 }, becomes: { cluster: "prod", woken: 1 } },
  {
    name: "a cluster that is not known",
    fields: { key: { ...key, cluster: "x" } },
    becomes: { key: { ...key, cluster: "x" } },
  },
  { name: "no cluster", fields: { repository: "app" }, becomes: { repository: "app" } },
  { name: "no fields", fields: undefined, becomes: {} },
])("a line with $name", ({ fields, becomes }) => {
  expect(written((log) => namingClusters(log, nameOf), fields)).toEqual(becomes);
});

test("the log of a cluster has the cluster's name in each line", () => {
  expect(written((log) => logOfCluster(log, "prod"), { kind: "Secret" })).toEqual({ cluster: "prod", kind: "Secret" });
  expect(written((log) => logOfCluster(log, "prod"))).toEqual({ cluster: "prod" });
});
