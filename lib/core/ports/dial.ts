import type { Duplex } from "node:stream";
import type { Secret } from "../secret.ts";
import { PortError } from "./port-error.ts";

/** A proxy that an object names for its connections. */
export interface Proxy {
  /** `http:`, `https:` or `socks5:`, without credentials. */
  readonly url: URL;
  readonly username?: string;
  readonly password?: Secret;
}

export interface DialTarget {
  /** A name or an address; an IPv6 address with or without brackets. */
  readonly host: string;
  readonly port: number;
  /** The connection goes through it, and it resolves the host. */
  readonly proxy?: Proxy | undefined;
}

/**
 * Opens a connection for bytes of any protocol, if the network policy allows it. Throws a {@link DialError}, or the reason that `signal`
 * was aborted with; an abort has no effect once the connection is open.
 */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Duplex>;

/**
 * `refused`: the network policy forbids it, and no connection was tried. `unreachable`: no connection. `proxy`: the proxy does not
 * connect. `tls`: the certificate of the proxy is not trusted.
 */
export type DialErrorReason = "proxy" | "refused" | "tls" | "unreachable";

/** No connection. The message holds no credential. */
export class DialError extends PortError<DialErrorReason> {
  override readonly name = "DialError";
}
