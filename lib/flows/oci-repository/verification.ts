import { findCondition } from "../../api/condition.ts";
import type { OciRepositorySpec } from "../../api/oci-repository.ts";
import type { SignedArtifact } from "../../sources/oci/verify/signed-artifact.ts";
import { removeConditions, setConditions } from "../conditions.ts";
import { outdated } from "../source/source-conditions.ts";
import type { SourceContext } from "../source/source-context.ts";

/** The revision that `spec.ref` points to now. */
interface Revision {
  readonly revision: string;
  readonly artifact: SignedArtifact;
  /** The status of the revision before it is stored. */
  readonly outdated: string;
}

/**
 * Verifies the signature that `spec.verify` requires, and sets the condition SourceVerified (not yet written), before any part of the
 * artifact is downloaded. A revision that is stored and was verified for this generation is not verified again (reference 3.3, step
 * 5); without `spec.verify` the condition is removed.
 *
 * @throws {Failure} `VerificationError`; the status then names the revision, as in Flux
 */
export async function verifyRevision(
  { verify }: Pick<OciRepositorySpec, "verify">,
  { revision, artifact, outdated: message }: Revision,
  ctx: SourceContext,
): Promise<void> {
  if (verify === undefined) {
    ctx.setStatus(removeConditions(ctx.status(), ["SourceVerified"]));
    return;
  }
  const isStored = ctx.status().artifact?.revision === revision;
  const { generation } = ctx.now();
  const proven = findCondition(ctx.status().conditions ?? [], "SourceVerified");
  if (isStored && proven?.status === "True" && proven.observedGeneration === generation) return;
  await warnOfAnySigner(verify, ctx);
  const { verifyOciSignature } = await import("../signature/verify-oci-signature.ts");
  const verdict = await verifyOciSignature(artifact, verify, ctx).catch((error: unknown) => {
    if (!isStored) ctx.setStatus(outdated(ctx.status(), message, ctx.now()));
    throw error;
  });
  if (verdict === "ignored") return;
  const said = { reason: "Succeeded", message: `verified signature of revision ${revision}` };
  ctx.setStatus(setConditions(ctx.status(), [{ ...said, type: "SourceVerified", status: "True" }], ctx.now()));
}

/** Without identities any signer of the authority counts, as in Flux: a Warning says so, once for each generation. */
async function warnOfAnySigner(verify: OciRepositorySpec["verify"], ctx: SourceContext): Promise<void> {
  const isKeyless = verify?.provider === "cosign" && verify.secretRef === undefined;
  if (!isKeyless || (verify.matchOIDCIdentity ?? []).length > 0) return;
  const { generation } = ctx.now();
  if ((ctx.before.conditions ?? []).some(({ observedGeneration }) => observedGeneration === generation)) return;
  const message =
    "spec.verify.matchOIDCIdentity is unset, so a signature of any identity is accepted: name the issuer and subject that may sign";
  await ctx.record({ type: "Warning", reason: "AnySignerAccepted", message, annotations: {} });
}
