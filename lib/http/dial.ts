import { lookup } from "node:dns";
import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { messageOf } from "../core/failure.ts";
import type { NetworkPolicy } from "../core/network/network-policy.ts";
import { type Dial, DialError, type DialTarget } from "../core/ports/dial.ts";
import { connectFault } from "./connect-fault.ts";
import { assertAllowed, DestinationRefused, guardedLookup, type Resolve } from "./guarded-lookup.ts";
import { proxyPort } from "./proxy-address.ts";

export interface DialOptions {
  /** Judges each address before a connection is made; of a host behind a proxy only what the object names: the proxy resolves it. */
  readonly network: NetworkPolicy;
  /** The system's resolver by default. */
  readonly resolve?: Resolve;
}

/** The dial port on Node's own sockets: directly, or through a proxy (HTTP CONNECT, or SOCKS5). */
export function dialer({ network, resolve = lookup }: DialOptions): Dial {
  const open = async ({ host, port }: DialTarget, signal: AbortSignal): Promise<Socket> => {
    const target = { host, port };
    judge(() => assertAllowed(target, network));
    const socket = connectTcp({
      host: host.replace(/^\[|\]$/g, ""),
      port,
      lookup: guardedLookup(target, network, resolve),
    });
    try {
      await once(socket, "connect", { signal });
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      throw dialFault(error, target);
    }
    return socket.setNoDelay(true);
  };

  return async (target, signal) => {
    signal.throwIfAborted();
    const { proxy } = target;
    if (proxy === undefined) return open(target, signal);
    judge(() => assertAllowed({ host: target.host, port: target.port }, network));
    const socket = await open({ host: proxy.url.hostname, port: proxyPort(proxy) }, signal);
    const abort = (): void => void socket.destroy();
    signal.addEventListener("abort", abort, { once: true });
    try {
      // Few objects name a proxy.
      const { connectByProxy } = await import("./connect-by-proxy.ts");
      return await connectByProxy(socket, target, proxy);
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  };
}

function judge(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new DialError("refused", messageOf(error), { cause: error });
  }
}

function dialFault(error: unknown, target: DialTarget): DialError {
  const cause: unknown = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
  if (cause instanceof DestinationRefused) return new DialError("refused", cause.message, { cause });
  return new DialError("unreachable", connectFault(cause, target), { cause });
}
