/** OpenSSL's reason in a text of Node. The rest of it, as an address in memory, differs each time. */
function reasonIn(message: string): string | undefined {
  return /error:[0-9A-F]+:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1]?.trim();
}

/**
 * A failed TLS handshake in the words of Go's client; undefined for a text that is not OpenSSL's. Node does not say what a server without TLS
 * has answered: nearly always it is HTTP.
 */
export function handshakeFault(message: string): string | undefined {
  const reason = reasonIn(message);
  if (reason === undefined) return undefined;
  if (reason === "wrong version number") return "http: server gave HTTP response to HTTPS client";
  const [, alert] = /SSL alert number (\d+)/.exec(message) ?? [];
  if (alert === undefined) return `tls: ${reason}`;
  return `remote error: tls: ${alertTexts[Number(alert)] ?? `alert(${alert})`}`;
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
