import { STATUS_CODES } from "node:http";
import type { HttpResponse } from "../../core/ports/http.ts";
import { BucketFault } from "./object-store.ts";
import { readXml, type XmlElement } from "./read-xml.ts";

// What the answers of all providers have in common.

/** The root of an answer in XML. Throws a {@link BucketFault}. */
export function xmlOf({ body }: Pick<HttpResponse, "body">): XmlElement {
  try {
    return readXml(Buffer.from(body).toString());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw notOfApi(error.message, error);
  }
}

/** A size that a listing tells, in bytes. */
export function sizeOf(text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw notOfApi("a size is not a number");
}

export function plainEtag(etag: string): string {
  return etag.replace(/^"|"$/g, "");
}

/** An answer that is not the one of the provider's API. */
export function notOfApi(why: string, cause?: unknown): BucketFault {
  return new BucketFault("answer", `the answer is not that of the bucket's API: ${why}`, { cause });
}

/** `503 Service Unavailable`: an answer that says nothing else we may show. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
}
