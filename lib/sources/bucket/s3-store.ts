import type { Clock } from "../../core/ports/clock.ts";
import type { HttpResponse } from "../../core/ports/http.ts";
import { ask, maxAnswerBytes, maxPageBytes, type Way } from "./bounded-requests.ts";
import { BucketFault, type ListedObject, type ObjectStore } from "./object-store.ts";
import type { Phase } from "./phase.ts";
import { notOfApi, plainEtag, sizeOf, statusText, xmlOf } from "./provider-answers.ts";
import { childOf, readXml, textOf, type XmlElement } from "./read-xml.ts";
import { bucketUrl, hostOf, isAmazonS3, isRegion, regionOfEndpoint, type S3Address } from "./s3-endpoint.ts";
import { escapedPath, escapedQuery, type S3Credentials, signedHeaders } from "./sign-request.ts";

export interface S3StoreOptions extends S3Address, Way {
  /** The region in `spec.region`; if unset, a request finds it. */
  readonly region?: string | undefined;
  /** Undefined for a bucket that is open to all. */
  readonly credentials?: S3Credentials | undefined;
  /** The credentials are our own identity, which only hosts of Amazon S3 may see, whatever region an answer names. */
  readonly isForAmazonOnly?: boolean;
  readonly clock: Pick<Clock, "now">;
}

const anyRegion = "us-east-1";
const pageKeys = 1_000;

interface Answer extends HttpResponse {
  /** The code of an error answer; empty if it has none. */
  readonly code: string;
  readonly told: XmlElement | undefined;
}

/** A bucket by the S3 API (reference sources 8.1), with the requests of minio's client, which Flux uses. */
export function s3Store(options: S3StoreOptions): ObjectStore {
  const { endpoint, credentials, clock, isForAmazonOnly = false } = options;
  let region = options.region ?? regionOfEndpoint(endpoint);

  const urlIn = (where: string | undefined): string => {
    const host = hostOf(endpoint, where);
    if (!isForAmazonOnly || isAmazonS3(host)) return bucketUrl(options, where);
    throw new BucketFault(
      "answer",
      `'${host}' is not a host of Amazon S3: set spec.region to the region of the bucket`,
    );
  };

  const send = async (
    method: "GET" | "HEAD",
    url: string,
    { phase, maxBytes = maxAnswerBytes, shownQuery = "" }: { phase: Phase; maxBytes?: number; shownQuery?: string },
  ): Promise<Answer> => {
    const parsed = new URL(url);
    const headers =
      credentials === undefined
        ? {}
        : signedHeaders({ method, url: parsed }, region ?? anyRegion, credentials, new Date(clock.now()));
    const request = { method, url, headers: { ...headers, "accept-encoding": "identity" }, maxBytes, shownQuery };
    const response = await ask(options, request, phase);
    if (response.status === 200) return { ...response, code: "", told: undefined };
    const told = errorOf(response);
    return { ...response, told, code: told === undefined ? "" : textOf(told, "Code") };
  };

  /** Sends again to the region that an answer names, if it is another one. */
  const askBucket = async (
    method: "GET" | "HEAD",
    rest: string,
    bounds: { phase: Phase; maxBytes?: number },
  ): Promise<Answer> => {
    const answer = await send(method, `${urlIn(region)}${rest}`, bounds);
    const named = regionNamed(answer);
    if (named === undefined || named === region) return answer;
    region = named;
    return send(method, `${urlIn(region)}${rest}`, bounds);
  };

  /** The region of the bucket; undefined if there is no such bucket. */
  const findRegion = async (phase: Phase): Promise<string | undefined> => {
    const query = "?location=";
    const answer = await send("GET", `${urlIn(undefined)}${query}`, { phase, shownQuery: query });
    if (answer.status === 200) {
      const location = xmlOf(answer).text.trim();
      if (location === "") return anyRegion;
      if (!isRegion(location)) throw notOfApi("its location is not a region");
      return location === "EU" ? "eu-west-1" : location;
    }
    if (answer.code === "NoSuchBucket") return undefined;
    // The bucket may be open to us all the same: the next request says it.
    const isRefused = answer.code === "AccessDenied" || answer.status === 403;
    if (regionNamed(answer) !== undefined || isRefused) return regionNamed(answer) ?? anyRegion;
    if (answer.code === "NotImplemented" || answer.code === "MethodNotAllowed") return anyRegion;
    throw faultOf(answer);
  };

  return {
    async exists(phase) {
      region ??= await findRegion(phase);
      if (region === undefined) return false;
      const answer = await askBucket("HEAD", "", { phase });
      if (answer.status === 200) return true;
      if (answer.status === 404) return false;
      throw faultOf(answer);
    },

    async get(key, maxBytes, phase) {
      const answer = await askBucket("GET", escapedPath(key), { phase, maxBytes: Math.max(maxBytes, maxErrorBytes) });
      if (answer.status === 404 && answer.code !== "NoSuchBucket") return undefined;
      if (answer.status !== 200) throw faultOf(answer);
      if (answer.body.length > maxBytes) {
        throw new BucketFault("too-large", `the answer is longer than ${maxBytes} bytes`);
      }
      return { bytes: answer.body, etag: plainEtag(answer.headers["etag"] ?? "") };
    },

    isSeenByListing: true,

    async *list(prefix, phase) {
      region ??= await findRegion(phase);
      if (region === undefined) throw new BucketFault("answer", texts["NoSuchBucket"] ?? "");
      let token: string | undefined;
      for (;;) {
        const query = escapedQuery({
          ...(token === undefined ? {} : { "continuation-token": token }),
          ...{ delimiter: "", "encoding-type": "url", "list-type": "2", "max-keys": String(pageKeys), prefix },
        });
        const answer = await askBucket("GET", `?${query}`, { phase, maxBytes: maxPageBytes });
        if (answer.status !== 200) throw faultOf(answer);
        const page = xmlOf(answer);
        yield objectsOf(page);
        const next = textOf(page, "NextContinuationToken");
        if (textOf(page, "IsTruncated").trim() !== "true") return;
        if (next === "" || next === token) throw notOfApi("it has no token for the next page");
        token = next;
      }
    },
  };
}

