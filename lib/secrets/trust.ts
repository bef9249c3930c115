import type { TlsTrust } from "../core/ports/http.ts";
import { isCertificate, keyPairFault } from "../core/validation.ts";

/** The decoded values of a Secret. */
export type SecretData = ReadonlyMap<string, string>;

/** The message of an error of the caller's type. */
type Failed = (why: string, cause?: unknown) => Error;

/** Keys of a TLS secret: the present name before the one that preceded `kubernetes.io/tls`. */
const tlsKeys = { ca: ["ca.crt", "caFile"], cert: ["tls.crt", "certFile"], key: ["tls.key", "keyFile"] } as const;

/** Whether a secret has what {@link trustIn} needs, be it readable or not: an authority, a whole pair or both, and no half pair. */
export function isWholeTrust(data: SecretData): boolean {
  const [ca, cert, key] = [tlsKeys.ca, tlsKeys.cert, tlsKeys.key].map((names) => read(data, names) !== undefined);
  return cert === key && (ca === true || cert === true);
}

function read(data: SecretData, names: readonly string[]): string | undefined {
  const found = names.find((one) => (data.get(one) ?? "") !== "");
  return found === undefined ? undefined : data.get(found);
}

/** The TLS trust in the data of a secret, in Flux's words. @param secret how the secret is named in a message */
export function trustIn(data: SecretData, secret: string, failed: Failed): TlsTrust {
  const [ca, cert, key] = [read(data, tlsKeys.ca), read(data, tlsKeys.cert), read(data, tlsKeys.key)];
  if (cert !== undefined && key === undefined) throw failed(`${secret} contains 'tls.crt' but missing 'tls.key'`);
  if (cert === undefined && key !== undefined) throw failed(`${secret} contains 'tls.key' but missing 'tls.crt'`);
  if (ca === undefined && cert === undefined) {
    throw failed(`${secret} must contain either 'ca.crt' or both 'tls.crt' and 'tls.key'`);
  }
  if (ca !== undefined && !isCertificate(ca)) throw failed("failed to parse CA certificate");
  if (cert === undefined || key === undefined) return ca === undefined ? {} : { ca };
  const fault = keyPairFault(cert, key);
  if (fault !== undefined) throw failed(`failed to parse TLS certificate and key: ${fault}`);
  return { cert, key, ...(ca === undefined ? {} : { ca }) };
}
