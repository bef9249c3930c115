import type { Http } from "../core/ports/http.ts";

/**
 * Who has named the address of a request: the namespace of the object that has it, and those of the objects that refer to that one. Their
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
