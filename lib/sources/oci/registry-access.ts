import type { TlsTrust } from "../../core/ports/http.ts";
import type { Secret } from "../../core/secret.ts";

/** How to speak to one registry. */
export interface RegistryAccess {
  /** `host` or `host:port`. */
  readonly host: string;
  /** Plain HTTP is taken where the registry does not speak TLS. */
  readonly insecure: boolean;
  readonly tls?: TlsTrust;
  readonly credentials?: { readonly username: string; readonly password: Secret };
  /** For each request; 30 s where absent. */
  readonly timeoutMs?: number;
  readonly userAgent?: string;
}
