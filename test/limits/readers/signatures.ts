import { generateKeyPairSync } from "node:crypto";
import { messageOf } from "../../../lib/core/failure.ts";
import { maxBundleBytes, readBundle } from "../../../lib/sources/oci/verify/bundles.ts";
import { maxPublicKeys, verifyByKeys } from "../../../lib/sources/oci/verify/cosign-by-key.ts";
import {
  identityCheck,
  maxIdentities,
  maxIdentityPatternLength,
  maxSignerLength,
} from "../../../lib/sources/oci/verify/identities.ts";
import { entryBody } from "../../../lib/sources/oci/verify/log-entry.ts";
import { maxCertificateBytes, readCertificate } from "../../../lib/sources/oci/verify/notation/certificate-chain.ts";
import { readCose } from "../../../lib/sources/oci/verify/notation/cose-envelope.ts";
import { maxChainCertificates, maxEnvelopeBytes } from "../../../lib/sources/oci/verify/notation/envelope.ts";
import { readJws } from "../../../lib/sources/oci/verify/notation/jws-envelope.ts";
import {
  maxTrustedCertificates,
  trustedCertificates,
} from "../../../lib/sources/oci/verify/notation/trusted-certificates.ts";
import { maxSignaturesTried } from "../../../lib/sources/oci/verify/simple-signatures.ts";
import { maxTrustedRootBytes, ownTrust } from "../../../lib/sources/oci/verify/trusted-root.ts";
import { claimOf, pushSimple, simpleLayer } from "../../doubles/cosign-signatures.ts";
import { checkingAt, memoryRegistry } from "../../doubles/memory-registry.ts";
import type { WorstInput } from "../worst-input.ts";

const filled = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length));
const tried = async (read: () => unknown): Promise<unknown> => {
  try {
    return await read();
  } catch (error) {
    return messageOf(error);
  }
};
const keyPair = () => generateKeyPairSync("ec", { namedCurve: "P-521" });

/** DER of empty sequences in a sequence: each is an object for what parses it. */
function manyParts(bytes: number): Buffer {
  const inner = Buffer.alloc(bytes - 4, Buffer.from([0x30, 0x00]));
  const head = Buffer.from([0x30, 0x82, 0, 0]);
  head.writeUInt16BE(inner.length, 2);
  return Buffer.concat([head, inner]);
}

/** The worst inputs of what reads signatures and whom they are trusted from. */
export const signatureReaders: readonly WorstInput[] = [
  {
    reader: "lib/sources/oci/verify/public-key.ts",
    name: `${maxSignaturesTried} signatures and ${maxPublicKeys} keys on P-521, none of which match`,
    memoryMiB: 64,
    make: async () => {
      const artifact = await memoryRegistry().artifact();
      const layer = simpleLayer(keyPair().privateKey, claimOf(artifact.digest));
      await pushSimple(
        artifact,
        Array.from({ length: maxSignaturesTried }, () => layer),
      );
      const pem = String(keyPair().publicKey.export({ type: "spki", format: "pem" }));
      const keys = new Map(Array.from({ length: maxPublicKeys }, (_, at) => [`${at}.pub`, pem]));
      return () => tried(() => verifyByKeys(artifact, keys, checkingAt()));
    },
  },
  {
    reader: "lib/sources/oci/verify/bundles.ts",
    name: "a bundle that is a list in lists",
    memoryMiB: 100,
    make: async () => {
      const bytes = Buffer.from(`{"a":${filled("[", maxBundleBytes / 2)}${filled("]", maxBundleBytes / 2)}}`);
      return () => tried(() => readBundle(bytes));
    },
  },
  {
    reader: "lib/sources/oci/verify/log-entry.ts",
    name: "the content of an entry that is a list of numbers",
    memoryMiB: 100,
    make: async () => {
      const bytes = Buffer.from(`{"kind":[${filled("1,", maxBundleBytes)}1]}`);
      return () => tried(() => entryBody(bytes));
    },
  },
  {
    reader: "lib/sources/oci/verify/identities.ts",
    name: `${maxIdentities} identities and the longest names`,
    memoryMiB: 200,
    make: async () => {
      const pattern = filled("(a?){9}", maxIdentityPatternLength);
      const identities = Array.from({ length: maxIdentities }, () => ({
        issuer: pattern,
        subject: `${pattern.slice(7)}b`,
      }));
      const name = "a".repeat(maxSignerLength);
      return () =>
        tried(() => identityCheck(identities, new AbortController().signal)({ issuer: name, subject: name }));
    },
  },
  {
    reader: "lib/sources/oci/verify/trusted-root.ts",
    name: "a root of one certificate",
    memoryMiB: 100,
    make: async () => {
      const rawBytes = manyParts(60_000).toString("base64");
      const certificateAuthorities = [{ certChain: { certificates: [{ rawBytes }, { rawBytes }, { rawBytes }] } }];
      const text = JSON.stringify({ tlogs: [], ctlogs: [], timestampAuthorities: [], certificateAuthorities });
      return () => tried(() => ownTrust(text.padEnd(maxTrustedRootBytes)));
    },
  },
  {
    reader: "lib/sources/oci/verify/notation/certificate-chain.ts",
    name: `${maxChainCertificates} certificates of the greatest size`,
    memoryMiB: 64,
    make: async () => {
      const der = manyParts(maxCertificateBytes);
      return () => tried(() => Array.from({ length: maxChainCertificates }, () => tried(() => readCertificate(der))));
    },
  },
  {
    reader: "lib/sources/oci/verify/notation/trusted-certificates.ts",
    name: `${maxTrustedCertificates} certificates in PEM`,
    memoryMiB: 100,
    make: async () => {
      const pem = `-----BEGIN CERTIFICATE-----\n${filled("A", 900)}\n-----END CERTIFICATE-----\n`;
      return () => tried(() => trustedCertificates(new Map([["a.pem", pem.repeat(maxTrustedCertificates)]])));
    },
  },
  {
    reader: "lib/sources/oci/verify/notation/verify-notation.ts",
    name: "CBOR of numbers",
    memoryMiB: 100,
    make: async () => {
      const bytes = Buffer.alloc(maxEnvelopeBytes, 1);
      bytes.set([0xd2, 0x9a]);
      bytes.writeUInt32BE(maxEnvelopeBytes - 6, 2);
      return () => tried(() => readCose(bytes));
    },
  },
  {
    reader: "lib/sources/oci/verify/notation/verify-notation.ts",
    name: "a JWS whose chain is a list of texts",
    memoryMiB: 64,
    make: async () => {
      const chain = filled('"",', maxEnvelopeBytes - 100);
      const bytes = Buffer.from(`{"payload":"","protected":"","signature":"","header":{"x5c":[${chain}""]}}`);
      return () => tried(() => readJws(bytes));
    },
  },
];
