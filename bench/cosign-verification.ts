import { generateKeyPairSync } from "node:crypto";
import { verifyByKeys } from "../lib/sources/oci/verify/cosign-by-key.ts";
import { verifyKeyless } from "../lib/sources/oci/verify/cosign-keyless.ts";
import {
  claimOf,
  keyBundle,
  pushReferrer,
  pushSimple,
  simpleLayer,
  statementOf,
} from "../test/doubles/cosign-signatures.ts";
import { checkingAt, memoryRegistry } from "../test/doubles/memory-registry.ts";
import { ownSigstore } from "../test/doubles/own-sigstore.ts";
import { type Figure, figure } from "./figure.ts";

const warmUps = 5;
const rounds = 50;

/** Signatures of cosign in a process that has verified some before. The registry is in memory, so its time hardly counts. */
export async function cosignVerification(): Promise<readonly Figure[]> {
  const sigstore = await ownSigstore();
  const person = { issuer: "https://issuer.example.com", subject: "https://git.example.com/app" };
  const trust = {
    identities: [{ issuer: "^https://issuer\\.example\\.com$", subject: "/app$" }],
    trustedRoot: JSON.stringify(sigstore.trustedRoot),
  };
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keys = new Map([["cosign.pub", String(pair.publicKey.export({ type: "spki", format: "pem" }))]]);
  const [byKey, bundled, keyless, keylessBundled] = await Promise.all(
    Array.from({ length: 4 }, () => memoryRegistry().artifact()),
  );
  if (!(byKey && bundled && keyless && keylessBundled)) throw new Error("there are four artifacts");
  await pushSimple(byKey, [simpleLayer(pair.privateKey, claimOf(byKey.digest))]);
  await pushReferrer(bundled, Buffer.from(JSON.stringify(keyBundle(pair.privateKey, statementOf(bundled.digest)))));
  await pushSimple(keyless, [await sigstore.simpleLayer(person, claimOf(keyless.digest))]);
  const bundle = await sigstore.bundle(person, statementOf(keylessBundled.digest));
  await pushReferrer(keylessBundled, Buffer.from(JSON.stringify(bundle)));
  const ways = {
    "with a key, cosign 2": () => verifyByKeys(byKey, keys, checkingAt()),
    "with a key, cosign 3": () => verifyByKeys(bundled, keys, checkingAt()),
    "keyless, cosign 2": () => verifyKeyless(keyless, trust, checkingAt()),
    "keyless, cosign 3": () => verifyKeyless(keylessBundled, trust, checkingAt()),
  };
  const figures: Figure[] = [];
  for (const [way, verify] of Object.entries(ways)) {
    for (let round = 0; round < warmUps; round++) await verify();
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const begun = performance.now();
      await verify();
      times.push(performance.now() - begun);
    }
    figures.push(figure(`a signature of cosign verified, ${way}`, "ms", times, { of: "median", atMost: 30 }));
  }
  return figures;
}
