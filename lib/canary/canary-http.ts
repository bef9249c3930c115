import type { Http } from "../core/ports/http.ts";

/**
 * The namespaces that chose the address of a request: that of the object with the address, and those of the objects that refer to it. Their
 * Services may be reached, and a name without a namespace is one of the first.
 */
export type NamingNamespaces = readonly [string, ...string[]];

/** How the Canaries of one cluster reach what they name, Services of the cluster included where the installation allows it. */
export interface CanaryHttp {
  /** For webhooks and alerts. */
  readonly of: (namespaces: NamingNamespaces) => Http;
  /** For metrics: one answer serves all that ask the same within a second. */
  readonly shared: (namespaces: NamingNamespaces) => Http;
}
