import { isJsonObject, type JsonObject, parseJson } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import { formatApiVersion } from "../core/object-ref.ts";
import { type ApiCause, ApiError, type ApiReason } from "../core/ports/cluster.ts";
import type { Answer } from "./transport.ts";

const maxQuotedChars = 1_000;
/** Of a `Status`. A condition holds 32,768 characters, and our messages contain more than the server's. */
export const maxMessageChars = 16_384;
export const maxCauseChars = 2_048;
/** The limit for a `Status`, which has one cause for each field. */
export const maxCauses = 1_000;

/** The reason by code for an answer that is not a `Status`, for example one of a proxy in front of the server. */
const reasonByCode: Readonly<Record<number, ApiReason>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** The JSON of an answer. Throws an {@link ApiError} if it is not a JSON object, or one with too many values to be read. */
export function jsonOf(answer: Pick<Answer, "status" | "text">): JsonObject {
  let value: unknown;
  try {
    value = parseJson(answer.text);
  } catch (error) {
    throw unreadable(answer, error);
  }
  if (isJsonObject(value)) return value;
  throw unreadable(answer);
}

/** @param error why its text cannot be read */
export function unreadable({ status, text }: Pick<Answer, "status" | "text">, error?: unknown): ApiError {
  // Not quoted: an answer that broke off may be the beginning of an object with secrets.
  const why = error instanceof RangeError ? `cannot be read: ${error.message}` : "is not a JSON object";
  const message = `the cluster's answer of ${text.length} characters ${why}`;
  return new ApiError({ code: status, reason: "InternalError", message });
}

/** The error of an answer whose status is not 2xx. */
export function errorOf(answer: Answer): ApiError {
  const status = parsed(answer.text);
  const retryAfterMs = retryAfterOf(answer);
  if (status === undefined || status["kind"] !== "Status") {
    const text = answer.text.trim().slice(0, maxQuotedChars);
    return new ApiError({
      code: answer.status,
      reason: reasonByCode[answer.status] ?? "InternalError",
      message: text === "" ? `the cluster answered with status ${answer.status} and nothing else` : text,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
  return errorOfStatus(status, answer.status, retryAfterMs);
}

/** The error in a `metav1.Status`, of an answer or a watch. */
export function errorOfStatus(status: JsonObject, httpStatus: number, retryAfterMs?: number): ApiError {
  const { code, reason, message } = status;
  return new ApiError({
    code: typeof code === "number" ? code : httpStatus,
    reason: typeof reason === "string" ? shortened(reason, maxCauseChars) : "",
    message:
      typeof message === "string"
        ? shortened(message, maxMessageChars)
        : `the cluster answered with status ${httpStatus}`,
    causes: causesOf(status),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Whether a 404 says that this object does not exist, and not that its kind, version or namespace does not. */
export function isObjectMissing(answer: Answer, name: string, plural: string): boolean {
  if (answer.status !== 404) return false;
  const details = detailsOf(answer);
  return details["name"] === name && details["kind"] === plural;
}

/** Whether a 404 is about an object (which may be the namespace) and not about a path. */
export function namesAnObject(answer: Pick<Answer, "text">): boolean {
  return typeof detailsOf(answer)["name"] === "string";
}

/** The texts of `Warning: 299 - "text"` headers. */
export function warningsOf({ rawHeaders }: Pick<Answer, "rawHeaders">): readonly string[] {
  const values = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "warning");
  return values.flatMap((value) =>
    [...value.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replaceAll(/\\(.)/g, "$1")),
  );
}

/** The wait that the server asks for, in milliseconds. The header or the Status has it in seconds. */
export function retryAfterOf({ headers, text }: Pick<Answer, "headers" | "text">): number | undefined {
  const header = headers["retry-after"];
  const seconds = header === undefined ? detailsOf({ text })["retryAfterSeconds"] : Number(header);
  return typeof seconds === "number" && seconds >= 0 ? seconds * 1000 : undefined;
}

/** The details of a `Status`; empty if the answer is not one. */
function detailsOf({ text }: Pick<Answer, "text">): JsonObject {
  const details = parsed(text)?.["details"];
  return isJsonObject(details) ? details : {};
}

function causesOf(status: JsonObject): readonly ApiCause[] {
  const details = status["details"];
  const causes = isJsonObject(details) ? details["causes"] : undefined;
  if (!Array.isArray(causes)) return [];
  return causes
    .slice(0, maxCauses)
    .filter(isJsonObject)
    .map(({ reason, message, field }) => ({
      ...(typeof reason === "string" ? { reason: shortened(reason, maxCauseChars) } : {}),
      ...(typeof message === "string" ? { message: shortened(message, maxCauseChars) } : {}),
      ...(typeof field === "string" ? { field: shortened(field, maxCauseChars) } : {}),
    }));
}

/** A server may quote an object of megabytes, but the text goes into logs, events and conditions. */
function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${text.length - maxChars} more letters)`;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is an object of the cluster, with a kind, a name and a uid. */
function isLiveObject(value: unknown): value is LiveObject {
  if (!isJsonObject(value)) return false;
  const { apiVersion, kind, metadata } = value;
  return (
    typeof apiVersion === "string" &&
    typeof kind === "string" &&
    isJsonObject(metadata) &&
    typeof metadata["name"] === "string" &&
    typeof metadata["uid"] === "string"
  );
}

export function liveObject(value: unknown): LiveObject {
  if (isLiveObject(value)) return value;
  const message = "the cluster's answer is not an object: it lacks a kind, a name or a uid";
  throw new ApiError({ code: 200, reason: "InternalError", message });
}

/** An item of a list, with the kind and version of the query: items of built-in kinds come without them, partial ones with others. */
export function listItem(item: JsonObject, query: { group: string; version: string; kind: string }): LiveObject {
  return liveObject({ ...item, apiVersion: formatApiVersion(query), kind: query.kind });
}
