import { z } from "zod";
import { Failure, type Reason } from "../../core/failure.ts";
import { parseJson } from "../../core/json.ts";
import { HttpError, type HttpRequest, type HttpResponse } from "../../core/ports/http.ts";
import { PortError } from "../../core/ports/port-error.ts";
import { RegistryLoginError } from "../../core/ports/registry-login.ts";
import { limitedList } from "../../core/validation.ts";

/** Errors in one answer; usually a registry sends one. */
export const maxRegistryErrors = 100;

const Diagnostic = z.object({ code: z.string(), detail: z.unknown().optional() });
const Diagnostics = z.object({
  errors: limitedList(Diagnostic, maxRegistryErrors).refine((errors) => errors.length > 0),
});

/** `refused`: any other answer that blames the request. */
export type RegistryFaultReason = "denied" | "not-found" | "refused" | "throttled" | "unauthorized" | "unavailable";

/** A request, as errors name it. */
type AskedRequest = Pick<HttpRequest, "method" | "url">;

/** An error in the answer of a registry. */
interface RegistryDiagnostic {
  /** `MANIFEST_UNKNOWN`. */
  readonly code: string;
  /** The text of the specification. */
  readonly message: string;
  /** As Go prints it. */
  readonly detail?: string;
}

/** What a registry, or the token service that it names, answered instead of what was asked for. */
export interface RegistryRefusal {
  readonly method: string;
  /** Without secrets. */
  readonly url: string;
  readonly status: number;
  /** The errors with known codes, each once. */
  readonly errors: readonly RegistryDiagnostic[];
  /** The scheme of the first challenge in the answer, in lower case: `basic`, `bearer`. */
  readonly challenge: string | undefined;
  /** The request to the registry that asked for a token; undefined if the answer is the registry's own. */
  readonly tokenFor: AskedRequest | undefined;
}

/** An error answer of a registry, in the form of Flux's registry client and without the registry's own words. */
export class RegistryFault extends PortError<RegistryFaultReason> {
  override readonly name = "RegistryFault";
  readonly status: number;
  /** How long the registry asks us to wait (429, 503). */
  readonly retryAfterMs: number | undefined;
  /** What happened, for those who say it in other words than Flux's registry client. */
  readonly refusal: RegistryRefusal;

  constructor(asked: AskedRequest, response: HttpResponse, now: number, tokenFor?: AskedRequest) {
    const { headers, status } = response;
    const refusal = {
      method: asked.method,
      url: withoutSecrets(asked.url),
      status,
      errors: diagnosticsIn(asked.url, response),
      challenge: /^\s*([^\s,]+)/.exec(headers["www-authenticate"] ?? "")?.[1]?.toLowerCase(),
      tokenFor: tokenFor && { method: tokenFor.method, url: withoutSecrets(tokenFor.url) },
    };
    super(reasonOf(status), refusalWords(refusal));
    this.status = status;
    this.retryAfterMs = parseRetryAfter(headers["retry-after"], now);
    this.refusal = refusal;
  }
}

/** A refusal as go-containerregistry says it, by which Flux reads artifacts and verifies charts. */
function refusalWords({ method, url, status, errors }: RegistryRefusal): string {
  const [first, ...more] = errors.map(({ code, message, detail }) =>
    detail === undefined ? `${code}: ${message}` : `${code}: ${message}; ${detail}`,
  );
  if (first !== undefined) {
    const all = more.length === 0 ? first : `multiple errors returned: ${[first, ...more].join("; ")}`;
    return `${method} ${url}: ${all}`;
  }
  const unexpected = `unexpected status code ${status} ${statusText(status)}`.trimEnd();
  const hint = method === "HEAD" ? " (HEAD responses have no body, use GET for details)" : "";
  return `${method} ${url}: ${unexpected}${hint}`;
}

function reasonOf(status: number): RegistryFaultReason {
  if (status >= 500) return "unavailable";
  return reasonByStatus[status] ?? "refused";
}

const reasonByStatus: Readonly<Record<number, RegistryFaultReason>> = {
  401: "unauthorized",
  403: "denied",
  404: "not-found",
  429: "throttled",
};

/**
 * The error codes of an answer, with the texts of the specification. The registry's own texts could be anything, even those of
 * another server, and must not go into a status. An answer without known codes is described by its status code.
 */
function diagnosticsIn(url: string, { body }: HttpResponse): readonly RegistryDiagnostic[] {
  const parsed = Diagnostics.safeParse(jsonOf(body));
  const told = new Map<string, RegistryDiagnostic>();
  for (const { code, detail } of parsed.data?.errors ?? []) {
    const message = standardMessages.get(code);
    if (message === undefined) continue;
    const harmless = harmlessDetail(detail, url);
    told.set(`${code} ${harmless ?? ""}`, { code, message, ...(harmless === undefined ? {} : { detail: harmless }) });
  }
  return [...told.values()];
}

