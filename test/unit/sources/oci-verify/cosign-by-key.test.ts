import { generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  maxBundleBytes,
  maxBundleEntries,
  maxBundlePartChars,
  maxStatementSubjects,
} from "../../../../lib/sources/oci/verify/bundles.ts";
import { maxPublicKeys, verifyByKeys } from "../../../../lib/sources/oci/verify/cosign-by-key.ts";
import { maxPayloadBytes, maxSignaturesTried } from "../../../../lib/sources/oci/verify/simple-signatures.ts";
import {
  claimOf,
  encodingOf,
  keyBundle,
  pushReferrer,
  pushSimple,
  signedBy,
  signSimply,
  simpleLayer,
  statementOf,
} from "../../../doubles/cosign-signatures.ts";
import { checkingAt, memoryRegistry } from "../../../doubles/memory-registry.ts";

const ec = (namedCurve = "P-256") => generateKeyPairSync("ec", { namedCurve });
const [alice, mallory] = [ec(), ec()];
const spki = ({ publicKey }: KeyPairKeyObjectResult): string =>
  String(publicKey.export({ type: "spki", format: "pem" }));
const keys = (...pairs: readonly KeyPairKeyObjectResult[]) =>
  new Map(pairs.map((pair, index) => [`${index}.pub`, spki(pair)]));
const json = (value: object) => Buffer.from(JSON.stringify(value));

/** The reasons for which signatures of an artifact are not taken, and how the check ends. */
async function refusals(artifact: Awaited<ReturnType<ReturnType<typeof memoryRegistry>["artifact"]>>) {
  const checking = checkingAt();
  await expect(verifyByKeys(artifact, keys(alice), checking)).rejects.toThrow(
    `no matching signatures were found for '${artifact.reference}'`,
  );
  return checking.reasons;
}

