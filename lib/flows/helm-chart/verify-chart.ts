import type { HelmChartSpec } from "../../api/helm-chart.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { IndexedChart } from "../../sources/helm/chart-entry.ts";
import { chartFailure } from "../../sources/helm/chart-failure.ts";
import { RepositoryFault } from "../../sources/helm/repository-fault.ts";
import { RegistryFault } from "../../sources/oci/registry-fault.ts";
import { removeConditions, setConditions } from "../conditions.ts";
import { secretData } from "../source/secrets.ts";
import type { SourceContext } from "../source/source-context.ts";
import type { ChartRepository } from "./chart-repository.ts";
import { unknownFailure } from "./unknown-failure.ts";

/** The faults that are found before any signature is checked: those of the Secret of `spec.verify`. */
const ofSetup =
  /^(?:secrets "|secret '|no certificates found|'trustpolicy\.json' not found|verification secret|PEM decoding failed|unknown Public key|failed to parse the public key|unsupported public key)/;

/**
 * The chart with the digest that its signatures cover, by which it is then pulled; without `spec.verify` the chart unchanged. Each
 * run verifies, as in Flux (reference sources 7.6). Sets the condition SourceVerified. Throws a `Failure` with Flux's reason and
 * text.
 */
export async function verifyChart(
  { verify }: HelmChartSpec,
  chart: IndexedChart,
  repository: ChartRepository,
  ctx: SourceContext,
): Promise<IndexedChart> {
  if (verify === undefined) {
    ctx.setStatus(removeConditions(ctx.status(), ["SourceVerified"]));
    return chart;
  }
  if (repository.signed === undefined) {
    const mend = "charts of a repository with an index have no signatures: use one of type oci, or remove spec.verify";
    throw chartFailure("ChartVerificationError", `not implemented; ${mend}`);
  }
  await refuseEmptySecret(verify, ctx);
  const [url = chart.name] = chart.urls;
  const failed = (why: string, cause: unknown): Failure =>
    chartFailure("ChartVerificationError", `failed to verify ${url}: ${why}`, cause);
  const artifact = await repository.signed(chart, ctx.run.signal).catch((error: unknown) => {
    if (!(error instanceof RepositoryFault)) throw error;
    const isMissing = error.cause instanceof RegistryFault && error.cause.reason === "not-found";
    // As cosign says it.
    const missing = verify.provider === "cosign" && isMissing ? "image tag not found: " : "";
    throw failed(`${missing}${error.message}`, error);
  });
  const { verifyOciSignature } = await import("../signature/verify-oci-signature.ts");
  const verdict = await verifyOciSignature(artifact, verify, ctx).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    const why = messageOf(error.cause ?? error);
    throw ofSetup.test(why) ? unknownFailure("VerificationError", error.message, error) : failed(why, error);
  });
  if (verdict === "verified") {
    const said = { reason: "Succeeded", message: `verified signature of version ${chart.version}` };
    ctx.setStatus(setConditions(ctx.status(), [{ ...said, type: "SourceVerified", status: "True" }], ctx.now()));
  }
  return { ...chart, digest: artifact.digest };
}

/** Without a Secret or its keys no signature could be valid: Flux says so before it checks any. */
async function refuseEmptySecret(
  { provider, secretRef }: NonNullable<HelmChartSpec["verify"]>,
  ctx: SourceContext,
): Promise<void> {
  const failed = (why: string): Failure =>
    unknownFailure(
      "VerificationError",
      `failed to verify the signature using provider '${provider}': ${why}`,
      undefined,
    );
  if (provider === "notation" && secretRef === undefined) {
    throw failed(`verification secret cannot be empty: '${ctx.run.key.name}'`);
  }
  if (provider !== "cosign" || secretRef === undefined) return;
  const data = await secretData(secretRef.name, ctx);
  if (data === undefined || [...data.keys()].some((name) => name.endsWith(".pub"))) return;
  throw failed(`no public keys found in secret '${ctx.namespace}/${secretRef.name}'`);
}
