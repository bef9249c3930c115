import { z } from "zod";
import type { HelmChartSpec } from "../../api/helm-chart.ts";
import { HelmRepositorySpec } from "../../api/helm-repository.ts";
import { digestOf } from "../../core/digest.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { toJsonObject } from "../../core/json.ts";
import { HttpError } from "../../core/ports/http.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { buildRemote } from "../../sources/helm/build-remote.ts";
import type { ChartIndex, IndexedChart } from "../../sources/helm/chart-entry.ts";
import { chartFailure, orChartFailure } from "../../sources/helm/chart-failure.ts";
import { countingValuesFiles, versionWith } from "../../sources/helm/chart-version.ts";
import { isOneTag } from "../../sources/helm/choose-chart.ts";
import { RepositoryFault } from "../../sources/helm/repository-fault.ts";
import { RegistryFault } from "../../sources/oci/registry-fault.ts";
import { fetchArtifact, recordedArtifact } from "../source/read-source.ts";
import type { SourceContext } from "../source/source-context.ts";
import { type ChartOrigin, noteOf, recall } from "./chart-origin.ts";
import type { ChartRepository } from "./chart-repository.ts";
import { type ChartSource, noSourceArtifact } from "./find-source.ts";
import { openChartRepository, type RepositoryParts } from "./open-repository.ts";
import { parseIndex } from "./repository-index.ts";
import { unknownFailure } from "./unknown-failure.ts";
import { verifyChart } from "./verify-chart.ts";

/** What a chart from a HelmRepository needs in addition to its run. */
export interface HelmRepositoryParts extends RepositoryParts {
  /** The limit for an index: Flux's flag `helm-index-max-size`. */
  readonly maxIndexBytes: number;
}

const Found = z.object({
  name: z.string(),
  version: z.string(),
  urls: z.array(z.string()),
  digest: z.string().exactOptional(),
});
/** The limit for the note to the next run. */
const maxNotedBytes = 2_000;
const chartName = /^[-a-z0-9]+(?:(?:\/\.?|\.)[-a-z0-9]+)*(?:\/\.?|\.)?$/;
/** Longer names are not matched. */
const maxNameLength = 250;

/** The chart that `spec.chart` and `spec.version` select in a HelmRepository (reference sources 7.3, 7.5). */
export async function chartOfRepository(
  spec: HelmChartSpec,
  source: ChartSource,
  parts: HelmRepositoryParts,
  ctx: SourceContext,
): Promise<ChartOrigin> {
  const { run } = ctx;
  const repositorySpec = specOf(source);
  const isOci = repositorySpec.type === "oci";
  const stored = isOci ? undefined : await storedIndex(source, ctx);
  const repository = await opened(repositorySpec, stored?.read, parts, ctx);
  checkName(spec.chart);
  const of = digestOf(JSON.stringify([stored?.digest ?? repositorySpec.url, spec.chart, spec.version]));
  // The tags of a registry may have changed; a whole version is the same tag.
  const known = stored === undefined && !isOneTag(spec.version) ? undefined : recall(of, Found, ctx);
  const chosen = known ?? (await choose(repository, spec, source, ctx));
  const { name, version, urls, digest } = chosen;
  const pulled = await verifyChart(spec, chosen, repository, ctx);
  const found = { name, version, urls: urls.slice(0, 1), ...(digest === undefined ? {} : { digest }) };
  const valuesFiles = spec.valuesFiles ?? [];
  const isPackaged = countingValuesFiles(valuesFiles).length > 0;
  const metadata = isPackaged ? String(ctx.now().generation) : "";
  const built = await orChartFailure("MetadataPatchError", () => versionWith(version, metadata));
  return {
    name,
    version: built,
    isPackaged,
    carried: isNoted(found) ? noteOf(of, toJsonObject(found)) : {},
    build: async () => {
      const archive = await asked("failed to download chart for remote reference", "ChartPullError", source.key, () =>
        repository.download(pulled, run.signal),
      );
      const shape = { valuesFiles, ignoreMissing: spec.ignoreMissingValuesFiles === true, metadata };
      return buildRemote(archive, built, shape, run.signal);
    },
  };
}

