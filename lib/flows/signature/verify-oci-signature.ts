import type { SignatureVerification } from "../../api/oci-repository.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { HttpError } from "../../core/ports/http.ts";
import { RegistryLoginError } from "../../core/ports/registry-login.ts";
import { RegistryFault } from "../../sources/oci/registry-fault.ts";
import type { KeylessTrust } from "../../sources/oci/verify/cosign-keyless.ts";
import { SignatureFault } from "../../sources/oci/verify/signature-fault.ts";
import type { Checking, SignedArtifact } from "../../sources/oci/verify/signed-artifact.ts";
import { secretData } from "../source/secrets.ts";
import type { SourceContext } from "../source/source-context.ts";

/** What a check needs from the run: the namespace of its Secrets, the time, and the log. */
type SignatureContext = Pick<SourceContext, "deps" | "home" | "namespace" | "run">;

/**
 * Verifies the signature of an artifact in a registry as `spec.verify` asks for it (reference sources 3.6), for every kind of source that
 * has the field. Nothing of the artifact is downloaded.
 *
 * @returns `verified`; `ignored` if a trust policy of Notation requires no proof: the artifact is accepted, but not reported as verified
 * @throws {Failure} `VerificationError` with Flux's text, to be tried again; its `cause` has the text without what Flux puts before it
 */
export async function verifyOciSignature(
  artifact: SignedArtifact,
  verify: SignatureVerification,
  ctx: SignatureContext,
): Promise<"ignored" | "verified"> {
  const { clock, log } = ctx.deps;
  const { signal, key } = ctx.run;
  const { reference } = artifact;
  const checking: Checking = {
    now: clock.now(),
    signal,
    refused: (why) => log.info("signature not accepted", { ...key, artifact: reference, why }),
  };
  try {
    switch (verify.provider) {
      case "cosign":
        await verifyByCosign(artifact, verify, checking, ctx);
        return "verified";
      case "notation":
        return await verifyByNotation(artifact, verify, checking, ctx);
    }
  } catch (error) {
    signal.throwIfAborted();
    const isForeseen =
      error instanceof SignatureFault ||
      error instanceof RegistryFault ||
      error instanceof HttpError ||
      error instanceof RegistryLoginError;
    if (!isForeseen) throw error;
    const isKeyless = verify.provider === "cosign" && verify.secretRef === undefined;
    const provider = `${verify.provider}${isKeyless ? " keyless" : ""}`;
    const text = `failed to verify the signature using provider '${provider}': ${messageOf(error)}`;
    throw new Failure("VerificationError", text, { cause: error });
  }
}

async function verifyByCosign(
  artifact: SignedArtifact,
  { secretRef, matchOIDCIdentity: identities = [], trustedRootSecretRef }: SignatureVerification,
  checking: Checking,
  ctx: SignatureContext,
): Promise<void> {
  const trust: KeylessTrust = {
    identities,
    ...(trustedRootSecretRef === undefined ? {} : { trustedRoot: await trustedRoot(trustedRootSecretRef.name, ctx) }),
  };
  if (secretRef === undefined) {
    const { verifyKeyless } = await import("../../sources/oci/verify/cosign-keyless.ts");
    return verifyKeyless(artifact, trust, checking);
  }
  const data = await verificationSecret(secretRef.name, ctx);
  // In the order of their names, so that the same Secret always fails with the same text.
  const keys = [...data].filter(([name]) => name.endsWith(".pub")).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const { noMatch, verifyByKeys } = await import("../../sources/oci/verify/cosign-by-key.ts");
  if (keys.length === 0) {
    throw new SignatureFault(`${noMatch(artifact.reference).message}; the Secret has no key that ends in .pub`);
  }
  return verifyByKeys(artifact, new Map(keys), checking);
}

async function verifyByNotation(
  artifact: SignedArtifact,
  { secretRef }: SignatureVerification,
  checking: Checking,
  ctx: SignatureContext,
): Promise<"ignored" | "verified"> {
  if (secretRef === undefined) throw new SignatureFault(`verification secret cannot be empty: '${artifact.reference}'`);
  const data = await verificationSecret(secretRef.name, ctx);
  const secret = `secret '${ctx.namespace}/${secretRef.name}'`;
  const policy = data.get("trustpolicy.json");
  if (policy === undefined) throw new SignatureFault(`'trustpolicy.json' not found in ${secret}`);
  const { parseTrustPolicy } = await import("../../sources/oci/verify/notation/trust-policy.ts");
  const parsed = parseTrustPolicy(policy);
  const certificates = [...data].filter(([name]) => name.endsWith(".crt") || name.endsWith(".pem"));
  if (certificates.length === 0) throw new SignatureFault(`no certificates found in ${secret}`);
  const { verifyNotation } = await import("../../sources/oci/verify/notation/verify-notation.ts");
  return verifyNotation(artifact, { policy: parsed, certificates: new Map(certificates) }, checking);
}

/** The fault of a Secret of `spec.verify`, in the words of the Kubernetes client, which Flux passes on. */
async function verificationSecret(name: string, ctx: SignatureContext): Promise<ReadonlyMap<string, string>> {
  const data = await secretData(name, ctx).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw new SignatureFault(error.message.replace(/^failed to get credential: failed to get secret '[^']*': /, ""), {
      cause: error,
    });
  });
  if (data === undefined) throw new SignatureFault(`secrets ${JSON.stringify(name)} not found`);
  return data;
}

const trustedRootKey = "trusted_root.json";

async function trustedRoot(name: string, ctx: SignatureContext): Promise<string> {
  const failed = (why: string, cause?: unknown): SignatureFault =>
    new SignatureFault(`failed to read trusted root from secret '${ctx.namespace}/${name}': ${why}`, { cause });
  const data = await verificationSecret(name, ctx).catch((error: unknown) => {
    throw error instanceof SignatureFault ? failed(error.message, error) : error;
  });
  const text = data.get(trustedRootKey);
  if (text === undefined) throw failed(`'${trustedRootKey}' not found in secret '${ctx.namespace}/${name}'`);
  return text;
}
