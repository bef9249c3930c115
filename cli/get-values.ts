import { HelmReleaseFields, type HelmReleaseSpec } from "../lib/api/helm-release-spec.ts";
import { declaredHelmRelease } from "../lib/api/kinds/helm-release.ts";
import { messageOf } from "../lib/core/failure.ts";
import { formatJson, type JsonObject } from "../lib/core/json.ts";
import { hiddenValue } from "../lib/core/known-words.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import type { EngineLimits } from "../lib/core/ports/engine.ts";
import { type HelmEngine, HelmEngineError, type ValuesToCompose } from "../lib/core/ports/helm-engine.ts";
import { noTenant } from "../lib/core/tenant.ts";
import {
  type ReleaseValues,
  readReleaseValues,
  UnresolvedReference,
  unresolvedText,
  type ValuesReference,
  valuesFault,
} from "../lib/helm/read-values.ts";
import { type ValueLeaf, valueLeaves } from "../lib/helm/value-origins.ts";
import { isElsewhere, type NamedLayer, originOf, valuesLayers } from "../lib/helm/values-layers.ts";
import { gzip, packEnd, packEntry } from "../lib/sources/archive/pack-tar.ts";
import { loadObject } from "./reconcile-object.ts";
import type { Session } from "./session.ts";
import { table } from "./table.ts";

export interface ValuesOptions {
  /** Commander's name for `--no-header`. */
  readonly header: boolean;
  /** `wide`: values are not cut to the width of the screen. */
  readonly output?: "wide";
}

/**
 * `get values`: the values that a HelmRelease gives to its chart, one row for each, with where it comes from. What comes from a Secret is
 * not shown.
 *
 * @param helm merges the values, as it does in a run
 */
export async function getValues(
  name: string,
  options: ValuesOptions,
  session: Session,
  helm: Pick<HelmEngine, "prepare">,
): Promise<void> {
  const { terminal } = session;
  const live = await loadObject(declaredHelmRelease, name, session);
  const { merged, layers } = await readLayers(specOf(live), helm, session);
  const rows = valueLeaves(merged, layers).map((leaf) => rowOf(leaf, layers, session.namespace));
  if (rows.length === 0) {
    terminal.success(`HelmRelease ${name} gives no values: those of its chart hold`);
    return;
  }
  const columns = options.output === "wide" ? undefined : terminal.columns();
  terminal.out(table(options.header ? ["Value of", "From", "Value"] : undefined, rows, columns));
}

type ValuesSpec = Pick<HelmReleaseSpec, "values" | "valuesFrom">;

function specOf(live: LiveObject): ValuesSpec {
  const { data } = HelmReleaseFields.pick({ values: true, valuesFrom: true }).safeParse(live["spec"]);
  if (data === undefined) throw new Error(`HelmRelease ${live.metadata.name} has invalid fields in its spec`);
  return data;
}

/** Reads what `valuesFrom` refers to with the rights of the user. Throws the text that the status would have. */
export async function readSpecValues(spec: ValuesSpec, session: Session): Promise<ReleaseValues> {
  const { cluster, namespace, signal } = session;
  const read = async (reference: ValuesReference): Promise<LiveObject | undefined> => {
    const { kind, name } = reference;
    try {
      return await cluster.get({ group: "", version: "v1", kind, namespace, name }, signal);
    } catch (error) {
      throw error instanceof ApiError ? unresolved(reference, messageOf(error), session, error) : error;
    }
  };
  try {
    return await readReleaseValues(spec, read);
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error;
    throw unresolved(error.reference, error.message, session, error);
  }
}

function unresolved(reference: ValuesReference, why: string, { namespace }: Session, cause: unknown): Error {
  return new Error(unresolvedText(reference, namespace, why), { cause });
}

async function readLayers(
  spec: ValuesSpec,
  helm: Pick<HelmEngine, "prepare">,
  session: Session,
): Promise<{ readonly merged: JsonObject; readonly layers: readonly NamedLayer[] }> {
  const { signal } = session;
  const { values, references } = await readSpecValues(spec, session);
  const chart = await emptyChart();
  const compose = async (composed: ValuesToCompose): Promise<JsonObject> => {
    const input = { tenant: noTenant, chart, versionSuffix: "", values: composed };
    return (await helm.prepare(input, limits, signal)).values;
  };
  const merged = await compose(values).catch((error: unknown) => {
    const reference = error instanceof HelmEngineError ? references[error.reference ?? -1] : undefined;
    if (reference === undefined) throw error;
    throw unresolved(reference, valuesFault(reference, messageOf(error)), session, error);
  });
  return { merged, layers: await valuesLayers({ values, references }, compose) };
}

const limits: EngineLimits = { maxCpuMs: 30_000, maxWallMs: 120_000, maxOutputBytes: 32 * 1024 * 1024 };

/** Values are merged before the chart counts: any will do. */
async function emptyChart(): Promise<Uint8Array> {
  const bytes = Buffer.from("apiVersion: v2\nname: none\nversion: 0.0.0\n");
  const entry = packEntry({ type: "file", path: "none/Chart.yaml", mode: 0o644, bytes });
  return gzip([...entry, packEnd()]);
}

function rowOf(
  { layers: places, path, value }: ValueLeaf,
  layers: readonly NamedLayer[],
  namespace: string,
): readonly string[] {
  const origins = layers.filter((_, place) => places.includes(place));
  const secrets = origins.flatMap(({ reference }) => (reference?.kind === "Secret" ? [reference] : []));
  return [
    secrets.some((secret) => isElsewhere(path, secret)) ? hiddenValue : path,
    origins.map((layer) => originOf(layer, namespace)).join(", "),
    secrets.length > 0 || origins.length === 0 ? hiddenValue : formatJson(value),
  ];
}
