import type { HttpError } from "../../core/ports/http.ts";
import type { RegistryFault } from "../../sources/oci/registry-fault.ts";

/**
 * An error answer of a registry as oras-go says it, by which Helm reads charts, in place of the client by which Flux reads artifacts:
 * `GET "http://host/v2/app/tags/list": response status code 404: name unknown: repository name not known to registry`.
 */
export function orasWords({ message, status }: Pick<RegistryFault, "message" | "status">): string {
  const [, method, url, why] = /^([A-Z]+) (\S+): (.*)$/s.exec(message) ?? [];
  if (method === undefined || url === undefined || why === undefined) return message;
  // oras-go asks for pages without a size.
  return `${method} "${url.replace(/\?n=\d+$/, "")}": response status code ${status}: ${said(why)}`;
}

function said(why: string): string {
  const [, text] = /^unexpected status code \d+ ?(.*)$/s.exec(why) ?? [];
  if (text !== undefined) return text;
  return why.replaceAll(/(^|; )([A-Z_]+): ([^;]*)(?:; (?![A-Z_]+: )([^;]*))?/g, (_, before, code, message, detail) => {
    const name = String(code).toLowerCase().replaceAll("_", " ");
    return `${before}${name}: ${message}${detail === undefined ? "" : `: ${detail}`}`;
  });
}

/** The same without a login, for an answer that asks for one. */
export function orasWithoutLogin({ message }: Pick<RegistryFault, "message">): string {
  const [, method = "", url = ""] = /^([A-Z]+) (\S+): /.exec(message) ?? [];
  return `${method} "${url.replace(/\?n=\d+$/, "")}": basic credential not found`;
}

/**
 * A registry that was not reached, with the request that Helm begins with: we first ask whether it speaks TLS. Undefined for a fault of
 * another request.
 *
 * @param path of the request that Helm begins with
 */
export function orasConnectionWords({ message, reason }: HttpError, path: string | undefined): string | undefined {
  const [, url, why] = /^[A-Z]+ (\S+): (.*)$/s.exec(message) ?? [];
  if (path === undefined || url === undefined || (reason !== "tls" && reason !== "unreachable")) return undefined;
  const { origin, pathname } = new URL(url);
  return pathname === "/v2/" || pathname === path ? `Get "${origin}${path}": ${why}` : undefined;
}
