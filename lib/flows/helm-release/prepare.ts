import { digestOf } from "../../core/digest.ts";
import { messageOf } from "../../core/failure.ts";
import type { FeatureGates } from "../../core/feature-gates.ts";
import { canonicalJson } from "../../core/json.ts";
import type { EngineLimits } from "../../core/ports/engine.ts";
import { type ChartMetadata, HelmEngineError } from "../../core/ports/helm-engine.ts";
import { type ReleaseValues, valuesFault } from "../../helm/read-values.ts";
import { compareSemver, readSemver } from "../../sources/semver-version.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { Blocked } from "./blocked.ts";
import type { Carried } from "./carried.ts";
import { type ChartSource, notFound } from "./chart-source.ts";
import { valuesError } from "./values.ts";

/** To load a chart and compose its values. */
const prepareLimits: EngineLimits = { maxCpuMs: 30_000, maxWallMs: 120_000, maxOutputBytes: 32 * 1024 * 1024 };

/** The inputs of a release, known before anything is rendered. */
export interface PreparedRelease {
  readonly metadata: ChartMetadata;
  readonly configDigest: string;
  readonly versionSuffix: string;
  readonly ociDigest: string;
  readonly bytes: (signal: AbortSignal) => Promise<Uint8Array>;
  /** For the next run. */
  readonly carried: NonNullable<Carried["prepared"]>;
}

/**
 * Loads the chart and composes the values, unless the last run has done so with the same.
 *
 * @throws Blocked of reason `ValuesError`, `ArtifactFailed` or `ChartMutateError`
 */
export async function prepareRelease(
  source: ChartSource,
  { references, values }: ReleaseValues,
  before: Carried["prepared"],
  ctx: HelmReleaseContext,
): Promise<PreparedRelease> {
  const { artifact, digest, tag } = source;
  const marked = marksOf(source, ctx.deps.gates);
  const key = digestOf(canonicalJson([digest, artifact.revision, marked.versionSuffix, { ...values }]));
  const bytes = async () => (await source.bytes()) ?? notFound(source.key, ctx);
  if (before?.key === key) {
    const { name, version, appVersion, configDigest } = before;
    const metadata = { name, version, ...(appVersion === undefined ? {} : { appVersion }) };
    return { metadata, configDigest, ...marked, bytes, carried: before };
  }
  const tenant = { cluster: ctx.run.key.cluster, namespace: ctx.namespace };
  const input = { tenant, chart: await bytes(), versionSuffix: marked.versionSuffix, values };
  const { chart, configDigest } = await ctx.deps.helm
    .prepare(input, prepareLimits, ctx.run.signal)
    .catch((error: unknown) => {
      throw error instanceof HelmEngineError ? refused(error, references, ctx) : error;
    });
  refuseOtherVersion(tag, chart);
  const carried = { key, configDigest, ...chart };
  return { metadata: chart, configDigest, ...marked, bytes, carried };
}

/** The mark of an artifact in the version of its chart, and the digest that the status shows (reference helmrelease 6). */
function marksOf(
  { artifact, ociDigest, tag }: ChartSource,
  { DisableChartDigestTracking: isUntracked }: Pick<FeatureGates, "DisableChartDigestTracking">,
): { readonly versionSuffix: string; readonly ociDigest: string } {
  if (ociDigest === "") return { versionSuffix: "", ociDigest: "" };
  const hex = ociDigest.slice(ociDigest.indexOf(":") + 1);
  const versionSuffix = isUntracked ? "" : `+${hex.slice(0, 12)}`;
  const isVersion = readSemver(tag.replaceAll("_", "+")) !== undefined;
  return { versionSuffix, ociDigest: isVersion || tag === "" ? ociDigest : artifact.revision };
}

function refuseOtherVersion(tag: string, { version }: ChartMetadata): void {
  const [wanted, found] = [readSemver(tag.replaceAll("_", "+")), readSemver(version)];
  if (wanted === undefined || found === undefined || compareSemver(wanted, found) === 0) return;
  const plain = version.replace(/\+.*$/, "");
  const message = `artifact revision ${tag} does not match chart version ${plain}`;
  // Flux has no event for it.
  throw new Blocked("ChartMutateError", message, { retry: "backoff" });
}

function refused(error: HelmEngineError, references: ReleaseValues["references"], ctx: HelmReleaseContext): unknown {
  const reference = error.reference === undefined ? undefined : references[error.reference];
  if (reference !== undefined) return valuesError(reference, valuesFault(reference, messageOf(error)), ctx, error);
  const message = messageOf(error);
  const event = { type: "Warning", message } as const;
  if (error.reason === "values") return new Blocked("ValuesError", message, { retry: "backoff", event, cause: error });
  if (error.reason === "busy" || error.reason === "unavailable") return error;
  // Flux's event lacks the beginning.
  return new Blocked("ArtifactFailed", `Could not load chart: ${message}`, {
    retry: "backoff",
    event,
    cause: error,
  });
}
