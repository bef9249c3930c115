import type { HelmReleaseSpec } from "../../api/helm-release-spec.ts";
import { helmGroup, ownerLabels, sourceGroup } from "../../api/names.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { equal, isJsonObject } from "../../core/json.ts";
import type { Manifest } from "../../core/manifest.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { isOutage } from "../../core/ports/outage.ts";
import { releaseManager } from "./actions/hook-object.ts";
import type { WorkKey } from "../../core/work-key.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { Blocked, terminal } from "./blocked.ts";
import { deleteGeneratedChart } from "./generated-chart.ts";

/** The HelmChart that `spec.chart` stands for; undefined without it (reference helmrelease 5). */
export function chartRefOf(
  { chart }: HelmReleaseSpec,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): { readonly namespace: string; readonly name: string } | undefined {
  if (chart === undefined) return undefined;
  return { namespace: chart.spec.sourceRef.namespace ?? namespace, name: `${namespace}-${name}` };
}

/**
 * Creates or changes the HelmChart of `spec.chart`, and deletes one that the spec no longer stands for (reference helmrelease 6).
 *
 * @throws Blocked if the API server refuses the HelmChart
 */
export async function applyChartTemplate(ctx: HelmReleaseContext): Promise<void> {
  const { spec } = ctx.release;
  const ref = chartRefOf(spec, ctx);
  const wanted = ref === undefined ? "" : `${ref.namespace}/${ref.name}`;
  const { helmChart = "" } = ctx.status();
  if (helmChart !== "" && helmChart !== wanted) await deleteGeneratedChart(ctx);
  if (spec.chart === undefined || ref === undefined) return;
  refuseElsewhere("HelmChart", ref, ctx);
  const manifest = helmChart_(spec, ref, ctx);
  const { kind, name } = spec.chart.spec.sourceRef;
  const source = `with SourceRef '${kind}/${ref.namespace}/${name}'`;
  const live = await ctx.home.get({ ...ref, group: sourceGroup, version: "v1", kind: "HelmChart" }, ctx.run.signal);
  if (live === undefined || !hasAll(live, manifest)) {
    const { created } = await ctx.home
      .apply(manifest, { manager: releaseManager, force: true }, ctx.run.signal)
      .catch((error: unknown) => {
        throw refusal(error, wanted);
      });
    const [reason, done] = created
      ? (["HelmChartCreated", "Created"] as const)
      : (["HelmChartConfigured", "Configured"] as const);
    const message = `${done} HelmChart/${wanted} ${source}`;
    ctx.record({ type: "Normal", reason, message, annotations: {}, isTrace: true });
  }
  if (ctx.status().helmChart !== wanted) await ctx.write({ ...ctx.status(), helmChart: wanted });
}

/** The API server's refusal of the HelmChart, such as a missing namespace or a name that is too long; any other error unchanged. */
function refusal(error: unknown, wanted: string): unknown {
  if (!(error instanceof ApiError) || (isOutage(error) && error.reason !== "NotFound")) return error;
  const message = `could not apply HelmChart '${wanted}': ${error.message}`;
  return new Blocked("ArtifactFailed", message, {
    retry: "backoff",
    event: { type: "Warning", message },
    cause: error,
  });
}

/** An object of another namespace that the installation does not let be named. */
export function refuseElsewhere(
  kind: string,
  { name, namespace }: { readonly namespace: string; readonly name: string },
  ctx: Pick<HelmReleaseContext, "deps" | "namespace">,
): void {
  const refusal = elsewhereRefusal({ kind, name, namespace }, ctx.namespace, ctx.deps);
  if (refusal !== undefined) throw terminal("AccessDenied", refusal);
}

/** Why a HelmRelease of this namespace may not name the object with its chart; undefined if it may. Pure. */
export function elsewhereRefusal(
  { kind, name, namespace }: Pick<WorkKey, "kind" | "name" | "namespace">,
  ownNamespace: string,
  { noCrossNamespaceRefs }: { readonly noCrossNamespaceRefs: boolean },
): string | undefined {
  if (!noCrossNamespaceRefs || namespace === ownNamespace) return undefined;
  return `cross-namespace references are not allowed: cannot access ${kind} ${namespace}/${name}`;
}

function helmChart_(
  { chart, interval }: HelmReleaseSpec,
  { name, namespace }: { readonly namespace: string; readonly name: string },
  ctx: HelmReleaseContext,
): Manifest {
  if (chart === undefined) throw new Error("there is no chart");
  const { metadata = {}, spec } = chart;
  const owner = ownerLabels({ name: ctx.name, namespace: ctx.namespace, labelGroup: helmGroup });
  const { sourceRef, interval: own, valuesFile = "", valuesFiles = [], ...rest } = spec;
  const files = valuesFile === "" ? valuesFiles : [valuesFile, ...valuesFiles];
  return {
    apiVersion: `${sourceGroup}/v1`,
    kind: "HelmChart",
    metadata: {
      name,
      namespace,
      labels: { ...metadata.labels, ...owner },
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
    },
    spec: {
      ...rest,
      ...(files.length === 0 ? {} : { valuesFiles: files }),
      sourceRef: { kind: sourceRef.kind, name: sourceRef.name },
      interval: formatDuration(parseDuration(own ?? interval)),
    },
  };
}

/** Whether the object has all that is wanted of it: then there is nothing to apply. */
function hasAll(live: Manifest, wanted: Manifest): boolean {
  const { labels = {}, annotations = {} } = wanted.metadata;
  const has = (found: Readonly<Record<string, string>> = {}, all: Readonly<Record<string, string>>) =>
    Object.entries(all).every(([key, value]) => found[key] === value);
  return (
    has(live.metadata.labels, labels) &&
    has(live.metadata.annotations, annotations) &&
    isJsonObject(live["spec"]) &&
    equal(live["spec"], wanted["spec"])
  );
}
