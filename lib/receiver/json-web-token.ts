import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { z } from "zod";
import { limitedList } from "../core/validation.ts";
import { RequestRefused } from "./request-refused.ts";

/** Longer than any issuer's. */
const maxTokenChars = 64 * 1024;
/** The limit for the name of a key. */
export const maxKeyIdChars = 1_024;
/** Keys of a set. An issuer has a few. */
export const maxKeys = 100;
/** Keys that one token is tried with: anyone can send one that names none, and the one who has the keys decides what each costs. */
export const maxTriedKeys = 10;
/** The limit for an RSA key, as in Go's TLS. */
export const maxRsaBits = 8_192;
/** The limit for an RSA key's exponent, as in Go's crypto/rsa: a longer one makes each verification as slow as signing. */
export const maxRsaExponent = 2_147_483_647;

interface Algorithm {
  /** Node's name of the hash; absent for EdDSA, which has its own. */
  readonly hash?: "sha256" | "sha384" | "sha512";
  /** `asymmetricKeyType`, with its curve. */
  readonly key: "rsa" | "ed25519" | "prime256v1" | "secp384r1" | "secp521r1";
  readonly isPss?: boolean;
}

/** Signatures by public keys. `none` and those by shared secrets are not among them. */
const algorithms = {
  RS256: { hash: "sha256", key: "rsa" },
  RS384: { hash: "sha384", key: "rsa" },
  RS512: { hash: "sha512", key: "rsa" },
  PS256: { hash: "sha256", key: "rsa", isPss: true },
  PS384: { hash: "sha384", key: "rsa", isPss: true },
  PS512: { hash: "sha512", key: "rsa", isPss: true },
  ES256: { hash: "sha256", key: "prime256v1" },
  ES384: { hash: "sha384", key: "secp384r1" },
  ES512: { hash: "sha512", key: "secp521r1" },
  EdDSA: { key: "ed25519" },
} as const satisfies Record<string, Algorithm>;

export type AlgorithmName = keyof typeof algorithms;

export function isAlgorithm(name: string): name is AlgorithmName {
  return Object.hasOwn(algorithms, name);
}

/** RFC 7518, 3.3: a key of 2048 bits or more must be used. */
const minRsaBits = 2048;

const Header = z.object({
  alg: z.string(),
  kid: z.string().max(maxKeyIdChars).optional(),
  crit: z.unknown().optional(),
});

export interface JsonWebToken {
  readonly alg: string;
  readonly kid: string | undefined;
  /** JSON text of the claims, which are not to be trusted until the signature is verified. */
  readonly payload: string;
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

/** The token behind `Bearer `. @throws RequestRefused */
export function bearerToken(authorization: string | undefined): string {
  const prefix = "Bearer ";
  if (authorization?.startsWith(prefix) !== true) {
    throw new RequestRefused("the Authorization header is missing or malformed");
  }
  const token = authorization.slice(prefix.length).trim();
  if (token === "") throw new RequestRefused("the Authorization header is missing a bearer token");
  return token;
}

/** Takes a token apart and trusts nothing of it. @throws RequestRefused */
export function parseToken(token: string): JsonWebToken {
  const parts = token.length > maxTokenChars ? [] : token.split(".");
  const [header = "", payload = "", signature = ""] = parts;
  if (parts.length !== 3) {
    throw new RequestRefused("failed to parse bearer token: token is not a JWT");
  }
  const { success, data } = Header.safeParse(jsonOf(decode(header, "header").toString(), "header"));
  if (!success) throw new RequestRefused("failed to parse bearer token: failed to parse token header");
  if (data.crit !== undefined) throw new RequestRefused("failed to parse bearer token: its header has crit");
  return {
    alg: data.alg,
    kid: data.kid,
    payload: decode(payload, "payload").toString(),
    signed: Buffer.from(`${header}.${payload}`),
    signature: decode(signature, "signature"),
  };
}

/** The claims of a token as far as `schema` knows them. @throws RequestRefused */
export function claimsOf<Claims>({ payload }: JsonWebToken, schema: z.ZodType<Claims>): Claims {
  const { success, data } = schema.safeParse(jsonOf(payload, "payload"));
  if (!success) throw new RequestRefused("failed to parse bearer token: failed to parse token payload");
  return data;
}

function decode(text: string, what: string): Buffer {
  if (/^[A-Za-z0-9_-]*$/.test(text) && text.length % 4 !== 1) return Buffer.from(text, "base64url");
  throw new RequestRefused(`failed to parse bearer token: failed to decode token ${what}`);
}

function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The cause would quote the token.
    throw new RequestRefused(`failed to parse bearer token: failed to parse token ${what}`);
  }
}

/** One key of a JWKS document, with the fields that decide whether it is for a token. */
export interface PublicKey {
  readonly kid: string | undefined;
  readonly key: KeyObject;
}

const KeySet = z.object({ keys: limitedList(z.looseObject({ kid: z.string().optional() }), maxKeys) });

/**
 * The keys of a JWKS document that can verify a signature; others, of a kind that we do not know or that are too large, are left out.
 *
 * @throws Error where it is no set of at most {@link maxKeys} keys
 */
export function publicKeys(document: unknown): readonly PublicKey[] {
  return KeySet.parse(document).keys.flatMap((jwk): PublicKey[] => {
    const use = jwk["use"];
    if ((use !== undefined && use !== "sig") || (jwk.kid ?? "").length > maxKeyIdChars) return [];
    try {
      const key = createPublicKey({ key: jwk satisfies JsonWebKey, format: "jwk" });
      return isTooLarge(key) ? [] : [{ kid: jwk.kid, key }];
    } catch {
      return [];
    }
  });
}

function isTooLarge({ asymmetricKeyDetails: { modulusLength = 0, publicExponent = 0n } = {} }: KeyObject): boolean {
  return modulusLength > maxRsaBits || publicExponent > maxRsaExponent;
}

/**
 * Whether one of the keys has signed the token by its algorithm: those of its `kid`, or any where it names none. Among the keys that
 * may fit, the first {@link maxTriedKeys} are tried.
 */
export function isSignedBy({ alg, kid = "", signed, signature }: JsonWebToken, keys: readonly PublicKey[]): boolean {
  if (!isAlgorithm(alg)) return false;
  const algorithm: Algorithm = algorithms[alg];
  const padding = algorithm.isPss === true ? pss : {};
  return keys
    .filter((each) => (kid === "" || each.kid === kid) && suits(each.key, algorithm))
    .slice(0, maxTriedKeys)
    .some(({ key }) => verify(algorithm.hash, signed, { key, dsaEncoding: "ieee-p1363", ...padding }, signature));
}

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

function suits({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, { key }: Algorithm): boolean {
  if (key === "rsa") return asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= minRsaBits;
  if (key === "ed25519") return asymmetricKeyType === "ed25519";
  return asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === key;
}
