import type { JsonObject } from "../core/json.ts";
import type { ValuesToCompose } from "../core/ports/helm-engine.ts";
import { keyOf, type ReleaseValues, type ValuesReference } from "./read-values.ts";
import type { ValuesLayer } from "./value-origins.ts";

/** The values of one entry of `spec.valuesFrom`, or the inline values. */
export interface NamedLayer extends ValuesLayer {
  /** Undefined for the inline values. */
  readonly reference: ValuesReference | undefined;
}

/**
 * The layers of the values of a release, in the order in which they were merged.
 *
 * @param compose Helm's own merge of values, as in a run
 */
export async function valuesLayers(
  { references, values }: ReleaseValues,
  compose: (values: ValuesToCompose) => Promise<JsonObject>,
): Promise<readonly NamedLayer[]> {
  const layers: NamedLayer[] = [];
  for (const [place, reference] of references.entries()) {
    const own = await compose({ from: values.from.slice(place, place + 1), inline: {} });
    layers.push({ values: own, reference });
  }
  return [...layers, { values: values.inline, reference: undefined }];
}

/** Where a layer comes from: `Secret apps/db password`, or `inline`. */
export function originOf({ reference }: NamedLayer, namespace: string): string {
  return reference === undefined ? "inline" : `${reference.kind} ${namespace}/${reference.name} ${keyOf(reference)}`;
}

/**
 * Whether a path of a layer is not below its `targetPath`: for a text at a path, the part after a comma is set elsewhere, `a,b=c` sets
 * `b`. Then the path is a part of the text.
 */
export function isElsewhere(path: string, { targetPath }: ValuesReference): boolean {
  if (targetPath === undefined) return false;
  return path !== targetPath && !path.startsWith(`${targetPath}.`) && !path.startsWith(`${targetPath}[`);
}