describe("public keys of cosign", () => {
  test.each([
    ["ECDSA P-256", ec()],
    ["ECDSA P-384", ec("P-384")],
    ["ECDSA P-521", ec("P-521")],
    ["RSA", generateKeyPairSync("rsa", { modulusLength: 2048 })],
    ["Ed25519", generateKeyPairSync("ed25519")],
  ])("%s verifies both forms of a signature", async (_name, pair) => {
    const simple = await memoryRegistry().artifact();
    await signSimply(simple, pair.privateKey);
    await expect(verifyByKeys(simple, keys(pair), checkingAt())).resolves.toBeUndefined();
    const bundled = await memoryRegistry().artifact();
    await pushReferrer(bundled, json(keyBundle(pair.privateKey, statementOf(bundled.digest))));
    await expect(verifyByKeys(bundled, keys(pair), checkingAt())).resolves.toBeUndefined();
  });

  test("one of several is enough", async () => {
    const artifact = await memoryRegistry().artifact();
    await signSimply(artifact, alice.privateKey);
    await expect(verifyByKeys(artifact, keys(mallory, alice), checkingAt())).resolves.toBeUndefined();
  });

  test("an RSA key may be in the older PEM form", async () => {
    const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const artifact = await memoryRegistry().artifact();
    await signSimply(artifact, pair.privateKey);
    const pem = String(pair.publicKey.export({ type: "pkcs1", format: "pem" }));
    await expect(verifyByKeys(artifact, new Map([["a.pub", pem]]), checkingAt())).resolves.toBeUndefined();
  });

  test.each([
    ["no key", "PEM decoding failed"],
    [
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
      "unknown Public key PEM file type: CERTIFICATE. Are you passing the correct public key?",
    ],
    ["-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "failed to parse the public key"],
    [spki(ec("secp256k1")), "unsupported public key type: use ECDSA (P-256, P-384, P-521), RSA or Ed25519"],
  ])("one that cannot be parsed ends the check, whatever the others say: %j", async (pem, why) => {
    const artifact = await memoryRegistry().artifact();
    await signSimply(artifact, alice.privateKey);
    const both = new Map([...keys(alice), ["z.pub", pem]]);
    await expect(verifyByKeys(artifact, both, checkingAt())).rejects.toThrow(
      `${why}; the key is 'z.pub' of the Secret`,
    );
  });

  test("are limited to maxPublicKeys", async () => {
    const artifact = await memoryRegistry().artifact();
    const many = new Map(Array.from({ length: maxPublicKeys + 1 }, (_, index) => [`${index}.pub`, spki(alice)]));
    await expect(verifyByKeys(artifact, many, checkingAt())).rejects.toThrow(`more than ${maxPublicKeys} public keys`);
  });
});

describe("signatures of cosign 2", () => {
  test("one valid signature of two is enough", async () => {
    const artifact = await memoryRegistry().artifact();
    await signSimply(artifact, mallory.privateKey, alice.privateKey);
    const checking = checkingAt();
    await expect(verifyByKeys(artifact, keys(alice), checking)).resolves.toBeUndefined();
    expect(checking.reasons).toEqual(["no key has made a signature"]);
  });

  test("a signature of another digest does not count, even with the right key", async () => {
    const artifact = await memoryRegistry().artifact();
    const other = `sha256:${"0".repeat(64)}`;
    await pushSimple(artifact, [simpleLayer(alice.privateKey, claimOf(other))]);
    expect(await refusals(artifact)).toEqual([`invalid or missing digest in claim: ${other}`]);
  });

  test("a claim of another type does not count", async () => {
    const artifact = await memoryRegistry().artifact();
    const claims = [claimOf(artifact.digest, "something else"), Buffer.from("{}"), Buffer.from("text")];
    await pushSimple(
      artifact,
      claims.map((claim) => simpleLayer(alice.privateKey, claim)),
    );
    expect(await refusals(artifact)).toEqual([
      "the signed payload is of another type than cosign container image signature",
      "the signed payload is not a claim of simple signing",
      "the signed payload is not a claim of simple signing",
    ]);
  });

  test("a layer without a signature and a payload above maxPayloadBytes are skipped", async () => {
    const artifact = await memoryRegistry().artifact();
    const large = Buffer.alloc(maxPayloadBytes + 1);
    await pushSimple(artifact, [{ payload: Buffer.from("a"), annotations: {} }, simpleLayer(alice.privateKey, large)]);
    expect(await refusals(artifact)).toEqual([
      expect.stringMatching(/^the layer sha256:\S+ of sha256-\S+\.sig has no signature$/),
      expect.stringMatching(/more than 65536 bytes$/),
    ]);
  });

  test("at most maxSignaturesTried are checked", async () => {
    const artifact = await memoryRegistry().artifact();
    const layer = simpleLayer(alice.privateKey, claimOf(artifact.digest));
    await pushSimple(
      artifact,
      Array.from({ length: maxSignaturesTried + 1 }, () => layer),
    );
    expect(await refusals(artifact)).toEqual([
      expect.stringMatching(/^the manifest \S+ is not a readable manifest of signatures/),
    ]);
  });
});

describe("bundles of cosign 3", () => {
  const bundle = (digest: string, pair = alice) => keyBundle(pair.privateKey, statementOf(digest));

  test("are requested before signatures of cosign 2", async () => {
    const own = memoryRegistry();
    const { asked } = own;
    const artifact = await own.artifact();
    await pushReferrer(artifact, json(bundle(artifact.digest)));
    await signSimply(artifact, alice.privateKey);
    asked.length = 0;
    await expect(verifyByKeys(artifact, keys(alice), checkingAt())).resolves.toBeUndefined();
    expect(asked.filter((one) => one.endsWith(".sig"))).toEqual([]);
  });

  test("signatures of cosign 2 still count if a bundle has another signer", async () => {
    const artifact = await memoryRegistry().artifact();
    await pushReferrer(artifact, json(bundle(artifact.digest, mallory)));
    await signSimply(artifact, alice.privateKey);
    await expect(verifyByKeys(artifact, keys(alice), checkingAt())).resolves.toBeUndefined();
  });

  test.each<[string, (digest: string) => object, string]>([
    ["a statement about another digest", () => bundle(`sha256:${"0".repeat(64)}`), "another digest"],
    ["another signer", (digest) => bundle(digest, mallory), "no key has signed a bundle"],
    [
      "an older version",
      (digest) => ({ ...bundle(digest), mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.2" }),
      "bundle version too old",
    ],
    [
      "a signature without a statement",
      (digest) => ({
        ...bundle(digest),
        dsseEnvelope: undefined,
        messageSignature: {
          messageDigest: { algorithm: "SHA2_256", digest: Buffer.from(digest.slice(7), "hex").toString("base64") },
          signature: "AAAA",
        },
      }),
      "bundle does not contain a DSSE envelope",
    ],
    ["nothing", () => ({}), "not JSON of a Sigstore bundle"],
    [
      "more than maxBundleEntries entries",
      (digest) => ({
        ...bundle(digest),
        verificationMaterial: {
          publicKey: { hint: "" },
          tlogEntries: Array.from({ length: maxBundleEntries + 1 }, () => ({})),
        },
      }),
      "or too large",
    ],
    [
      "a certificate of more than maxBundlePartChars",
      (digest) => ({
        ...bundle(digest),
        verificationMaterial: { certificate: { rawBytes: "A".repeat(maxBundlePartChars + 1) } },
      }),
      "or too large",
    ],
    ["two signatures", (digest) => twice(bundle(digest)), "the bundle cannot be read"],
  ])("%s does not count", async (_name, make, why) => {
    const artifact = await memoryRegistry().artifact();
    await pushReferrer(artifact, json(make(artifact.digest)));
    expect(await refusals(artifact)).toEqual([expect.stringContaining(why)]);
  });

  test("a statement with more than maxStatementSubjects subjects is ignored", async () => {
    const artifact = await memoryRegistry().artifact();
    const subject = { digest: { sha256: artifact.digest.slice("sha256:".length) } };
    const statement = Buffer.from(
      JSON.stringify({ subject: Array.from({ length: maxStatementSubjects + 1 }, () => subject) }),
    );
    await pushReferrer(artifact, json(keyBundle(alice.privateKey, statement)));
    expect(await refusals(artifact)).toEqual(["a signed statement is about another digest"]);
  });

  test("one above maxBundleBytes is skipped", async () => {
    const artifact = await memoryRegistry().artifact();
    await pushReferrer(artifact, Buffer.alloc(maxBundleBytes + 1, " "));
    expect(await refusals(artifact)).toEqual([expect.stringContaining(`more than ${maxBundleBytes} bytes`)]);
  });

  test("other referrers are skipped, and at most maxSignaturesTried bundles are checked", async () => {
    const own = memoryRegistry();
    const { asked } = own;
    const artifact = await own.artifact();
    const other = await pushReferrer(artifact, Buffer.from("{}"), {
      artifactType: "application/spdx+json",
      mediaType: "text/plain",
    });
    for (let index = 0; index <= maxSignaturesTried; index++) await pushReferrer(artifact, Buffer.from(`${index}`));
    asked.length = 0;
    const reasons = await refusals(artifact);
    expect(asked).not.toContain(other);
    expect(reasons.at(-1)).toBe(`only ${maxSignaturesTried} bundles are tried`);
    expect(reasons).toHaveLength(maxSignaturesTried + 1);
  });

  test("the signature covers the envelope's type and its payload", async () => {
    const artifact = await memoryRegistry().artifact();
    const statement = statementOf(artifact.digest);
    const signature = signedBy(alice.privateKey, encodingOf(statement, "text/plain")).toString("base64");
    const whole = { ...bundle(artifact.digest), dsseEnvelope: envelope(statement, signature) };
    await pushReferrer(artifact, json(whole));
    expect(await refusals(artifact)).toEqual(["no key has signed a bundle"]);
  });
});

function envelope(statement: Buffer, ...signatures: readonly string[]) {
  const payloadType = "application/vnd.in-toto+json";
  return { payload: statement.toString("base64"), payloadType, signatures: signatures.map((sig) => ({ sig })) };
}

function twice(bundle: object) {
  return { ...bundle, dsseEnvelope: envelope(Buffer.from("{}"), "AAAA", "AAAA") };
}
