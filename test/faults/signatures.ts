import type { FileFaults } from "./fault.ts";

const unit = "test/unit/sources/oci-verify";
const flow = "test/unit/flows/oci-repository/verification.test.ts";

/** Likely mistakes in whose signature of an artifact counts. */
export const signatureFaults: readonly FileFaults[] = [
  {
    file: "lib/sources/oci/verify/simple-signatures.ts",
    tests: [`${unit}/cosign-by-key.test.ts`],
    faults: [
      {
        what: "a signature of another digest counts",
        find: "return claimed === digest ? undefined :",
        replace: 'return claimed !== "" ? undefined :',
      },
    ],
  },
  {
    file: "lib/sources/oci/verify/cosign-by-key.ts",
    tests: [`${unit}/cosign-by-key.test.ts`],
    faults: [
      {
        what: "a statement about another digest counts",
        find: "else if (isAbout(artifact.digest)) return;",
        replace: 'else if (isAbout(artifact.digest) || artifact.digest !== "") return;',
      },
      {
        what: "every key must have signed",
        find: "return keys.some((key)",
        replace: "return keys.every((key)",
      },
    ],
  },
  {
    file: "lib/sources/oci/verify/identities.ts",
    tests: [`${unit}/cosign-keyless.test.ts`],
    faults: [
      {
        what: "issuer or subject is enough",
        find: "one.issuer.matcher(issuer).find() && one.subject",
        replace: "one.issuer.matcher(issuer).find() || one.subject",
      },
    ],
  },
  {
    file: "lib/sources/oci/verify/cosign-keyless.ts",
    tests: [`${unit}/cosign-keyless.test.ts`],
    faults: [
      {
        what: "the entry of the log may be of another certificate",
        find: "if (body === undefined || !namesCertificate(body, certificate)) {",
        replace: "if (body === undefined) {",
      },
    ],
  },
  {
    file: "lib/sources/oci/verify/notation/verify-notation.ts",
    tests: [`${unit}/notation.test.ts`],
    faults: [
      {
        what: "a signature of another artifact counts",
        find: 'if (!isSame) throw new EnvelopeFault("content descriptor mismatch");',
        replace: "",
      },
      {
        what: "an untrusted signer counts as verified where the policy only logs",
        find: 'return isAuthentic ? "verified" : "ignored";',
        replace: 'return isAuthentic ? "verified" : "verified";',
      },
    ],
  },
  {
    file: "lib/flows/oci-repository/verification.ts",
    tests: [flow],
    faults: [
      {
        what: "a revision that was stored without verification counts as verified",
        find: "if (isStored && (await isProven(revision, ctx))) return;",
        replace: "if (isStored) return;",
      },
      {
        what: "the condition alone counts, so a user who can write the status can forge it",
        find: "if (isStored && (await isProven(revision, ctx))) return;",
        replace: 'if (isStored && isTrue(ctx.status().conditions ?? [], "SourceVerified")) return;',
      },
      {
        what: "what was verified for an older generation counts",
        find: "verified for generation ${generation}`",
        replace: "verified for generation ${generation > 0}`",
      },
      {
        what: "a condition of a spec without verify stays",
        find: 'ctx.setStatus(removeConditions(ctx.status(), ["SourceVerified"]));',
        replace: "",
      },
    ],
  },
];
