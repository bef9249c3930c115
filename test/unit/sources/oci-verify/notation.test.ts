import { describe, expect, test } from "vitest";
import { maxCertificateBytes } from "../../../../lib/sources/oci/verify/notation/certificate-chain.ts";
import { maxChainCertificates, maxEnvelopeBytes } from "../../../../lib/sources/oci/verify/notation/envelope.ts";
import { maxPolicyEntries } from "../../../../lib/sources/oci/verify/notation/trust-policy.ts";
import { maxTrustedCertificates } from "../../../../lib/sources/oci/verify/notation/trusted-certificates.ts";
import { maxNotationSignatures } from "../../../../lib/sources/oci/verify/notation/verify-notation.ts";
import { allNames, envelopeOf, middle, root, statement, verdictOn } from "./signed-by-notation.ts";

const jws = "application/jose+json";
const cose = "application/cose";
const level = (name: string, more: object = {}) => ({ ...statement, signatureVerification: { level: name, ...more } });
const other = [level("strict", { override: { revocation: "skip" } })];
/** After the one-day signature and the one-year certificate have expired. */
const late = Date.UTC(2027, 5, 1);

describe.each([jws, cose])("a signature of Notation as %s", (form) => {
  test.each(allNames.filter((name) => new RegExp(`^${form} (P-|RSA-)`).test(name)))("is valid: %s", async (name) => {
    expect((await verdictOn({ signatures: [name] })).verdict).toBe("verified");
  });

  test("of another artifact is invalid, at any level", async () => {
    for (const name of ["strict", "audit"]) {
      const { verdict } = await verdictOn({ signatures: [`${form} other`], statements: [level(name)] });
      expect(verdict).toMatch(
        /^signature verification failed\nfailed to verify signature with digest sha256:\S+, content descriptor mismatch$/,
      );
    }
  });

  test("that was changed is invalid, at any level", async () => {
    const { bytes, mediaType } = envelopeOf(`${form} P-256`);
    const changed =
      form === jws ? Buffer.from(bytes.toString().replace(/"payload":"..../, '"payload":"AAAA')) : flipped(bytes);
    const { verdict } = await verdictOn({ signatures: [{ bytes: changed, mediaType }], statements: [level("audit")] });
    expect(verdict).toContain("signature is invalid");
  });

  test("needs a trusted certificate between signer and root, and an untrusted one is refused", async () => {
    const signatures = [`${form} P-256`];
    expect((await verdictOn({ signatures, certificates: { "middle.pem": middle } })).verdict).toBe("verified");
    const { verdict } = await verdictOn({ signatures: [`${form} self`] });
    expect(verdict).toContain("the signature's certificate chain does not contain any trusted certificate");
  });

  test("must be by a trusted identity", async () => {
    const of = (identity: string) => ({ ...statement, trustedIdentities: [identity] });
    const subject = "x509.subject: C=US, ST=WA, O=Acme\\, Inc.";
    const verdicts = [subject, `${subject}, CN=signer`, `${subject}, CN=else`].map(async (identity) => {
      const { verdict } = await verdictOn({ signatures: [`${form} P-256`], statements: [of(identity)] });
      return verdict.replaceAll(/[\s\S]*does not match/g, "does not match");
    });
    expect(await Promise.all(verdicts)).toEqual([
      "verified",
      "verified",
      'does not match the X.509 trusted identities defined in the trust policy "all"',
    ]);
  });

  test.each([
    ["expiring", "digital signature has expired on 2026-11-29"],
    ["short", 'verification time is after certificate "C=US,ST=WA,O=Acme\\\\, Inc.,CN=short" validity period'],
  ])("that has expired is refused by a strict policy and only logged by a permissive one: %s", async (name, why) => {
    const signatures = [`${form} ${name}`];
    expect((await verdictOn({ signatures })).verdict).toBe("verified");
    expect((await verdictOn({ signatures, now: late })).verdict).toContain(why);
    const permissive = await verdictOn({ signatures, now: late, statements: [level("permissive")] });
    expect(permissive.verdict).toBe("verified");
    expect(permissive.reasons).toEqual([expect.stringContaining(why)]);
  });

  test("by a signing authority is checked at its signing time, with a trust store of that type", async () => {
    const signatures = [`${form} authority`];
    expect((await verdictOn({ signatures })).verdict).toBe("verified");
    const caOnly = [{ ...statement, trustStores: ["ca:acme"] }];
    expect((await verdictOn({ signatures, statements: caOnly })).verdict).toContain(
      "no trusted certificates are found",
    );
  });

  test("is refused if revocation checks are enforced, because Sluice does not ask for revocations", async () => {
    const signatures = [`${form} revocable`];
    expect((await verdictOn({ signatures })).verdict).toContain(
      "revocation status is unknown: neither OCSP nor a CRL is asked",
    );
    expect((await verdictOn({ signatures, statements: other })).verdict).toBe("verified");
  });

  test("of an untrusted signer is ignored at the level audit, and logged", async () => {
    const { verdict, reasons } = await verdictOn({ signatures: [`${form} self`], statements: [level("audit")] });
    expect(verdict).toBe("ignored");
    expect(reasons).toEqual([expect.stringContaining("verification check for type 'authenticity' failed")]);
  });

  test("that is cut off is refused", async () => {
    const { bytes, mediaType } = envelopeOf(`${form} P-256`);
    const cut = { bytes: bytes.subarray(0, bytes.length - 20), mediaType };
    expect((await verdictOn({ signatures: [cut] })).verdict).toMatch(/it is not a JWS|CBOR ends too early/);
  });
});

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.indexOf("targetArtifact");
  copy[at] = 0x54;
  return copy;
}

/** A signature as JSON whose first certificate has other bytes, in hexadecimal digits, in the place of some of its own. */
function withLeaf(name: string, [own, other]: readonly [string, string]) {
  const { bytes, mediaType } = envelopeOf(name);
  const changed = bytes.toString().replace(/(?<="x5c":\[")[^"]+/, (leaf) => {
    const digits = Buffer.from(leaf, "base64").toString("hex");
    if (!digits.includes(own)) throw new Error(`the certificate has no ${own}`);
    return Buffer.from(digits.replace(own, other), "hex").toString("base64");
  });
  return { bytes: Buffer.from(changed), mediaType };
}

describe("signatures of Notation", () => {
  test("11.3/83: are not requested at the level skip, whatever stores and identities the policy names", async () => {
    const { verdict, asked } = await verdictOn({
      signatures: [],
      statements: [level("skip")],
      certificates: { "a.crt": "bad" },
    });
    expect([verdict, asked]).toEqual(["ignored", []]);
  });

  test("are required", async () => {
    expect((await verdictOn({ signatures: [] })).verdict).toMatch(
      /^no signature is associated with "registry.test\/app@sha256:[0-9a-f]{64}", make sure the artifact was signed successfully$/,
    );
  });

  test("one valid signature of two is enough", async () => {
    const { verdict } = await verdictOn({ signatures: [`${jws} other`, `${jws} P-256`] });
    expect(verdict).toBe("verified");
  });

  test("one with a malformed certificate does not affect the others", async () => {
    const bad = withLeaf(`${jws} P-256`, ["06082a8648ce3d030107", "06082a8648ce3d03017f"]);
    expect((await verdictOn({ signatures: [bad, `${jws} P-256`] })).verdict).toBe("verified");
    const { verdict } = await verdictOn({ signatures: [bad] });
    expect(verdict).toMatch(/^signature verification failed\nfailed to verify signature with digest sha256:/);
  });

  test("at most maxNotationSignatures are checked", async () => {
    const bad = Array.from({ length: maxNotationSignatures }, (_, at) => ({
      bytes: Buffer.from(`${at}`),
      mediaType: jws,
    }));
    const { verdict, reasons } = await verdictOn({ signatures: [...bad, `${jws} P-256`] });
    expect(reasons).toHaveLength(maxNotationSignatures);
    expect(verdict).toBe(
      "signature evaluation stopped. The configured limit of 3 signatures to verify per artifact exceeded",
    );
  });

  test("an unknown encoding is named, and an envelope above maxEnvelopeBytes is not read", async () => {
    const unknown = { bytes: Buffer.from("a"), mediaType: "application/other" };
    expect((await verdictOn({ signatures: [unknown] })).verdict).toContain(
      "signature envelope format is not supported",
    );
    const large = { bytes: Buffer.alloc(maxEnvelopeBytes + 1), mediaType: jws };
    expect((await verdictOn({ signatures: [large] })).verdict).toContain(`more than ${maxEnvelopeBytes} bytes`);
  });

  test("a chain with more than maxChainCertificates is not read", async () => {
    const { bytes } = envelopeOf(`${jws} P-256`);
    const text = bytes.toString();
    const [, first = ""] = /"x5c":\["([^"]+)"/.exec(text) ?? [];
    const many = Array.from({ length: maxChainCertificates + 1 }, () => `"${first}"`).join(",");
    const changed = Buffer.from(text.replace(/"x5c":\[[^\]]*\]/, `"x5c":[${many}]`));
    const { verdict } = await verdictOn({ signatures: [{ bytes: changed, mediaType: jws }] });
    expect(verdict).toContain(`at most ${maxChainCertificates} certificates`);
  });

  test("a certificate above maxCertificateBytes is not read", async () => {
    const { bytes } = envelopeOf(`${jws} P-256`);
    const large = Buffer.alloc(maxCertificateBytes + 1).toString("base64");
    const changed = Buffer.from(bytes.toString().replace(/"x5c":\[[^\]]*\]/, `"x5c":["${large}"]`));
    const { verdict } = await verdictOn({ signatures: [{ bytes: changed, mediaType: jws }] });
    expect(verdict).toContain(`a certificate has more than ${maxCertificateBytes} bytes`);
  });

  test("a trust store may contain maxTrustedCertificates, in PEM", async () => {
    const signatures = [`${jws} P-256`];
    const many = { "a.pem": root.repeat(maxTrustedCertificates + 1) };
    expect((await verdictOn({ signatures, certificates: many })).verdict).toContain(
      `more than ${maxTrustedCertificates}`,
    );
    const bad = { "a.crt": "text" };
    expect((await verdictOn({ signatures, certificates: bad })).verdict).toBe(
      "failed to parse certificate 'a.crt': it is not in PEM",
    );
  });

  test("timestamps of an authority are refused if the policy requires them", async () => {
    const statements = [{ ...statement, trustStores: ["ca:acme", "tsa:acme"] }];
    expect((await verdictOn({ signatures: [`${jws} P-256`], statements })).verdict).toContain(
      "timestamps of an authority are not supported yet",
    );
    const after = [
      { ...level("strict", { verifyTimestamp: "afterCertExpiry" }), trustStores: ["ca:acme", "tsa:acme"] },
    ];
    expect((await verdictOn({ signatures: [`${jws} P-256`], statements: after })).verdict).toBe("verified");
  });
});

