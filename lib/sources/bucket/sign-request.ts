import { createHash, createHmac } from "node:crypto";
import type { Secret } from "../../core/secret.ts";

/** Who signs requests to S3. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly sessionToken?: Secret | undefined;
}

interface Signed {
  readonly method: string;
  readonly url: URL;
  /** Further headers, by their name in lower case, which are signed too. */
  readonly headers?: Readonly<Record<string, string>>;
}

const algorithm = "AWS4-HMAC-SHA256";
const emptyBody = createHash("sha256").update("").digest("hex");

/**
 * The headers that sign a request to S3 without a body (Signature Version 4), to be sent beside the given ones:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html. S3 takes the path as it is sent, so the caller has
 * escaped it by {@link escapedPath} and {@link escapedQuery}.
 *
 * @param now wall time; S3 takes signatures for 15 minutes
 */
export function signedHeaders(
  { method, url, headers = {} }: Signed,
  region: string,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
  now: Date,
): Readonly<Record<string, string>> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const own = {
    "x-amz-content-sha256": emptyBody,
    "x-amz-date": time,
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken.reveal() }),
  };
  const all = Object.entries({ ...headers, ...own, host: url.host }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = all.map(([name]) => name).join(";");
  const query = url.search.slice(1).split("&").toSorted().join("&");
  const lines = all.map(([name, value]) => `${name}:${value.trim()}\n`).join("");
  const request = [method, url.pathname, query, lines, names, emptyBody].join("\n");
  const scope = [time.slice(0, 8), region, "s3", "aws4_request"];
  const text = [algorithm, time, scope.join("/"), createHash("sha256").update(request).digest("hex")].join("\n");
  const key = scope.reduce<Buffer | string>((parent, part) => hmac(parent, part), `AWS4${secretAccessKey.reveal()}`);
  const credential = `Credential=${accessKeyId}/${scope.join("/")}`;
  const authorization = `${algorithm} ${credential}, SignedHeaders=${names}, Signature=${hmac(key, text).toString("hex")}`;
  return { ...own, authorization };
}

/** A key as a path, each of its parts escaped as S3 does. */
export function escapedPath(key: string): string {
  return key.split("/").map(escaped).join("/");
}

/** `a=1&b=`, in the order of names as Go sorts them. */
export function escapedQuery(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .join("&");
}

function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
