import { isJsonObject, type JsonObject } from "../core/json.ts";
import { type ApiCause, ApiError, type ApiReason } from "../core/ports/cluster.ts";
import type { Answer } from "./transport.ts";

const maxQuotedChars = 1_000;
/** Of a `Status`: conditions of Flux's kinds hold 32,768 letters, and ours say more than the server's message. */
export const maxMessageChars = 16_384;
export const maxCauseChars = 2_048;
/** Of a `Status`: a server names one a field. */
export const maxCauses = 1_000;

/** What the codes mean where an answer is no `Status`, for example one of a proxy before the server. */
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

/** The JSON of an answer. Throws an {@link ApiError} where it is none. */
export function jsonOf(answer: Pick<Answer, "status" | "text">): JsonObject {
  const value = parsed(answer.text);
  if (value !== undefined) return value;
  // Not quoted: of an answer that broke off, what came may be an object with secrets in it.
  const message = `the cluster's answer of ${answer.text.length} characters is no JSON object`;
  throw new ApiError({ code: answer.status, reason: "InternalError", message });
}

/** The error that an answer of another status than 2xx tells. */
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

/** The error that a `metav1.Status` tells, in an answer or in a watch. */
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

/** Whether a 404 says that this one object is not there, rather than that its kind, its version or its namespace is not. */
export function isObjectMissing(answer: Answer, name: string, plural: string): boolean {
  if (answer.status !== 404) return false;
  const details = detailsOf(answer);
  return details["name"] === name && details["kind"] === plural;
}

/** Whether a 404 is about an object that it names, be it the namespace, and not about a path. */
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

/** The server's wish in milliseconds; it gives seconds, in the header or in the Status. */
export function retryAfterOf({ headers, text }: Pick<Answer, "headers" | "text">): number | undefined {
  const header = headers["retry-after"];
  const seconds = header === undefined ? detailsOf({ text })["retryAfterSeconds"] : Number(header);
  return typeof seconds === "number" && seconds >= 0 ? seconds * 1000 : undefined;
}

/** What a `Status` tells besides its message; empty where the answer is none. */
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

/** A server may quote a whole object, of megabytes: what is told of it goes into logs, events and conditions. */
function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${text.length - maxChars} more letters)`;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
