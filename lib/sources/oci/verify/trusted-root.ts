import { TrustedRoot } from "@sigstore/protobuf-specs";
import { type TrustMaterial, toTrustMaterial } from "@sigstore/verify";
import { z } from "zod";
import { messageOf } from "../../../core/failure.ts";
import { jsonOf } from "../registry-fault.ts";
import publicGood from "./public-good-trusted-root.json" with { type: "json" };
import { SignatureFault } from "./signature-fault.ts";

/** Of a `trusted_root.json`. That of public Sigstore has 7 KB. */
export const maxTrustedRootBytes = 512 * 1024;
/** Authorities and logs of one kind in it, and certificates of one authority. */
export const maxTrustedRootEntries = 100;

const entries = z.array(z.unknown()).max(maxTrustedRootEntries).optional();
const authority = z.object({ certChain: z.object({ certificates: entries }).optional() });
const authorities = z.array(z.unknown()).max(maxTrustedRootEntries).pipe(z.array(authority)).optional();
const Counted = z.object({
  tlogs: z
    .array(z.unknown())
    .max(maxTrustedRootEntries)
    .pipe(z.array(z.object({ baseUrl: z.string().optional() })))
    .optional(),
  ctlogs: entries,
  certificateAuthorities: authorities,
  timestampAuthorities: authorities,
});

let publicMaterial: TrustMaterial | undefined;

/**
 * The authorities and logs of public Sigstore, as data of this release: nothing is fetched. docs/sources/signatures.md says how the
 * file is renewed.
 */
export function publicTrust(): TrustMaterial {
  publicMaterial ??= toTrustMaterial(TrustedRoot.fromJSON(publicGood));
  return publicMaterial;
}

/** Reads the `trusted_root.json` of an own Sigstore. Throws a {@link SignatureFault} in Flux's words. */
export function ownTrust(text: string): TrustMaterial {
  if (Buffer.byteLength(text) > maxTrustedRootBytes) {
    throw new SignatureFault(`unable to parse trusted root: it has more than ${maxTrustedRootBytes} bytes`);
  }
  const json = jsonOf(Buffer.from(text));
  const counted = Counted.safeParse(json);
  if (!counted.success) {
    const why =
      json === undefined
        ? "it is not JSON"
        : `it has lists of another form, or of more than ${maxTrustedRootEntries} entries`;
    throw new SignatureFault(`unable to parse trusted root: ${why}`);
  }
  let material: TrustMaterial;
  try {
    material = toTrustMaterial(TrustedRoot.fromJSON(json));
  } catch (error) {
    throw new SignatureFault(`unable to parse trusted root: ${messageOf(error)}`, { cause: error });
  }
  const { tlogs = [] } = counted.data;
  const unable = "unable to extract Rekor URL from trusted root";
  if (tlogs.length === 0) throw new SignatureFault(`${unable}: no transparency log entries found in trusted root`);
  if (tlogs.every(({ baseUrl = "" }) => baseUrl === "")) {
    throw new SignatureFault(`${unable}: no transparency log entry with a BaseURL found in trusted root`);
  }
  return material;
}
