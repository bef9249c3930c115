import { sourceGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredHelmChart = {
  group: sourceGroup,
  kind: "HelmChart",
  plural: "helmcharts",
  shortNames: ["hc"],
  categories: ["all", "fluxcd", "fluxcd-sources"],
  description: "HelmChart keeps the latest version of a chart of Helm at hand.",
  versions: ["v1", "v1beta2", "v1beta1"],
  columns: [
    { name: "Chart", type: "string", jsonPath: ".spec.chart" },
    { name: "Version", type: "string", jsonPath: ".spec.version" },
    { name: "Source Kind", type: "string", jsonPath: ".spec.sourceRef.kind" },
    { name: "Source Name", type: "string", jsonPath: ".spec.sourceRef.name" },
    ageColumn,
    readyColumn,
    statusColumn,
  ],
  schemas: async () => {
    const { HelmChartSpec, HelmChartStatus } = await import("../helm-chart.ts");
    return { spec: HelmChartSpec, status: HelmChartStatus };
  },
  // As recorded from Flux 2.9.
  statusManager: "source-controller",
  eventSource: "source-controller",
  isSource: true,
  sourceRefs: [["spec", "sourceRef"]],
  words: {
    one: "chart",
    many: "chart",
    aliases: [],
    plural: "HelmCharts",
    revision: ["status", "artifact", "revision"],
    done: "pulled",
  },
} as const satisfies KindDeclaration;
