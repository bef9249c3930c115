import { declaredHelmChart } from "../../api/kinds/helm-chart.ts";
import { conditionByReason } from "../helm-chart/condition-by-reason.ts";
import { failed } from "../source/source-conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const helmChartKind: Kind = {
  ...declaredHelmChart,
  flow: (parts) => loadedOnce(async () => (await import("../helm-chart/helm-chart-flow.ts")).helmChartFlow(parts)),
  failing: (before, failure, now) =>
    failed({ conditions: [...before] }, failure, now, conditionByReason).conditions ?? [],
};
