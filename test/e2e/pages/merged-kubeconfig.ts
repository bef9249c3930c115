import type { Kubernetes } from "@sluice/embedded-kubernetes";

/** A context of a kubeconfig that the reader of a page has. */
interface Context {
  readonly context: string;
  /** The name of the entry of the cluster: its ARN where `aws eks update-kubeconfig` has written it. */
  readonly cluster: string;
  readonly server: Kubernetes;
}

/** The text of a kubeconfig with several contexts, whose first is the current one; each user may do everything. */
export function mergedKubeconfig(contexts: readonly [Context, ...Context[]]): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": contexts[0].context,
    clusters: contexts.map(({ cluster, server: { url, token } }) => ({
      name: cluster,
      cluster: { server: `${url}/access/${token}` },
    })),
    contexts: contexts.map(({ context, cluster }) => ({
      name: context,
      context: { cluster, user: context, namespace: "default" },
    })),
    users: contexts.map(({ context, server: { token } }) => ({ name: context, user: { token } })),
  });
}
