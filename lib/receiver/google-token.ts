import { z } from "zod";
import type { Clock } from "../core/ports/clock.ts";
import { parseBody } from "./delivery.ts";
import { claimsOf, parseToken } from "./json-web-token.ts";
import type { KeySets } from "./key-sets.ts";
import { RequestRefused } from "./request-refused.ts";

/** Google's keys, which sign the tokens of Pub/Sub's push subscriptions. */
export const googleKeysUrl = "https://www.googleapis.com/oauth2/v3/certs";
const issuers: readonly string[] = ["accounts.google.com", "https://accounts.google.com"];

/** The claims of a token that the Secret of a Receiver of type `gcr` requires. */
export interface GoogleExpectations {
  readonly email: string | undefined;
  readonly audience: string | undefined;
}

export interface GoogleDeps {
  readonly clock: Clock;
  readonly keySets: KeySets;
  /** Default: {@link googleKeysUrl}. */
  readonly keysUrl?: string;
}

const Claims = z.object({
  iss: z.string().catch(""),
  aud: z.string().catch(""),
  exp: z.number().catch(0),
  email: z.string().catch(""),
  email_verified: z.boolean().catch(false),
});

/**
 * Checks the token of a delivery to a Receiver of type `gcr` (reference 8).
 *
 * @throws RequestRefused that says what is wrong, or the reason `signal` was aborted with
 */
export async function verifyGoogleToken(
  authorization: string | undefined,
  expected: GoogleExpectations,
  { clock, keySets, keysUrl = googleKeysUrl }: GoogleDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const field of ["email", "audience"] as const) {
    if ((expected[field] ?? "") === "") {
      throw new RequestRefused(`invalid secret data: required field '${field}' for GCR receiver`);
    }
  }
  const failed = (why: string): RequestRefused => new RequestRefused(`cannot authenticate GCR request: ${why}`);
  const prefix = "Bearer ";
  if (authorization?.startsWith(prefix) !== true) {
    throw failed("the Authorization header is missing or malformed");
  }
  const token = parseToken(authorization.slice(prefix.length));
  const { iss, aud, exp, email, email_verified: isVerified } = claimsOf(token, Claims);
  if (aud !== expected.audience)
    throw failed("invalid ID token: audience provided does not match aud claim in the JWT");
  if (Math.floor(clock.now() / 1000) > exp) throw failed("invalid ID token: token expired");
  if (token.alg !== "RS256") throw failed("invalid ID token: expected JWT signed with RS256");
  // Google names the key in every token; without a name all would be tried.
  if (token.kid === undefined || !(await keySets.hasSigned(keysUrl, token, signal))) {
    throw failed("invalid ID token: no key of Google has signed it");
  }
  if (!issuers.includes(iss)) {
    throw failed("token issuer is not 'accounts.google.com' or 'https://accounts.google.com'");
  }
  if (email !== expected.email) throw failed("token email is not the expected one");
  if (!isVerified) throw failed("token email is not verified");
}

const absent = z.null().transform(() => "");
const Text = z.union([z.string(), absent]).default("");
const Push = z.object({
  message: z
    .object({
      data: Text,
      messageId: Text,
      subscription: Text,
      publishTime: z.iso.datetime({ offset: true }).nullish(),
    })
    .nullish(),
});
const Pushed = z.object({ action: Text, digest: Text, tag: Text });

/** The event of the registry inside Pub/Sub's envelope, which filters read as `req`. @throws RequestRefused */
export function gcrEvent(body: Uint8Array): { readonly action: string; readonly digest: string; readonly tag: string } {
  const envelope = Push.safeParse(jsonOf(body, "payload"));
  if (!envelope.success) throw new RequestRefused("cannot decode GCR webhook payload");
  const event = Pushed.safeParse(jsonOf(Buffer.from(envelope.data.message?.data ?? "", "base64"), "body"));
  if (!event.success) throw new RequestRefused("cannot decode GCR webhook body");
  const { action, digest, tag } = event.data;
  return { action, digest, tag };
}

function jsonOf(bytes: Uint8Array, what: string): unknown {
  const read = parseBody(bytes);
  if ("fault" in read) throw new RequestRefused(`cannot decode GCR webhook ${what}: it ${read.fault}`);
  return read.value;
}
