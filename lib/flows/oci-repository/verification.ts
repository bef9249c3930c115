import { isTrue } from "../../api/condition.ts";
import type { OciRepositorySpec } from "../../api/oci-repository.ts";
import type { Artifact } from "../../api/source.ts";
import { type Digest, digestOf } from "../../core/digest.ts";
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
 * What is recorded once the signature of a revision is verified for a generation: a user who can write the status can write the condition
 * as well, so the condition alone proves nothing.
 */
export function recordedProofs({ revision }: Pick<Artifact, "revision">, generation: number): readonly Digest[] {
  return [proofOf(revision, generation)];
}

function proofOf(revision: string, generation: number): Digest {
  return digestOf(`signature of ${revision} verified for generation ${generation}`);
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
  if (isStored && (await isProven(revision, ctx))) return;
  await warnOfAnySigner(verify, ctx);
  const { verifyOciSignature } = await import("../signature/verify-oci-signature.ts");
  const verdict = await verifyOciSignature(artifact, verify, ctx).catch((error: unknown) => {
    if (!isStored) ctx.setStatus(outdated(ctx.status(), message, ctx.now()));
    throw error;
  });
  if (verdict === "ignored") return;
  const { deps, live, run } = ctx;
  const proof = proofOf(revision, ctx.now().generation);
  await deps.records.record(run.key, live.metadata.uid, proof, run.fence, run.signal);
  const said = { reason: "Succeeded", message: `verified signature of revision ${revision}` };
  ctx.setStatus(setConditions(ctx.status(), [{ ...said, type: "SourceVerified", status: "True" }], ctx.now()));
}

/** Whether the condition says so, which a failed verification takes back, and a run has recorded it. */
async function isProven(revision: string, ctx: SourceContext): Promise<boolean> {
  const { deps, live, run } = ctx;
  if (!isTrue(ctx.status().conditions ?? [], "SourceVerified")) return false;
  return deps.records.recorded(run.key, live.metadata.uid, proofOf(revision, ctx.now().generation), run.signal);
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
