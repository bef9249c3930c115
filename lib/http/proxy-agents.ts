import type { ClientRequestArgs, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import type { Dial, DialTarget, Proxy } from "../core/ports/dial.ts";
import { Agent } from "./node-http.ts";
import { isForwarded, proxyPort } from "./proxy-address.ts";

/** The way of one exchange through a proxy. */
export interface ProxyRoute {
  readonly proxy: Proxy;
  readonly dial: Dial;
  /** How to trust a server of https behind the proxy. */
  readonly tls: ConnectionOptions;
  /** Ends the attempt to connect. */
  readonly signal: AbortSignal;
}

type Connected = (error: Error | null, stream?: Duplex) => void;

/**
 * The agent for one exchange through a proxy: its connections are tunnels, but for what a proxy of HTTP takes itself
 * ({@link isForwarded}). They are not kept, since they belong to the login of one object.
 */
export function proxyAgent(url: URL, route: ProxyRoute): HttpAgent {
  const { dial, proxy, signal, tls } = route;
  const isTaken = isForwarded(url, proxy);
  const connect = async ({ host, port }: ClientRequestArgs): Promise<Duplex> => {
    const target: DialTarget = { host: (host ?? "").replace(/^\[|\]$/g, ""), port: Number(port), proxy };
    if (isTaken) {
      const socket = await dial({ host: proxy.url.hostname, port: proxyPort(proxy) }, signal);
      const { wayToProxy } = await import("./connect-by-proxy.ts");
      return wayToProxy(socket, proxy);
    }
    const socket = await dial(target, signal);
    if (url.protocol === "http:") return socket;
    const named = isIP(target.host) === 0 ? { servername: target.host } : { host: target.host };
    return connectTls({ ...tls, ...named, socket });
  };
  const createConnection = (options: ClientRequestArgs, done: Connected): undefined => {
    connect(options).then(
      (socket) => done(null, socket),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  };
  const agent = url.protocol === "http:" ? new Agent({ keepAlive: false }) : new HttpsAgent({ keepAlive: false });
  return Object.assign(agent, { createConnection });
}
