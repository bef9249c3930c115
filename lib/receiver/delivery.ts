import { JsonText } from "../cel/cel.ts";
import { isJsonObject } from "../core/json.ts";
import { jsonExcess } from "../core/json-text.ts";
import { isJsonType } from "./media-type.ts";

/** An HTTP request as Lambda or a server has it. Nothing in it is decoded or joined: signatures and paths go by its bytes. */
export interface IncomingRequest {
  /** Path and query. */
  readonly uri: string;
  /** The first value of a header, whatever its case; undefined without one. */
  header(name: string): string | undefined;
  /** Read once, up to its limit. Throws where the sender does not end it. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** A request to a webhook, as it came. */
export interface Delivery {
  /** Path and query, not decoded: a query makes it another webhook. */
  readonly uri: string;
  /** The first value of a header, whatever its case; undefined without one. */
  header(name: string): string | undefined;
  /** The bytes that were signed. */
  readonly body: Uint8Array;
}

/** The limit for a body, in bytes, as in Flux. */
export const maxBodyBytes = 3_145_728;
/** Objects and lists inside each other. */
export const maxBodyDepth = 500;
/** Values of a body that is read: a sender decides how much larger than its text it becomes in memory. */
export const maxBodyValues = 100_000;

/**
 * The body as JSON, or why it is none that is taken. It is parsed by us only to see that: filters get its text.
 *
 * @param body of at most {@link maxBodyBytes}
 */
export function parseBody(
  body: Uint8Array,
): { readonly text: string; readonly value: unknown } | { readonly fault: string } {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  const fault = sizeFault(text);
  if (fault !== undefined) return { fault };
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    // The parser's words would quote the body.
    return { fault: "is not JSON" };
  }
}

/**
 * `req` of filters: the JSON object of a body that says that it is JSON, else an empty object (reference notifications 10). As in Go
 * null is an empty one.
 */
export function requestOf(delivery: Delivery): JsonText | { readonly fault: string } {
  if (!isJsonType(delivery.header("content-type") ?? "")) return new JsonText("{}");
  const body = parseBody(delivery.body);
  if ("fault" in body) return body;
  if (body.value === null) return new JsonText("{}");
  return isJsonObject(body.value) ? new JsonText(body.text) : { fault: "is not a JSON object" };
}

/** Why a JSON text is not read, found without reading it: each value but the first follows a bracket, a brace or a comma. */
function sizeFault(text: string): string | undefined {
  switch (jsonExcess(text, { maxParts: maxBodyValues - 1, maxDepth: maxBodyDepth })) {
    case "depth":
      return `nests deeper than ${maxBodyDepth}`;
    case "parts":
      return `has more than ${maxBodyValues} values`;
    case undefined:
      return undefined;
  }
}
