import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** A request whose query is signed, as it arrived. */
export interface PresignedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Signer {
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

export interface StsFault {
  readonly code: string;
  readonly message: string;
}

/** STS refuses an older signature. */
const maxAgeMs = 900_000;
const emptyHash = createHash("sha256").update("").digest("hex");

/**
 * Why STS refuses a presigned request; undefined if it is as its signer signed it, headers included, not long ago.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function presignedFault(
  { method, path, query, headers }: PresignedRequest,
  signerOf: (accessKeyId: string) => Signer | undefined,
  now: number,
): StsFault | undefined {
  const field = (name: string): string => query.get(`X-Amz-${name}`) ?? "";
  const [accessKeyId = "", day = "", region = "", service = "", end = ""] = field("Credential").split("/");
  const signer = signerOf(accessKeyId);
  // A request without a session token is accepted too, unlike by STS: the S3 gateway refuses every session token, and functions have one set of credentials.
  if (signer === undefined || !["", signer.sessionToken].includes(field("Security-Token"))) {
    return { code: "InvalidClientTokenId", message: "The security token included in the request is invalid." };
  }
  const signedAt = momentOf(field("Date"));
  if (field("Algorithm") !== "AWS4-HMAC-SHA256" || service !== "sts" || end !== "aws4_request" || !(signedAt <= now)) {
    return { code: "IncompleteSignature", message: "The request's signature is not one for STS." };
  }
  if (signedAt < now - maxAgeMs) return { code: "SignatureDoesNotMatch", message: "Signature expired." };
  const names = field("SignedHeaders").split(";");
  const canonical = [
    method,
    path,
    canonicalQuery(query),
    ...names.map((name) => `${name}:${(headers[name] ?? "").trim()}`),
    "",
    names.join(";"),
    emptyHash,
  ].join("\n");
  const hash = createHash("sha256").update(canonical).digest("hex");
  const text = ["AWS4-HMAC-SHA256", field("Date"), [day, region, service, end].join("/"), hash].join("\n");
  const key = [day, region, service, end].reduce<string | Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${signer.secretAccessKey}`,
  );
  const wanted = createHmac("sha256", key).update(text).digest();
  const signature = Buffer.from(field("Signature"), "hex");
  if (signature.length === wanted.length && timingSafeEqual(signature, wanted)) return undefined;
  return { code: "SignatureDoesNotMatch", message: "The request signature we calculated does not match." };
}

/** `20261121T160000Z`; not a number for anything else. */
function momentOf(text: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join("&");
}

function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
