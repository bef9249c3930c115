import { X509Certificate } from "node:crypto";
import type { ClientRequest } from "node:http";
import * as nodeTls from "node:tls";
import type { TlsTrust } from "../core/ports/http.ts";

/** Node's options for a trust. */
export function tlsOptions({ ca, isCaAlone, cert, key, insecure }: TlsTrust): object {
  return {
    ...(ca === undefined ? {} : { ca: isCaAlone === true ? [ca] : [...trustedByDefault(), ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    rejectUnauthorized: insecure !== true,
  };
}

/** The authorities that Node trusts. The installed command also runs on Node 20, which knows only those that it is built with. */
function trustedByDefault(): readonly string[] {
  const names: object = nodeTls;
  return "getCACertificates" in names ? nodeTls.getCACertificates("default") : nodeTls.rootCertificates;
}

/**
 * Answers the certificate that the server of a new connection presents. It is read before Node judges it, since the connection
 * is closed by the time of the error.
 */
export function shownCertificate(outgoing: ClientRequest): () => X509Certificate | undefined {
  if (outgoing.protocol !== "https:") return () => undefined;
  let shown: X509Certificate | undefined;
  outgoing.once("socket", (socket) => {
    if (outgoing.reusedSocket || !(socket instanceof nodeTls.TLSSocket)) return;
    socket.prependOnceListener("secure", () => {
      // Not getPeerX509Certificate: after calling it, Node finds no name in the certificate.
      const certificate = socket.getPeerCertificate(true);
      if ("raw" in certificate) shown = new X509Certificate(certificate.raw);
    });
  });
  return () => shown;
}
