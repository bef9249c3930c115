import { findCondition } from "../../api/condition.ts";
import {
  HelmChartSpec as HelmChartSchema,
  type HelmChartSpec,
  HelmChartStatus,
  overHelmChartLimits,
} from "../../api/helm-chart.ts";
import { declaredHelmChart } from "../../api/kinds/helm-chart.ts";
import { declaredHelmRepository } from "../../api/kinds/helm-repository.ts";
import { digestOf } from "../../core/digest.ts";
import { Failure } from "../../core/failure.ts";
import type { Http } from "../../core/ports/http.ts";
import type { RegistryLogin } from "../../core/ports/registry-login.ts";
import type { Flow } from "../../core/ports/run.ts";
import { sourceTopic } from "../../core/topics.ts";
import { chartSummary, countingValuesFiles } from "../../sources/helm/chart-version.ts";
import { defaultIndexLimits } from "../../sources/helm/index-limits.ts";
import { registryClients } from "../../sources/oci/registry-client.ts";
import type { SourceKinds } from "../source/read-source.ts";
import type { SourceContext, SourceDeps } from "../source/source-context.ts";
import { sourceFlow } from "../source/source-flow.ts";
import type { Resolved, SourceKind } from "../source/source-kind.ts";
import type { ChartOrigin } from "./chart-origin.ts";
import { conditionByReason } from "./condition-by-reason.ts";
import { type ChartSource, chartSourceKey, findChartSource } from "./find-source.ts";
import { type ArtifactParts, chartOfArtifact } from "./from-artifact.ts";
import { chartOfRepository, type HelmRepositoryParts } from "./from-repository.ts";
import { remoteDependencies } from "./remote-dependencies.ts";

/** The outside services of the reconcile of a HelmChart. */
export interface HelmChartDeps extends SourceDeps {
  readonly http: Http;
  /** The kinds of source that the installation reconciles. */
  readonly sources: SourceKinds;
  /** The clouds with an identity that can log in to registries. */
  readonly logins?: { readonly aws?: RegistryLogin };
  /** Bytes of an index: Flux's flag `helm-index-max-size`. */
  readonly helmIndexMaxBytes?: number;
  /** Whether links in artifacts are left out, as in Flux, in place of being followed. */
  readonly skipLinks?: boolean;
}

/** The reconcile of a HelmChart. */
export function helmChartFlow(deps: HelmChartDeps): Flow {
  return sourceFlow(helmChartSource(deps), deps);
}

/** The kinds that a chart may come from, as in `spec.sourceRef`. */
const chartSources: ReadonlySet<string> = new Set(["HelmRepository", "GitRepository", "Bucket", "OCIRepository"]);

/** Refuses a spec that only a change of the object mends. Throws a {@link Failure}. */
export function checkHelmChart(spec: HelmChartSpec): void {
  const tooMuch = overHelmChartLimits(spec);
  if (tooMuch.length > 0) throw new Failure("InvalidSpec", `${tooMuch.join("; ")}: use fewer`);
}

function helmChartSource(deps: HelmChartDeps): SourceKind<HelmChartSpec> {
  const { clock, helmIndexMaxBytes, http, logins, skipLinks = false } = deps;
  const repositories = {
    ...{ http, connect: registryClients(http, clock), aws: logins?.aws },
    maxIndexBytes: helmIndexMaxBytes ?? defaultIndexLimits.maxBytes,
  };
  const parts = { ...repositories, ...remoteDependencies(repositories), skipLinks };
  const sources = deps.sources.filter(({ kind }) => chartSources.has(kind));
  return {
    declared: declaredHelmChart,
    spec: HelmChartSchema,
    status: HelmChartStatus,
    latest: "latest.tar.gz",
    conditionByReason,
    check: checkHelmChart,
    topics: (spec, ctx) => [sourceTopic(chartSourceKey(spec, ctx))],
    resolve: async (spec, ctx) => {
      const source = await findChartSource(spec, sources, ctx);
      const { artifact } = source;
      const noted = artifact === undefined ? {} : { observedSourceArtifactRevision: artifact.revision };
      // Also where the build fails, as in Flux.
      ctx.setStatus({ ...ctx.status(), ...noted });
      const resolved = resolvedOf(spec, await originOf(spec, source, parts, ctx), noted, ctx);
      return { ...resolved, madeFrom: [source.key] };
    },
  };
}

function originOf(
  spec: HelmChartSpec,
  source: ChartSource,
  parts: ArtifactParts & HelmRepositoryParts,
  ctx: SourceContext,
): Promise<ChartOrigin> {
  const isRepository = source.key.kind === declaredHelmRepository.kind;
  return isRepository ? chartOfRepository(spec, source, parts, ctx) : chartOfArtifact(spec, source, parts, ctx);
}

function resolvedOf(spec: HelmChartSpec, origin: ChartOrigin, noted: object, ctx: SourceContext): Resolved {
  const { isPackaged, name, version } = origin;
  const before = HelmChartStatus.parse(ctx.status());
  const reason = isPackaged ? "ChartPackageSucceeded" : "ChartPullSucceeded";
  const summary = (valuesFiles: readonly string[]): string =>
    chartSummary(isPackaged ? "packaged" : "pulled", origin, valuesFiles);
  const inStorage = "ArtifactInStorage";
  const said = findCondition(before.conditions ?? [], inStorage);
  const known = before.observedValuesFiles ?? countingValuesFiles(spec.valuesFiles);
  // The build's message stays valid for the chart: it may have found that the values files change nothing.
  const stored = said?.reason === reason ? said.message : summary(known);
  return {
    revision: version,
    file: `${name}-${version}.tgz`,
    observed: { observedChartName: name, observedValuesFiles: before.observedValuesFiles },
    noted,
    // A stall observes a generation too, and stores nothing of it.
    isStale: findCondition(ctx.before.conditions ?? [], inStorage)?.observedGeneration !== ctx.now().generation,
    reasons: { stored: reason, outdated: "NewChart" },
    messages: { outdated: summary(known), stored, event: () => stored },
    isAnnounced: false,
    carried: origin.carried,
    pull: async (announce) => {
      const { bytes, dependencies, valuesFiles } = await origin.build();
      const message = summary(valuesFiles);
      await announce(message);
      if (dependencies > 0) {
        const resolved = `resolved ${dependencies} chart dependencies`;
        const event = { type: "Normal", reason: "ResolvedDependencies", annotations: {}, isTrace: true } as const;
        await ctx.record({ ...event, message: resolved });
      }
      const isListed = spec.ignoreMissingValuesFiles === true && valuesFiles.length > 0;
      return {
        bytes,
        digest: digestOf(bytes),
        metadata: {},
        links: [],
        observed: { observedValuesFiles: isListed ? valuesFiles : undefined },
        message,
        stored: message,
      };
    },
  };
}
