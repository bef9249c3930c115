import type { RegistryClient } from "../registry-client.ts";

/** An artifact whose signatures are looked for: a manifest or index in a registry, by its digest. */
export interface SignedArtifact {
  readonly repository: string;
  /** `sha256:<64 hex>`: what is signed. */
  readonly digest: string;
  /** As messages name it: `host/repository@sha256:…`. */
  readonly reference: string;
  /** The registry, with the login, the trust and the proxy of the object. */
  readonly registry: Pick<RegistryClient, "blob" | "manifest" | "referrers">;
}

/** Where a check of signatures stands in time, and how it ends early. */
export interface Checking {
  /** Wall time, milliseconds since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
  /** Told why a signature was not taken, for the log. The text may quote the signature. */
  readonly refused: (why: string) => void;
}
