import { lookup } from "node:dns";
import type { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { homeNetwork, type NetworkPolicy } from "../core/network/network-policy.ts";
import type { Proxy } from "../core/ports/dial.ts";
import { Secret } from "../core/secret.ts";
import { dialer } from "../http/dial.ts";
import { guardedLookup } from "../http/guarded-lookup.ts";
import { Agent } from "../http/node-http.ts";
import { retire } from "../http/retire-agent.ts";
import type { ClientCertificate, ClusterConfig } from "./cluster-config.ts";
import { certificatesIn } from "./endpoint.ts";

const maxSockets = 32;

export interface Agents {
  /** The agent for requests with this certificate. `stream`: with a connection for each watch, which is not kept. */
  of(certificate: ClientCertificate | undefined, stream: boolean): HttpAgent;
  close(): void;
  /** Keeps no connection any longer than a request needs it. */
  retire(): void;
}

/**
 * An agent with kept connections for requests, and one with a connection for each watch, both for the current certificate.
 *
 * @param network judges each address, that of a proxy too, before a connection is made; absent for the installation's own clusters
 */
export function agentsOf({ server, tls, proxy }: ClusterConfig, network?: NetworkPolicy): Agents {
  const make = (certificate: ClientCertificate | undefined, keepAlive: boolean): HttpAgent => {
    const target = placeOf(server);
    const options = {
      keepAlive,
      ...(network === undefined ? {} : { lookup: guardedLookup(target, network, lookup) }),
      ...(keepAlive ? { maxSockets } : {}),
    };
    const tunnel = proxy === undefined ? undefined : { target, proxy, network: network ?? homeNetwork };
    if (server.protocol !== "https:") return throughProxy(new Agent(options), tunnel);
    const trust = {
      rejectUnauthorized: !tls.insecure,
      ...(tls.ca === undefined ? {} : { ca: network === undefined ? tls.ca : trusted(tls.ca) }),
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
      ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key.reveal() }),
    };
    return throughProxy(new HttpsAgent({ ...options, ...trust }), tunnel, trust);
  };
  let certificate: ClientCertificate | undefined;
  let kept: HttpAgent | undefined;
  let single: HttpAgent | undefined;
  return {
    of(wanted: ClientCertificate | undefined, stream: boolean): HttpAgent {
      if (wanted !== certificate) {
        // The certificate was renewed: running requests keep their connections, new requests open new ones.
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
    retire(): void {
      if (kept !== undefined) retire(kept);
    },
  };
}

/** For a server that a user names: only the certificates that its identity consists of, without anything else that OpenSSL would read. */
function trusted(ca: string): string[] {
  return certificatesIn(ca).map(String);
}

/** Where a server listens. */
export function placeOf({ hostname, port, protocol }: URL): { readonly host: string; readonly port: number } {
  const byScheme = protocol === "https:" ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? byScheme : Number(port) };
}

interface Tunnel {
  readonly target: { readonly host: string; readonly port: number };
  readonly proxy: URL;
  readonly network: NetworkPolicy;
}

/** Longer than a request to an API server may take. */
const tunnelLimitMs = 15_000;

/**
 * The agent, whose connections are tunnels of the proxy that a kubeconfig names: the dialer judges the way to it. Not by the option
 * `proxyEnv` of Node's agents, which Node 20 and the first releases of 22 ignore without a word.
 *
 * @param trust for TLS with the target; absent for plain HTTP
 */
function throughProxy<Kind extends HttpAgent>(
  agent: Kind,
  tunnel: Tunnel | undefined,
  trust?: ConnectionOptions,
): Kind {
  if (tunnel === undefined) return agent;
  const { target, proxy, network } = tunnel;
  const dial = dialer({ network });
  const open = async (): Promise<Duplex> => {
    const socket = await dial({ ...target, proxy: proxyFrom(proxy) }, AbortSignal.timeout(tunnelLimitMs));
    if (trust === undefined) return socket;
    const named = isIP(target.host) === 0 ? { servername: target.host } : { host: target.host };
    return connectTls({ ...named, ...trust, socket });
  };
  const createConnection = (_options: unknown, done: (error: Error | null, stream?: Duplex) => void): undefined => {
    open().then(
      (socket) => done(null, socket),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return Object.assign(agent, { createConnection });
}

function proxyFrom(address: URL): Proxy {
  const url = new URL(address);
  const [username, password] = [url.username, url.password].map(decodeURIComponent);
  url.username = "";
  url.password = "";
  if (username === undefined || username === "") return { url };
  return { url, username, password: new Secret(password ?? "") };
}
