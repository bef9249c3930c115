import type { Chart } from "./chart.ts";
import type { Budget } from "./chart-archive.ts";
import type { ChartDependency } from "./chart-metadata.ts";

/** Brings the charts that another one needs, in this order, within what its budget has left. Throws a `Failure` `DependencyBuildError`. */
export type AddDependencies = (missing: readonly ChartDependency[], budget: Budget) => Promise<readonly Chart[]>;

/**
 * The dependencies that are not in the chart: those of its lock, if it has one. None if it has as many charts as dependencies, whatever
 * they are, as in Flux (reference sources 7.4).
 */
export function missingDependencies({ charts, lock, metadata }: Chart): readonly ChartDependency[] {
  const wanted = lock?.dependencies ?? metadata.dependencies;
  if (wanted.length === charts.length) return [];
  const present = new Set(charts.map((chart) => chart.metadata.name));
  const byName = new Map(wanted.map((dependency) => [nameOf(dependency), dependency]));
  return [...byName].flatMap(([name, dependency]) => (present.has(name) ? [] : [dependency]));
}

/** Under which name a chart has it. */
export function nameOf({ alias, name }: ChartDependency): string {
  return alias === "" ? name : alias;
}
