import type { HelmChartSpec } from "../../api/helm-chart.ts";
import { kindOf } from "../../api/kinds/declaration.ts";
import { sourceGroup } from "../../api/names.ts";
import type { Artifact } from "../../api/source.ts";
import { Failure } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { nameFault } from "../../core/object-ref.ts";
import { outageOf } from "../../core/ports/outage.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { type SourceKinds, sourceOf } from "../source/read-source.ts";
import type { SourceContext } from "../source/source-context.ts";

/** The present source of a chart. */
export interface ChartSource {
  readonly key: WorkKey;
  readonly uid: string;
  readonly live: LiveObject;
  readonly artifact: Artifact | undefined;
}

/** The key of a HelmChart's source, which is in its own namespace. */
export function chartSourceKey(
  { sourceRef }: HelmChartSpec,
  { namespace, run }: Pick<SourceContext, "namespace" | "run">,
) {
  const { kind, name } = sourceRef;
  return { cluster: run.key.cluster, group: sourceGroup, kind, namespace, name };
}

/** The source that a HelmChart names. Throws a `Failure` with Flux's text if it is not there (reference sources 7.2). */
export async function findChartSource(
  spec: HelmChartSpec,
  sources: SourceKinds,
  ctx: SourceContext,
): Promise<ChartSource> {
  const key = chartSourceKey(spec, ctx);
  const kind = kindOf(key, sources);
  if (kind === undefined) {
    const known = `unsupported source kind '${key.kind}', must be one of: [${sources.map((one) => one.kind).join(" ")}]`;
    throw new Failure("UnsupportedSourceKind", `failed to get source: ${known}`);
  }
  const missing = `failed to get source: ${key.kind}.${key.group} "${key.name}" not found`;
  // A name that no object can have is asked of no API server, where it would be another address.
  if (nameFault(key.name) !== undefined) throw new Failure("SourceUnavailable", missing, { waitsFor: key });
  const live = await ctx.home.get({ ...key, version: kind.versions[0] }, ctx.run.signal).catch((error: unknown) => {
    throw outageOf(error, "SourceUnavailable", "failed to get source");
  });
  if (live === undefined) throw new Failure("SourceUnavailable", missing, { waitsFor: key });
  return { key, live, ...sourceOf(live) };
}

/** The failure of a chart whose source has no artifact yet, or has lost it. */
export function noSourceArtifact(key: WorkKey): Failure {
  const { kind, name } = key;
  return new Failure("NoSourceArtifact", `no artifact available for ${kind} source '${name}'`, { waitsFor: key });
}
