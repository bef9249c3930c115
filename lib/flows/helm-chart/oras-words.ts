import { goRequestFault } from "../../core/go-request-fault.ts";
import type { HttpError } from "../../core/ports/http.ts";
import { type RegistryRefusal, statusText } from "../../sources/oci/registry-fault.ts";
import { isOfRegistry, unansweredExchange } from "../../sources/oci/registry-words.ts";

/** A step of Helm that asks the registry. */
export interface OrasStep {
  /** The path of its request: `/v2/app/tags/list`. */
  readonly path: string;
  /** The copy that it is part of; undefined for the list of tags. */
  readonly copy?: {
    readonly operation: "Fetch" | "FetchReference";
    /** What is missing where the registry answers 404. */
    readonly what: string;
  };
}

/**
 * An error answer of a registry in the words of oras-go: Helm reads charts with oras-go, whose errors differ from those of
 * go-containerregistry.
 *
 * @param hasCredentials whether the requests have credentials
 */
export function orasWords(refusal: RegistryRefusal, step: OrasStep, hasCredentials: boolean): string {
  const { challenge, status, tokenFor } = refusal;
  if (tokenFor !== undefined) return inCopy(step, `${named(tokenFor)}: ${answered(refusal)}`);
  if (status === 404 && step.copy !== undefined) return inCopy(step, `${step.copy.what}: not found`);
  const hasNoLogin = status === 401 && challenge === "basic" && !hasCredentials;
  return inCopy(step, hasNoLogin ? `${named(refusal)}: basic credential not found` : answered(refusal));
}

/**
 * A registry that does not answer, with the request that Helm sends: we may have asked before whether it speaks TLS. Errors of other
 * hosts, and those that are not about the connection, keep our words.
 *
 * @param host of the registry, with its port if it is not the usual one
 */
export function orasConnectionWords(error: HttpError, step: OrasStep, host: string): string {
  const unanswered = unansweredExchange(error);
  if (unanswered === undefined || !isOfRegistry(host, unanswered.url)) return error.message;
  return inCopy(step, goRequestFault({ ...unanswered, method: "GET", url: new URL(step.path, unanswered.url).href }));
}

function inCopy({ copy }: OrasStep, why: string): string {
  return copy === undefined ? why : `failed to perform "${copy.operation}" on source: ${why}`;
}

function answered(refusal: RegistryRefusal): string {
  const { errors, status } = refusal;
  const told = errors.map(({ code, message, detail }) => {
    const name = `${code.toLowerCase().replaceAll("_", " ")}: ${message}`;
    return detail === undefined ? name : `${name}: ${detail}`;
  });
  return `${named(refusal)}: response status code ${status}: ${told.length === 0 ? statusText(status) : told.join("; ")}`;
}

/** oras-go asks for pages without a size. */
function named({ method, url }: Pick<RegistryRefusal, "method" | "url">): string {
  return `${method} ${JSON.stringify(url.replace(/\?n=\d+$/, ""))}`;
}
