import { createPrivateKey, createSign, type KeyObject } from "node:crypto";
import { z } from "zod";
import { parseJson } from "../../core/json.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { Secret } from "../../core/secret.ts";
import { askForAccessToken } from "./access-token.ts";
import type { Way } from "./bounded-requests.ts";
import type { Phase } from "./phase.ts";

const scope = "https://www.googleapis.com/auth/devstorage.read_only";
const assertionSeconds = 3_600;
/** The limit for the JSON key of a service account. */
export const maxServiceAccountChars = 64 * 1024;
/** The limit for the key's modulus: a longer one takes seconds to sign with. */
const maxRsaBits = 8_192;

const Key = z.object({
  type: z.literal("service_account"),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https?$/ }).default("https://oauth2.googleapis.com/token"),
});

/** A service account of Google, as its JSON key has it. */
export interface GoogleServiceAccount {
  readonly email: string;
  readonly key: KeyObject;
  readonly keyId: string | undefined;
  readonly tokenUri: string;
}

/** Reads the JSON key of a service account. Throws a `RangeError` that quotes nothing of it. */
export function readServiceAccount(text: string): GoogleServiceAccount {
  if (text.length > maxServiceAccountChars)
    throw new RangeError(`it has more than ${maxServiceAccountChars} characters`);
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    throw new RangeError("it is not JSON");
  }
  const parsed = Key.safeParse(json);
  if (!parsed.success) {
    const fields = [...new Set(parsed.error.issues.map(({ path }) => path.join(".") || "all fields"))].join(", ");
    throw new RangeError(`it is not the JSON key of a service account: check ${fields}`);
  }
  const { client_email: email, private_key: pem, private_key_id: keyId, token_uri: tokenUri } = parsed.data;
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // OpenSSL's words may say something of the key.
    throw new RangeError("private_key is not a private key in PEM");
  }
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType !== "rsa" || modulusLength > maxRsaBits) {
    throw new RangeError(`private_key is not an RSA key of at most ${maxRsaBits} bits`);
  }
  return { email, key, keyId, tokenUri };
}

/** Tokens to read buckets with (RFC 7523), asked for once and kept for one run. */
export function googleTokens(
  account: GoogleServiceAccount,
  way: Way,
  clock: Pick<Clock, "now">,
): (phase: Phase) => Promise<Secret> {
  let asked: Promise<Secret> | undefined;
  return (phase) => (asked ??= askForToken(account, way, clock.now(), phase));
}

async function askForToken(
  { email: iss, key, keyId, tokenUri: aud }: GoogleServiceAccount,
  way: Way,
  now: number,
  phase: Phase,
): Promise<Secret> {
  const iat = Math.floor(now / 1_000);
  const claims = { iss, scope, aud, iat, exp: iat + assertionSeconds };
  const payload = [{ alg: "RS256", typ: "JWT", kid: keyId }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const assertion = `${payload}.${createSign("sha256").update(payload).sign(key, "base64url")}`;
  const form = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
  return askForAccessToken("Google", aud, form, way, phase);
}
