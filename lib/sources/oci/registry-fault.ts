import { z } from "zod";
import { cutText } from "../../core/cut-text.ts";
import { limitedList } from "../../core/limited-list.ts";
import type { HttpRequest, HttpResponse } from "../../core/ports/http.ts";
import { parseJson } from "./parse-json.ts";

/** Of one answer; a registry gives one as a rule. */
export const maxRegistryErrors = 100;
/** Of what a registry answered, as it is told. */
export const maxRegistryFaultBytes = 4_096;
const maxQuotedBytes = 1024;

const Diagnostic = z.object({ code: z.string(), message: z.string().default(""), detail: z.unknown().optional() });
const Diagnostics = z.object({
  errors: limitedList(Diagnostic, maxRegistryErrors).refine((errors) => errors.length > 0),
});

/** What a registry answered instead of success, told the way Flux's registry client tells it. */
export class RegistryFault extends Error {
  override readonly name = "RegistryFault";
  readonly status: number;
  /** How long the registry asks to be left alone (429, 503). */
  readonly retryAfterMs: number | undefined;

  constructor({ method, url }: Pick<HttpRequest, "method" | "url">, response: HttpResponse, now: number) {
    super(`${method} ${withoutSecrets(url)}: ${cutText(diagnose(method, response), maxRegistryFaultBytes)}`);
    this.status = response.status;
    this.retryAfterMs = parseRetryAfter(response.headers["retry-after"], now);
  }
}

function diagnose(method: string, { status, body }: HttpResponse): string {
  const text = new TextDecoder().decode(body.subarray(0, maxQuotedBytes));
  const known = Diagnostics.safeParse(parseJson(body));
  if (known.success) {
    const all = known.data.errors.map(({ code, message, detail }) => {
      const said = `${code}: ${message}`;
      return detail === undefined || detail === null ? said : `${said}; ${asGoPrints(detail)}`;
    });
    return all.length === 1 ? all.join("") : `multiple errors returned: ${all.join("; ")}`;
  }
  const unexpected = `unexpected status code ${status} ${statusTexts[status] ?? ""}`.trimEnd();
  if (method === "HEAD") return `${unexpected} (HEAD responses have no body, use GET for details)`;
  return text === "" ? unexpected : `${unexpected}: ${text}`;
}

/** JSON as Go's `%v` prints what it decoded: `map[Tag:absent]`, `[a b]`. */
function asGoPrints(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asGoPrints).join(" ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `map[${fields.map(([key, field]) => `${key}:${asGoPrints(field)}`).join(" ")}]`;
  }
  return typeof value === "string" ? value : value === null ? "<nil>" : JSON.stringify(value);
}

/** A URL as Flux prints it: the query of a token's or a blob's URL may hold a signature. */
function withoutSecrets(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  for (const name of new Set(searchParams.keys())) {
    if (!harmless.has(name)) searchParams.set(name, "REDACTED");
  }
  return `${origin}${pathname}${searchParams.size === 0 ? "" : `?${searchParams.toString()}`}`;
}

const harmless = new Set(["digest", "from", "last", "mount", "n", "scope", "service"]);

/** Seconds or an HTTP date; undefined for anything else. Bounded by an hour, so that no registry parks an object for ever. */
function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), 3_600_000);
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
};