/** The error codes of the distribution specification and of its reference registry, with the reference registry's texts. */
const standardMessages: ReadonlyMap<string, string> = new Map([
  ["BLOB_UNKNOWN", "blob unknown to registry"],
  ["BLOB_UPLOAD_INVALID", "blob upload invalid"],
  ["BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry"],
  ["DENIED", "requested access to the resource is denied"],
  ["DIGEST_INVALID", "provided digest did not match uploaded content"],
  ["MANIFEST_BLOB_UNKNOWN", "blob unknown to registry"],
  ["MANIFEST_INVALID", "manifest invalid"],
  ["MANIFEST_UNKNOWN", "manifest unknown"],
  ["MANIFEST_UNVERIFIED", "manifest failed signature verification"],
  ["NAME_INVALID", "invalid repository name"],
  ["NAME_UNKNOWN", "repository name not known to registry"],
  ["PAGINATION_NUMBER_INVALID", "invalid number of results requested"],
  ["RANGE_INVALID", "invalid content range"],
  ["SIZE_INVALID", "provided length did not match content length"],
  ["TAG_INVALID", "manifest tag did not match URI"],
  ["TOOMANYREQUESTS", "too many requests"],
  ["UNAUTHORIZED", "authentication required"],
  ["UNAVAILABLE", "service unavailable"],
  ["UNKNOWN", "unknown error"],
  ["UNSUPPORTED", "The operation is unsupported."],
]);

/** Words that registries put around what they were asked for: `unknown tag=v1`, `map[Name:app Revision:sha256:…]`. */
const detailWords = new Set(
  "Action Class Digest Name Reference Revision Tag Type digest manifest map name pull push reference repository revision tag unknown".split(
    " ",
  ),
);
const maxDetailChars = 512;
const maxDetailDepth = 3;

/** The detail of an error as Flux prints it, if it repeats only what the request asked for. */
function harmlessDetail(detail: unknown, url: string): string | undefined {
  if (detail === undefined || detail === null) return undefined;
  const text = asGoPrints(detail);
  const [, repository = "", reference = ""] = /^\/v2\/(.+)\/[a-z]+\/([^/]*)$/.exec(new URL(url).pathname) ?? [];
  const asked = new Set([repository, reference, ...reference.split(":")]);
  const words = text.split(/[\s=:[\]]+/).filter((word) => word !== "");
  const isHarmless = text.length <= maxDetailChars && words.every((word) => detailWords.has(word) || asked.has(word));
  return isHarmless ? text : undefined;
}

/** JSON as Go's `%v` prints it: `map[Tag:absent]`, `[a b]`. Values nested deeper than {@link maxDetailDepth} become `…`. */
function asGoPrints(value: unknown, depth = 0): string {
  if (depth > maxDetailDepth) return "…";
  if (Array.isArray(value)) return `[${value.map((each) => asGoPrints(each, depth + 1)).join(" ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `map[${fields.map(([key, field]) => `${key}:${asGoPrints(field, depth + 1)}`).join(" ")}]`;
  }
  return typeof value === "string" ? value : value === null ? "<nil>" : JSON.stringify(value);
}

/** A URL as Flux prints it, without query parameters that may hold a signature. */
function withoutSecrets(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  for (const name of new Set(searchParams.keys())) {
    if (!harmless.has(name)) searchParams.set(name, "REDACTED");
  }
  return `${origin}${pathname}${searchParams.size === 0 ? "" : `?${searchParams.toString()}`}`;
}

const harmless = new Set(["digest", "from", "last", "mount", "n", "scope", "service"]);

/** Seconds or an HTTP date; undefined for anything else. At most an hour, so that no registry can stop an object for long. */
function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), 3_600_000);
}

/** The usual text of a status; empty for an unusual one. */
export function statusText(status: number): string {
  return statusTexts[status] ?? "";
}

const statusTexts: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  416: "Requested Range Not Satisfiable",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  507: "Insufficient Storage",
};

/** A {@link Failure} for an error of a registry or its login. Any other error (a bug, the end of the run) is answered unchanged. */
export function failureOf(reason: Reason, message: string, error: unknown, signal: AbortSignal): unknown {
  signal.throwIfAborted();
  const isForeseen =
    error instanceof RegistryFault || error instanceof HttpError || error instanceof RegistryLoginError;
  if (!isForeseen) return error;
  return new Failure(reason, message, { cause: error });
}

/** The bytes parsed as JSON; undefined if they are not JSON or have too many values, which a schema then refuses. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