describe("the statement of a trust policy", () => {
  const named = (name: string, ...registryScopes: readonly string[]) => ({ ...level("skip"), name, registryScopes });

  test("for the repository takes precedence over the one for all", async () => {
    const own = { ...statement, name: "own", registryScopes: ["registry.test/app"] };
    expect((await verdictOn({ signatures: [], statements: [named("all", "*"), own] })).verdict).toContain(
      "no signature",
    );
    const others = { ...statement, name: "own", registryScopes: ["registry.test/other"] };
    expect((await verdictOn({ signatures: [], statements: [others, named("all", "*")] })).verdict).toBe("ignored");
    expect((await verdictOn({ signatures: [], statements: [others] })).verdict).toContain(
      "has no applicable trust policy statement",
    );
  });

  const strict = (more: object) => ({ ...statement, ...more });
  test.each<[string, object]>([
    ["trust policy document has empty version, version must be specified", {}],
    ['trust policy document uses unsupported version "2"', { version: "2" }],
    ["trust policy document can not have zero trust policy statements", { version: "1.0" }],
    ["a trust policy statement is missing a name", withStatements(strict({ name: "" }))],
    ["multiple trust policy statements use the same name", withStatements(statement, statement)],
    ["signature verification level is empty or missing", withStatements(level(""))],
    ['invalid signature verification level "constructor"', withStatements(level("constructor"))],
    [
      `can't be used to customize signature verification`,
      withStatements(level("skip", { override: { expiry: "log" } })),
    ],
    ['verification type "all" in custom', withStatements(level("strict", { override: { all: "log" } }))],
    ['verification action "no" in custom', withStatements(level("strict", { override: { expiry: "no" } }))],
    [
      '"integrity" verification can not be overridden',
      withStatements(level("strict", { override: { integrity: "log" } })),
    ],
    ['"expiry" verification can not be skipped', withStatements(level("strict", { override: { expiry: "skip" } }))],
    ["verifyTimestamp must be", withStatements(level("strict", { verifyTimestamp: "never" }))],
    ["is either missing trust stores or trusted identities", withStatements(strict({ trustStores: [] }))],
    ["has malformed trust store value", withStatements(strict({ trustStores: ["acme"] }))],
    ["uses an unsupported trust store type", withStatements(strict({ trustStores: ["x:acme"] }))],
    ["uses an unsupported trust store name", withStatements(strict({ trustStores: ["ca:../acme"] }))],
    ["a wildcard identity cannot be used", withStatements(strict({ trustedIdentities: ["*", "x509.subject:C=US"] }))],
    ["has an empty trusted identity", withStatements(strict({ trustedIdentities: [""] }))],
    ["missing separator", withStatements(strict({ trustedIdentities: ["acme"] }))],
    ["without an identity value", withStatements(strict({ trustedIdentities: ["x509.subject:"] }))],
    [
      'has no mandatory RDN attribute for "ST"',
      withStatements(strict({ trustedIdentities: ["x509.subject:C=US,O=a"] })),
    ],
    [
      "has overlapping x509 trustedIdentities",
      withStatements(
        strict({ trustedIdentities: ["x509.subject:C=US,ST=WA,O=a", "x509.subject:C=US,ST=WA,O=a,CN=b"] }),
      ),
    ],
    [
      `trustPolicies[0].registryScopes has more than ${maxPolicyEntries} items`,
      withStatements(strict({ registryScopes: Array.from({ length: maxPolicyEntries + 1 }, () => "a") })),
    ],
    ["has zero registry scopes", withStatements(strict({ registryScopes: [] }))],
    ["a wildcard scope cannot be used", withStatements(strict({ registryScopes: ["*", "a.test/b"] }))],
    [
      'registry scope "https://a.test/b" is not valid',
      withStatements(strict({ registryScopes: ["https://a.test/b"] })),
    ],
    ["is present in multiple trust policy statements", withStatements(statement, strict({ name: "b" }))],
  ])("%s", async (why, policy) => {
    expect((await verdictOn({ signatures: [], policy })).verdict).toContain(why);
  });
});

function withStatements(...trustPolicies: readonly object[]) {
  return { version: "1.0", trustPolicies };
}
