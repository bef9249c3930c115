import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";

/** Node's error codes for an untrusted certificate: those of OpenSSL, and its own for a wrong name. */
const untrusted =
  /^(?:CERT_|CRL_|DEPTH_ZERO_|ERROR_IN_C|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|(?:HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED)$)/;
/** If a certificate has this many names or more, a message gives only their number. */
const maxNames = 100;

/** Whether an error of a request says that the server's certificate is not trusted. */
export function isCertificateFault(code: string): boolean {
  return untrusted.test(code);
}

/**
 * Why a server's certificate is not trusted, with the message of Go (crypto/x509, `verify.go`) that Flux shows. As in Go, the
 * validity period is checked first, then the names, then the signature. Go's guess at the intended authority is left out.
 *
 * @param code of the error that Node gave
 * @param leaf the server's own certificate; undefined where it is not known
 * @param host a name or an address that the certificate has to be for
 */
export function certificateFault(code: string, leaf: X509Certificate | undefined, host: string, now: Date): string {
  const known = leaf && (timeFault(leaf, now) ?? nameFault(leaf, host));
  return `tls: failed to verify certificate: x509: ${known ?? faultOf(code, host)}`;
}

function faultOf(code: string, host: string): string {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID" || code === "HOSTNAME_MISMATCH") return noName(host);
  if (code === "INVALID_PURPOSE") return "certificate specifies an incompatible key usage";
  return "certificate signed by unknown authority";
}

function timeFault({ validFrom, validTo }: X509Certificate, now: Date): string | undefined {
  const fault = (order: string, limit: Date) =>
    `certificate has expired or is not yet valid: current time ${timeText(now)} is ${order} ${timeText(limit)}`;
  const [from, to] = [new Date(validFrom), new Date(validTo)];
  if (now < from) return fault("before", from);
  return now > to ? fault("after", to) : undefined;
}

/** In UTC and whole seconds (RFC 3339). */
function timeText(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

function nameFault(leaf: X509Certificate, host: string): string | undefined {
  const isAddress = isIP(host) !== 0;
  // The common name no longer counts.
  if ((isAddress ? leaf.checkIP(host) : leaf.checkHost(host, { subject: "never" })) !== undefined) return undefined;
  if (leaf.subjectAltName === undefined && !isAddress && leaf.checkHost(host, { subject: "always" }) !== undefined) {
    return "certificate relies on legacy Common Name field, use SANs instead";
  }
  const names = namesOf(leaf, isAddress ? "IP Address" : "DNS");
  if (names.length >= maxNames) {
    return `certificate is valid for ${names.length} ${isAddress ? "IP SANs" : "names"}, but none matched ${host}`;
  }
  if (names.length > 0) return `certificate is valid for ${names.join(", ")}, not ${host}`;
  return noName(host);
}

function noName(host: string): string {
  return isIP(host) === 0
    ? `certificate is not valid for any names, but wanted to match ${host}`
    : `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
}

/** The names of one type. Names that Node quotes, because they contain invalid characters, are left out. */
function namesOf({ subjectAltName = "" }: X509Certificate, type: "DNS" | "IP Address"): readonly string[] {
  const pattern = new RegExp(`(?<=^|, )${type}:([\\w.:*-]+)(?=,|$)`, "g");
  return [...subjectAltName.matchAll(pattern)].map(([, name = ""]) => (isIP(name) === 6 ? shortAddress(name) : name));
}

/** `::1` for `0:0:0:0:0:0:0:1`. */
function shortAddress(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}
