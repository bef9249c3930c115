import type { X509Certificate } from "node:crypto";
import { messageOf } from "../core/failure.ts";
import { DialError } from "../core/ports/dial.ts";
import { HttpError, type HttpErrorReason, type HttpRequest } from "../core/ports/http.ts";
import { certificateFault, isCertificateFault } from "./certificate-fault.ts";
import { connectFault } from "./connect-fault.ts";
import { DestinationRefused } from "./guarded-lookup.ts";
import { handshakeFault } from "./handshake-fault.ts";
import { requestUrl } from "./request-url.ts";

/** Why a request got no answer; `shown` is the certificate that the server has presented. */
export function noAnswer(
  error: unknown,
  request: HttpRequest,
  url: URL,
  shown: X509Certificate | undefined,
): HttpError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (isCertificateFault(code)) {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    return failed("tls", request, url, certificateFault(code, shown, host, new Date()), error);
  }
  const hasTried =
    error instanceof Error && "syscall" in error && ["connect", "getaddrinfo"].includes(String(error.syscall));
  const message = messageOf(error);
  const why = hasTried ? connectFault(error, requestUrl(url).target) : (handshakeFault(message) ?? message);
  return failed(reasonOf(error, code), request, url, why, error);
}

function reasonOf(error: unknown, code: string): HttpErrorReason {
  if (error instanceof DestinationRefused) return "refused";
  if (error instanceof DialError) return error.reason === "proxy" ? "unreachable" : error.reason;
  // A handshake fails mostly because the server does not speak TLS.
  return /^(HPE_|ERR_SSL|EPROTO$|ECONNRESET$)/.test(code) ? "protocol" : "unreachable";
}

/** The error of a request, which names its address without the query: that may hold a secret. */
export function failed(
  reason: HttpErrorReason,
  { method }: HttpRequest,
  url: URL,
  why: string,
  cause?: unknown,
  hasHead = false,
): HttpError {
  const shown = `${url.origin}${url.pathname}`;
  const exchange = { method, url: shown, why, hasHead };
  return new HttpError(reason, `${method} ${shown}: ${why}`, { cause, exchange });
}
