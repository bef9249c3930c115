import type { TlsTrust } from "../../core/ports/http.ts";
import type { RegistryCredentials } from "./docker-config.ts";

/** How to speak to one registry. */
export interface RegistryAccess {
  /** `host` or `host:port`. */
  readonly host: string;
  /** Plain HTTP is taken where the registry does not speak TLS. */
  readonly insecure: boolean;
  readonly tls?: TlsTrust;
  readonly credentials?: RegistryCredentials;
  /** Asked for them before the first request, where there are none: the login that a cloud gives. */
  readonly login?: (signal: AbortSignal) => Promise<RegistryCredentials>;
  /** For each request; 30 s where absent. */
  readonly timeoutMs?: number;
  /** For all requests of one client together; as long as they take where absent. */
  readonly totalMs?: number;
  readonly userAgent?: string;
}