/** The limit for an error answer, even if a smaller answer is expected. */
const maxErrorBytes = 64 * 1024;

function objectsOf(page: XmlElement): ListedObject[] {
  const isEscaped = textOf(page, "EncodingType") === "url";
  return page.children.flatMap((one) => {
    if (one.name !== "Contents") return [];
    const [key, etag, size] = ["Key", "ETag", "Size"].map((name) => childOf(one, name)?.text);
    if (key === undefined || etag === undefined || size === undefined)
      throw notOfApi("an object has no key, etag or size");
    return [{ key: isEscaped ? unescapedKey(key) : key, etag: plainEtag(etag), size: sizeOf(size) }];
  });
}

/** As Go reads a query: `+` is a space. */
function unescapedKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    throw notOfApi("a key is not escaped as it says");
  }
}

function errorOf(response: HttpResponse): XmlElement | undefined {
  try {
    const root = readXml(Buffer.from(response.body).toString());
    return root.name === "Error" ? root : undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

const wrongRegion = new Set([
  "AuthorizationHeaderMalformed",
  "InvalidRegion",
  "PermanentRedirect",
  "TemporaryRedirect",
  "AccessDenied",
  "IllegalLocationConstraintException",
]);

/** The region that an error answer says the bucket is in. */
function regionNamed({ status, headers, code, told }: Answer): string | undefined {
  if (status === 200 || status === 404) return undefined;
  const named =
    headers["x-amz-bucket-region"] ?? (told !== undefined && wrongRegion.has(code) ? textOf(told, "Region") : "");
  return isRegion(named) ? named : undefined;
}

/** The provider's own texts could be anything, even those of another server: these are the usual ones for its codes. */
const texts: Readonly<Record<string, string>> = {
  AccessDenied: "Access Denied.",
  AllAccessDisabled: "All access to this bucket has been disabled.",
  AuthorizationHeaderMalformed: "The authorization header is malformed; the region is wrong.",
  ExpiredToken: "The provided token has expired.",
  InternalError: "We encountered an internal error, please try again.",
  InvalidAccessKeyId: "The Access Key Id you provided does not exist in our records.",
  InvalidBucketName: "The specified bucket is not valid.",
  InvalidToken: "The provided token is malformed or otherwise not valid.",
  MethodNotAllowed: "The specified method is not allowed against this resource.",
  NoSuchBucket: "The specified bucket does not exist",
  NoSuchKey: "The specified key does not exist.",
  PermanentRedirect: "The bucket you are attempting to access must be addressed using the specified endpoint.",
  RequestTimeTooSkewed: "The difference between the request time and the server's time is too large.",
  ServiceUnavailable: "Service is unavailable. Please retry.",
  SignatureDoesNotMatch:
    "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  SlowDown: "Please reduce your request rate.",
};
const codeByStatus: Readonly<Record<number, string>> = { 403: "AccessDenied", 404: "NoSuchBucket" };

function faultOf({ code: told, status }: Answer): BucketFault {
  const code = told === "" ? (codeByStatus[status] ?? "") : told;
  const known = Object.hasOwn(texts, code) ? texts[code] : undefined;
  if (known !== undefined) return new BucketFault("answer", known);
  const isCode = /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(code);
  return new BucketFault("answer", isCode ? `Error response code ${code}.` : statusText(status));
}
