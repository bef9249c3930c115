import { connect, type LookupFunction } from "node:net";
import type { DialTarget } from "../core/ports/dial.ts";

/** The header of a TLS record is as long. */
const headerBytes = 5;
/** The begin of a handshake, and the end of a line, for which servers of HTTP wait. */
const greeting = Buffer.from("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00\r\n\r\n", "latin1");

const maxWaitMs = 2_000;

/** OpenSSL's reason in a text of Node. The rest of it, as an address in memory, differs each time. */
function reasonIn(message: string): string | undefined {
  return /error:[0-9A-F]+:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1]?.trim();
}

/** Whether a server answers a TLS handshake with something that is not TLS. */
export function isWithoutTls(message: string): boolean {
  return reasonIn(message) === "wrong version number";
}

/**
 * A failed TLS handshake in the words of Go's client; undefined for a text that is not OpenSSL's.
 *
 * @param firstBytes with which a server without TLS answers, if they are known
 */
export function handshakeFault(message: string, firstBytes: string | undefined): string | undefined {
  const reason = reasonIn(message);
  if (reason === undefined) return undefined;
  if (isWithoutTls(message)) {
    return firstBytes === "HTTP/"
      ? "http: server gave HTTP response to HTTPS client"
      : "tls: first record does not look like a TLS handshake";
  }
  const [, alert] = /SSL alert number (\d+)/.exec(message) ?? [];
  if (alert === undefined) return `tls: ${reason}`;
  return `remote error: tls: ${alertTexts[Number(alert)] ?? `alert(${alert})`}`;
}

/**
 * The first bytes with which a server without TLS answers a handshake: Node does not tell them, so a second connection asks for
 * them. Undefined if there are none.
 *
 * @param lookup judges the address, as for the first connection
 */
export async function firstBytesOf(
  { host, port }: Pick<DialTarget, "host" | "port">,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<string | undefined> {
  const socket = connect({ host: host.replace(/^\[|\]$/g, ""), port, lookup, signal });
  socket.write(greeting);
  socket.setTimeout(maxWaitMs, () => void socket.destroy());
  const received: Uint8Array[] = [];
  let bytes = 0;
  try {
    const chunks: AsyncIterable<Uint8Array> = socket;
    for await (const chunk of chunks) {
      received.push(chunk);
      bytes += chunk.length;
      if (bytes >= headerBytes) break;
    }
  } catch {
    // What has arrived counts.
  } finally {
    socket.destroy();
  }
  return bytes === 0 ? undefined : Buffer.concat(received).toString("latin1", 0, headerBytes);
}

/** The alerts of TLS (RFC 8446, section 6), as Go's `crypto/tls` names them. */
const alertTexts: Readonly<Record<number, string>> = {
  0: "close notify",
  10: "unexpected message",
  20: "bad record MAC",
  21: "decryption failed",
  22: "record overflow",
  30: "decompression failure",
  40: "handshake failure",
  42: "bad certificate",
  43: "unsupported certificate",
  44: "revoked certificate",
  45: "expired certificate",
  46: "unknown certificate",
  47: "illegal parameter",
  48: "unknown certificate authority",
  49: "access denied",
  50: "error decoding message",
  51: "error decrypting message",
  60: "export restriction",
  70: "protocol version not supported",
  71: "insufficient security level",
  80: "internal error",
  86: "inappropriate fallback",
  90: "user canceled",
  100: "no renegotiation",
  109: "missing extension",
  110: "unsupported extension",
  111: "certificate unobtainable",
  112: "unrecognized name",
  113: "bad certificate status response",
  114: "bad certificate hash value",
  115: "unknown PSK identity",
  116: "certificate required",
  120: "no application protocol",
  121: "encrypted client hello required",
};
