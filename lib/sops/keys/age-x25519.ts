import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from "node:crypto";
import { type AgeFile, base64, damaged, derive, openChunk } from "./age-file.ts";
import { bech32 } from "./bech32.ts";

/** An X25519 identity of age. */
export interface X25519Identity {
  readonly privateKey: KeyObject;
  /** 32 bytes. */
  readonly publicKey: Buffer;
}

/** What stands in front of a raw key in DER (RFC 8410). */
const [pkcs8, spki] = ["302e020100300506032b656e04220420", "302a300506032b656e032100"] as const;

/** The identity `AGE-SECRET-KEY-1…`; undefined if it is not one. */
export function x25519Identity(text: string): X25519Identity | undefined {
  const secret = bech32(text, "AGE-SECRET-KEY-");
  if (secret?.length !== 32) return undefined;
  const der = Buffer.concat([Buffer.from(pkcs8, "hex"), secret]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return { privateKey, publicKey: createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-32) };
}

/** The key of the file that an identity unwraps; undefined if the file is for none of them. Throws a {@link SopsFault}. */
export function x25519FileKey({ stanzas }: AgeFile, identities: readonly X25519Identity[]): Buffer | undefined {
  for (const { words, body } of stanzas) {
    const [kind, share, ...more] = words;
    if (kind !== "X25519") continue;
    if (share === undefined || more.length > 0 || body.length !== 32) throw damaged();
    const ephemeral = base64(share);
    if (ephemeral.length !== 32) throw damaged();
    for (const identity of identities) {
      const key = openChunk(wrappingKey(identity, ephemeral), Buffer.alloc(12), body);
      if (key !== undefined) return key;
    }
  }
  return undefined;
}

function wrappingKey({ privateKey, publicKey }: X25519Identity, ephemeral: Buffer): Buffer {
  const salt = Buffer.concat([ephemeral, publicKey]);
  return derive(sharedSecret(privateKey, ephemeral), salt, "age-encryption.org/v1/X25519");
}

function sharedSecret(privateKey: KeyObject, ephemeral: Buffer): Buffer {
  try {
    const der = Buffer.concat([Buffer.from(spki, "hex"), ephemeral]);
    return diffieHellman({ privateKey, publicKey: createPublicKey({ key: der, format: "der", type: "spki" }) });
  } catch {
    // A point of low order, from which anyone can derive the secret.
    throw damaged();
  }
}
