import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { initializeCA } from "@sigstore/mock/dist/fulcio/ca.js";
import { initializeCTLog } from "@sigstore/mock/dist/fulcio/ctlog.js";
import { initializeTLog } from "@sigstore/mock/dist/rekor/tlog.js";
import { z } from "zod";
import { bundleType, encodingOf, type SimpleLayer, statementType } from "./cosign-signatures.ts";

const issuerExtension = "1.3.6.1.4.1.57264.1.8";
const logUrl = "https://rekor.test";
const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const base64 = (bytes: ArrayBufferView) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
const pemOf = (certificate: string) => `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`;

const LogEntry = z.object({
  body: z.string(),
  integratedTime: z.number(),
  logIndex: z.number(),
  logID: z.string(),
  verification: z.object({
    signedEntryTimestamp: z.string(),
    inclusionProof: z.object({
      logIndex: z.number(),
      treeSize: z.number(),
      rootHash: z.string(),
      checkpoint: z.string(),
    }),
  }),
});

/** Who signs. */
export interface Person {
  readonly subject: string;
  readonly issuer: string;
}

/** When the certificate was issued, and when the log took the entry; the same time for both unless one is given. */
export interface Times {
  readonly issued?: Date;
  readonly logged?: Date;
}

/** A Fulcio, a certificate log and a Rekor that this process made up, and what they answer to someone who signs. */
export async function ownSigstore() {
  // The authority's own certificate begins at the time of the machine.
  const now = new Date(Date.now() + 60_000);
  const [authorityKeys, ctKeys, logKeys] = [generateKeyPairSync("ec", { namedCurve: "P-384" }), p256(), p256()];
  const ctLog = await initializeCTLog(ctKeys, now);
  const log = await initializeTLog(logUrl, logKeys, now);
  const authority = await initializeCA(authorityKeys, ctLog, now);
  const keyId = (der: Uint8Array) => createHash("sha256").update(der).digest("base64");
  const instance = (baseUrl: string, der: Uint8Array) => ({
    baseUrl,
    hashAlgorithm: "SHA2_256",
    publicKey: {
      rawBytes: base64(der),
      keyDetails: "PKIX_ECDSA_P256_SHA_256",
      validFor: { start: "2020-01-01T00:00:00Z" },
    },
    logId: { keyId: keyId(der) },
  });
  const trustedRoot = {
    mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    tlogs: [instance(logUrl, log.publicKey)],
    ctlogs: [instance("https://ct.test", ctLog.publicKey)],
    certificateAuthorities: [
      {
        subject: { organization: "sigstore.mock", commonName: "sigstore" },
        uri: "https://fulcio.test",
        certChain: { certificates: [{ rawBytes: base64(authority.rootCertificate) }] },
        validFor: { start: "2020-01-01T00:00:00Z" },
      },
    ],
    timestampAuthorities: [],
  };

  async function certificate({ subject, issuer }: Person, { issued = now }: Times) {
    const keys = p256();
    const { issueCertificate } = await initializeCA(authorityKeys, ctLog, issued).then((one) => ({
      issueCertificate: one.issueCertificate.bind(one),
    }));
    const publicKey = keys.publicKey.export({ format: "der", type: "spki" });
    const extensions = [{ oid: issuerExtension, value: issuer }];
    const der = await issueCertificate({ publicKey: new Uint8Array(publicKey), subjectAltName: subject, extensions });
    return { keys, rawBytes: base64(der) };
  }

  async function entry(proposed: object, { logged = now }: Times) {
    const at = logged === now ? log : await initializeTLog(logUrl, logKeys, logged);
    const answer: unknown = await at.log(proposed);
    return LogEntry.parse(Object.values(z.record(z.string(), z.unknown()).parse(answer))[0]);
  }

  return {
    now,
    trustedRoot,
    /** A layer as cosign 2 writes it without a key. */
    async simpleLayer(person: Person, payload: Uint8Array, times: Times = {}): Promise<SimpleLayer> {
      const { keys, rawBytes } = await certificate(person, times);
      const signature = sign("sha256", payload, keys.privateKey).toString("base64");
      const found = await entry(
        {
          apiVersion: "0.0.1",
          kind: "hashedrekord",
          spec: {
            data: { hash: { algorithm: "sha256", value: createHash("sha256").update(payload).digest("hex") } },
            signature: { content: signature, publicKey: { content: btoa(pemOf(rawBytes)) } },
          },
        },
        times,
      );
      const { body, integratedTime, logIndex, logID, verification } = found;
      return {
        payload,
        annotations: {
          "dev.cosignproject.cosign/signature": signature,
          "dev.sigstore.cosign/certificate": pemOf(rawBytes),
          "dev.sigstore.cosign/chain": pemOf(base64(authority.rootCertificate)),
          "dev.sigstore.cosign/bundle": JSON.stringify({
            SignedEntryTimestamp: verification.signedEntryTimestamp,
            Payload: { body, integratedTime, logIndex, logID },
          }),
        },
      };
    },
    /** A bundle as cosign 3 writes it without a key. */
    async bundle(person: Person, statement: Buffer, times: Times = {}) {
      const { keys, rawBytes } = await certificate(person, times);
      const sig = sign("sha256", encodingOf(statement), keys.privateKey).toString("base64");
      const hash = (bytes: Uint8Array | string) => ({
        algorithm: "sha256",
        value: createHash("sha256").update(bytes).digest("hex"),
      });
      const envelope = { payload: statement.toString("base64"), payloadType: statementType, signatures: [{ sig }] };
      const found = await entry(
        {
          apiVersion: "0.0.1",
          kind: "dsse",
          spec: {
            envelopeHash: hash(JSON.stringify(envelope)),
            payloadHash: hash(statement),
            signatures: [{ signature: sig, verifier: btoa(pemOf(rawBytes)) }],
          },
        },
        times,
      );
      const { body, integratedTime, logIndex, logID, verification } = found;
      const proof = verification.inclusionProof;
      return {
        mediaType: bundleType,
        verificationMaterial: {
          certificate: { rawBytes },
          tlogEntries: [
            {
              logIndex: String(logIndex),
              logId: { keyId: Buffer.from(logID, "hex").toString("base64") },
              kindVersion: { kind: "dsse", version: "0.0.1" },
              integratedTime: String(integratedTime),
              inclusionPromise: { signedEntryTimestamp: verification.signedEntryTimestamp },
              inclusionProof: {
                logIndex: String(proof.logIndex),
                treeSize: String(proof.treeSize),
                rootHash: Buffer.from(proof.rootHash, "hex").toString("base64"),
                hashes: [],
                checkpoint: { envelope: proof.checkpoint },
              },
              canonicalizedBody: body,
            },
          ],
        },
        dsseEnvelope: envelope,
      };
    },
  };
}
