import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { declaredHelmChart } from "../lib/api/kinds/helm-chart.ts";
import { declaredHelmRelease } from "../lib/api/kinds/helm-release.ts";
import { isJsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { textAt, valueAt } from "./objects/read-object.ts";

/** A source as an object names it, with its namespace. */
export interface SourceReference {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The source that the spec of an object names; undefined if it names none. */
export function sourceOf(
  { sourceRefs = [] }: Pick<KindDeclaration, "sourceRefs">,
  object: LiveObject,
): SourceReference | undefined {
  const referred = sourceRefs.map((path) => valueAt(object, ...path)).find(isJsonObject);
  if (referred === undefined) return undefined;
  const elsewhere = textAt(referred, "namespace");
  const namespace = elsewhere === "" ? (object.metadata.namespace ?? "") : elsewhere;
  return { kind: textAt(referred, "kind"), namespace, name: textAt(referred, "name") };
}

/** The HelmChart that stands between a HelmRelease with `spec.chart` and the source that it names; undefined for every other object. */
export function generatedChartOf(
  { kind }: Pick<KindDeclaration, "kind">,
  object: LiveObject,
): SourceReference | undefined {
  if (kind !== declaredHelmRelease.kind || valueAt(object, "spec", "chart") === undefined) return undefined;
  if (valueAt(object, "spec", "chartRef") !== undefined) return undefined;
  const { name, namespace = "" } = object.metadata;
  const source = sourceOf(declaredHelmRelease, object);
  return { kind: declaredHelmChart.kind, namespace: source?.namespace ?? namespace, name: `${namespace}-${name}` };
}
