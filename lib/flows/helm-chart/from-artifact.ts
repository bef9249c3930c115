import { z } from "zod";
import type { HelmChartSpec } from "../../api/helm-chart.ts";
import { digestOf } from "../../core/digest.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { FileTree } from "../../core/ports/engine.ts";
import type { Http } from "../../core/ports/http.ts";
import { artifactTree } from "../../manifests/artifact-tree.ts";
import { buildLocal, findLocalChart, type LocalChart } from "../../sources/helm/build-local.ts";
import { orChartFailure } from "../../sources/helm/chart-failure.ts";
import { countingValuesFiles, revisionMetadata, versionWith } from "../../sources/helm/chart-version.ts";
import { fetchableArtifact } from "../source/read-source.ts";
import type { SourceContext } from "../source/source-context.ts";
import { type ChartOrigin, noteOf, recall } from "./chart-origin.ts";
import { type Dependencies, dependencyAdder } from "./dependencies.ts";
import { type ChartSource, noSourceArtifact } from "./find-source.ts";
import { unknownFailure } from "./unknown-failure.ts";

/** What a chart from another source's artifact needs in addition to its run. */
export interface ArtifactParts extends Dependencies {
  readonly http: Http;
  /** Whether links in artifacts are left out, as in Flux, in place of being followed. */
  readonly skipLinks: boolean;
}

const Found = z.object({ name: z.string(), version: z.string(), isFolder: z.boolean() });

/** The chart at `spec.chart` of the artifact of a GitRepository, a Bucket or an OCIRepository (reference sources 7.4, 7.5). */
export async function chartOfArtifact(
  spec: HelmChartSpec,
  { artifact, key, uid }: ChartSource,
  parts: ArtifactParts,
  ctx: SourceContext,
): Promise<ChartOrigin> {
  const { deps, run } = ctx;
  const consumer = { deps: { ...deps, http: parts.http }, run };
  const fetchable = artifact && (await fetchableArtifact({ key, uid, artifact }, consumer));
  if (artifact === undefined || fetchable === undefined) throw noSourceArtifact(key);
  let opened: Promise<{ readonly tree: FileTree; readonly local: LocalChart }> | undefined;
  const open = async () => {
    const bytes = await fetchable.bytes();
    if (bytes === undefined) {
      await deps.requests.request(key, "its artifact is not in the store", run.signal);
      throw noSourceArtifact(key);
    }
    const tree = await unpacked(bytes, parts, run.signal);
    return { tree, local: await findLocalChart(tree, spec.chart, run.signal) };
  };
  const once = () => (opened ??= open());
  const of = digestOf(JSON.stringify([fetchable.digest, spec.chart]));
  const found = recall(of, Found, ctx) ?? foundIn((await once()).local);
  const valuesFiles = spec.valuesFiles ?? [];
  const metadata = suffixOf(spec, artifact.revision, ctx);
  return {
    name: found.name,
    version: await orChartFailure("MetadataPatchError", () => versionWith(found.version, metadata)),
    isPackaged: found.isFolder || metadata !== "" || countingValuesFiles(valuesFiles).length > 0,
    carried: noteOf(of, found),
    build: async () => {
      const { tree, local } = await once();
      const shape = { valuesFiles, ignoreMissing: spec.ignoreMissingValuesFiles === true, metadata };
      return buildLocal(tree, local, shape, dependencyAdder(tree, local.place, parts, ctx), run.signal);
    },
  };
}

function foundIn({ isFolder, metadata: { name, version } }: LocalChart): z.infer<typeof Found> {
  return { name, version, isFolder };
}

/** The build metadata that shows consumers a new revision of the source, or new values. */
function suffixOf({ reconcileStrategy, valuesFiles }: HelmChartSpec, revision: string, ctx: SourceContext): string {
  const ofRevision = reconcileStrategy === "Revision" ? revisionMetadata(revision) : "";
  if (countingValuesFiles(valuesFiles).length === 0) return ofRevision;
  const { generation } = ctx.now();
  return ofRevision === "" ? String(generation) : `${ofRevision}.${generation}`;
}

async function unpacked(bytes: Uint8Array, { skipLinks }: ArtifactParts, signal: AbortSignal): Promise<FileTree> {
  try {
    return await artifactTree(bytes, { skipLinks }, signal);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const message = `artifact untar error: ${messageOf(error.cause ?? error)}`;
    throw unknownFailure("Failed", message, error);
  }
}
