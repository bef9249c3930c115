/**
 * A kubeconfig with one cluster, user and context. The token is also in the server's path: kubectl sends no
 * Authorization header over plain HTTP.
 */
export function kubeconfigText(server: string, token: string): string {
  return `apiVersion: v1
kind: Config
clusters:
  - name: sluice-local
    cluster:
      server: ${server}/access/${token}
contexts:
  - name: sluice-local
    context:
      cluster: sluice-local
      namespace: default
      user: admin
current-context: sluice-local
users:
  - name: admin
    user:
      token: ${token}
`;
}
