/** Verbs on a resource, in a cluster or in one namespace of it. */
export interface Right {
  readonly group: string;
  /** Plural, with its subresource: `kustomizations/status`. */
  readonly resource: string;
  /** The only objects that it applies to; absent: all. */
  readonly names?: readonly string[];
  /** The only namespace that it applies to; absent: all. */
  readonly namespace?: "kube-system";
  readonly verbs: readonly Verb[];
}

/** A verb of Kubernetes' RBAC, and what needs it. */
export interface Verb {
  readonly verb: "create" | "delete" | "get" | "impersonate" | "list" | "patch";
  readonly why: string;
}