/** A URL with a login or a signature is not kept, and neither is a long one. */
function isNoted(found: z.infer<typeof Found>): boolean {
  return JSON.stringify(found).length <= maxNotedBytes && !found.urls.some((url) => /[?@]/.test(url));
}

function specOf({ live }: ChartSource): HelmRepositorySpec {
  const parsed = HelmRepositorySpec.safeParse(live["spec"]);
  if (parsed.success) return parsed.data;
  throw new Failure(
    "SourceUnavailable",
    `failed to get source: the spec of HelmRepository '${live.metadata.name}' is invalid`,
  );
}

/** The index that the HelmRepository has stored: its digest, and how it is read. */
async function storedIndex({ artifact, key, uid }: ChartSource, ctx: SourceContext) {
  const consumer = { deps: ctx.deps, run: ctx.run };
  const digest = artifact && (await recordedArtifact({ key, uid, artifact }, consumer));
  if (digest === undefined) throw noSourceArtifact(key);
  const read = async (signal: AbortSignal): Promise<ChartIndex> => {
    const bytes = await fetchArtifact(digest, consumer);
    if (bytes === undefined) {
      await ctx.deps.requests.request(key, "its artifact is not in the store", signal);
      throw noSourceArtifact(key);
    }
    // As it is stored, it may be larger than it was.
    return parseIndex(bytes, Number.POSITIVE_INFINITY, signal);
  };
  return { digest, read };
}

async function opened(
  spec: HelmRepositorySpec,
  read: ((signal: AbortSignal) => Promise<ChartIndex>) | undefined,
  parts: HelmRepositoryParts,
  ctx: SourceContext,
): Promise<ChartRepository> {
  try {
    const index = read ?? (() => Promise.reject(new Error("a registry has no index")));
    return await openChartRepository(spec, () => index, parts, ctx);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw unknownFailure(error.reason, error.message, error, error.retry);
  }
}

function checkName(name: string): void {
  const invalid = (why: string) => chartFailure("InvalidChartReference", why);
  if (name === "") throw invalid("no name set for remote chart reference");
  if (name.length <= maxNameLength && chartName.test(name)) return;
  const rule =
    "a valid name must be lower case letters and numbers and MAY be separated with dashes (-), slashes (/) or periods (.)";
  throw invalid(`invalid chart name '${name.slice(0, maxNameLength)}': ${rule}`);
}

/** A missing version stalls a chart of an index until that changes; the tags of a registry are looked at again, as in Flux. */
function choose(
  repository: ChartRepository,
  { chart, version }: HelmChartSpec,
  source: ChartSource,
  { run }: SourceContext,
): Promise<IndexedChart> {
  const absent = specOf(source).type === "oci" ? "ChartPullError" : "InvalidChartReference";
  return asked("failed to get chart version for remote reference", absent, source.key, () =>
    repository.choose(chart, version, run.signal),
  );
}

async function asked<Answer>(
  what: string,
  absent: "ChartPullError" | "InvalidChartReference",
  key: WorkKey,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof RepositoryFault)) throw error;
    const reason = error.reason === "absent" ? absent : "ChartPullError";
    const failure = chartFailure(reason, `${what}: ${messageOf(error)}`, error, isAway(error) ? key : undefined);
    if (error.reason !== "unauthorized") throw failure;
    const message = `failed to authenticate with the Helm repository: ${failure.message}`;
    throw unknownFailure("AuthenticationFailed", message, error);
  }
}

/** Whether the repository's host refuses all users: all its charts wait. */
function isAway(error: unknown): boolean {
  if (error instanceof RegistryFault) return error.reason === "unavailable" || error.reason === "throttled";
  if (error instanceof HttpError) return error.reason !== "refused" && error.reason !== "too-large";
  return error instanceof Error && isAway(error.cause);
}
