import type { JsonObject } from "../../core/json.ts";
import type { Chart } from "./chart.ts";
import { valuesText } from "./merge-values.ts";

/** The chart with another version. */
export function withVersion(chart: Chart, version: string): Chart {
  const { metadata } = chart;
  return { ...chart, metadata: { ...metadata, version, fields: { ...metadata.fields, version } } };
}

/** The chart under another name. */
export function withName(chart: Chart, name: string): Chart {
  const { metadata } = chart;
  return { ...chart, metadata: { ...metadata, name, fields: { ...metadata.fields, name } } };
}

/**
 * The chart with these values in its `values.yaml`, and the files that they are of: none if the chart has the same already. Throws a
 * `RangeError` for a chart without `values.yaml`.
 */
export function withValues(
  chart: Chart,
  merged: { readonly values: JsonObject; readonly found: readonly string[] } | undefined,
): { readonly chart: Chart; readonly valuesFiles: readonly string[] } {
  if (merged === undefined) return { chart, valuesFiles: [] };
  const bytes = valuesText(merged.values);
  const own = chart.files.find(({ name }) => name === "values.yaml");
  if (own === undefined) throw new RangeError("failed to locate values file: values.yaml");
  if (Buffer.from(own.bytes).equals(bytes)) return { chart, valuesFiles: [] };
  const files = chart.files.map((file) => (file === own ? { ...file, bytes } : file));
  return { chart: { ...chart, values: merged.values, files }, valuesFiles: merged.found };
}
