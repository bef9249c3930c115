import { createSecureContext } from "node:tls";
import { Failure, messageOf } from "../../core/failure.ts";
import { isCertificate } from "../../core/is-certificate.ts";
import type { TlsTrust } from "../../core/ports/http.ts";
import { secretData } from "./secret-data.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** Keys of a TLS secret, with the names that they had before `kubernetes.io/tls`: the present one wins. */
const keys = { ca: ["ca.crt", "caFile"], cert: ["tls.crt", "certFile"], key: ["tls.key", "keyFile"] } as const;

/** How to trust a registry by `spec.certSecretRef` (reference 1.10). Throws a {@link Failure} `AuthenticationFailed`. */
export async function tlsTrust(url: string, name: string, of: SubjectOfRun): Promise<TlsTrust> {
  const secret = `secret '${of.namespace}/${name}'`;
  const failed = (why: string, cause?: unknown): Failure =>
    new Failure("AuthenticationFailed", `failed to generate transport for '${url}': ${why}`, { cause });
  const data = await secretData(name, of);
  if (data === undefined) throw failed(`${secret} not found`);
  const read = (names: readonly string[]): string | undefined => {
    const found = names.find((one) => (data.get(one) ?? "") !== "");
    return found === undefined ? undefined : data.get(found);
  };
  const [ca, cert, key] = [read(keys.ca), read(keys.cert), read(keys.key)];
  if (cert !== undefined && key === undefined) throw failed(`${secret} contains 'tls.crt' but missing 'tls.key'`);
  if (cert === undefined && key !== undefined) throw failed(`${secret} contains 'tls.key' but missing 'tls.crt'`);
  if (ca === undefined && cert === undefined) {
    throw failed(`${secret} must contain either 'ca.crt' or both 'tls.crt' and 'tls.key'`);
  }
  if (ca !== undefined && !isCertificate(ca)) throw failed("failed to parse CA certificate");
  if (cert === undefined || key === undefined) return ca === undefined ? {} : { ca };
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw failed(`failed to parse TLS certificate and key: ${messageOf(error)}`, error);
  }
  return { cert, key, ...(ca === undefined ? {} : { ca }) };
}
