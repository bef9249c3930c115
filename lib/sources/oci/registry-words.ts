import { messageOf } from "../../core/failure.ts";
import { goRequestFault } from "../../core/go-request-fault.ts";
import { type FailedExchange, HttpError } from "../../core/ports/http.ts";

/**
 * What a registry did not answer, in the words of Flux's registry library: it first asks `/v2/`, so that is where it finds out that a
 * host does not answer, over HTTPS and, where that is allowed, over HTTP.
 *
 * @param host of the registry, with its port if it is not the usual one
 */
export function inRegistryWords(error: unknown, host: string): string {
  if (!(error instanceof HttpError)) return messageOf(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.map((each) => inRegistryWords(each, host)).join("; ");
  const unanswered = unansweredExchange(error);
  if (unanswered === undefined || !isOfRegistry(host, unanswered.url)) return error.message;
  return goRequestFault({ ...unanswered, method: "GET", url: `${new URL(unanswered.url).origin}/v2/` });
}

/** The exchange of an error of the connection, from the dial to the head of an answer; undefined for any other error. */
export function unansweredExchange({ exchange, reason }: HttpError): FailedExchange | undefined {
  const isOfConnection = reason === "unreachable" || reason === "tls" || reason === "protocol";
  return isOfConnection && exchange?.hasHead === false ? exchange : undefined;
}

/** Whether a URL is one of the registry's API, and not one that a redirect or a challenge named. */
export function isOfRegistry(host: string, url: string): boolean {
  const { host: found, pathname, protocol } = new URL(url);
  const base = `${protocol}//${host}`;
  return pathname.startsWith("/v2/") && URL.canParse(base) && new URL(base).host === found;
}
