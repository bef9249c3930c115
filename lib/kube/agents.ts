import type { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { ClientCertificate, ClusterConfig } from "./cluster-config.ts";
import { Agent } from "./node-http.ts";

const maxSockets = 32;

export interface Agents {
  /** For one watch each, or with connections that are kept. */
  of(certificate: ClientCertificate | undefined, stream: boolean): HttpAgent;
  close(): void;
}

/** Agents with kept connections for requests, and one whose connections serve one watch each, for the certificate of now. */
export function agentsOf({ server, tls, proxy }: ClusterConfig): Agents {
  const proxyEnv = proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy.href, HTTPS_PROXY: proxy.href } };
  const make = (certificate: ClientCertificate | undefined, keepAlive: boolean): HttpAgent => {
    const options = { keepAlive, ...proxyEnv };
    if (server.protocol !== "https:") return new Agent({ ...options, ...(keepAlive ? { maxSockets } : {}) });
    return new HttpsAgent({
      ...options,
      ...(keepAlive ? { maxSockets } : {}),
      rejectUnauthorized: !tls.insecure,
      ...(tls.ca === undefined ? {} : { ca: tls.ca }),
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
      ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key.reveal() }),
    });
  };
  let certificate: ClientCertificate | undefined;
  let kept: HttpAgent | undefined;
  let single: HttpAgent | undefined;
  return {
    of(wanted: ClientCertificate | undefined, stream: boolean): HttpAgent {
      if (wanted !== certificate) {
        // A renewed certificate: requests on the way keep their connections, new ones get new ones.
        certificate = wanted;
        if (kept !== undefined) retire(kept);
        kept = undefined;
        single = undefined;
      }
      if (stream) return (single ??= make(certificate, false));
      return (kept ??= make(certificate, true));
    },
    close(): void {
      kept?.destroy();
      single?.destroy();
    },
  };
}

/** Closes what is idle now, and everything else as soon as it is: nobody will ask this agent for a connection again. */
function retire(agent: HttpAgent): void {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}
