import { messageOf } from "../../core/failure.ts";
import { HttpError } from "../../core/ports/http.ts";

/**
 * What a registry did not answer, in the words of Flux's registry library: it first asks `/v2/`, so that is where it finds out that a
 * host does not answer, over HTTPS and, where that is allowed, over HTTP.
 */
export function inRegistryWords(error: unknown): string {
  if (!(error instanceof HttpError)) return messageOf(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.map(inRegistryWords).join("; ");
  const [, origin, why] = /^[A-Z]+ (https?:\/\/[^/\s]+)\/v2\/\S*: (.*)$/su.exec(error.message) ?? [];
  const isOfConnection = error.reason === "unreachable" || error.reason === "tls";
  return isOfConnection && origin !== undefined ? `Get "${origin}/v2/": ${why}` : error.message;
}
