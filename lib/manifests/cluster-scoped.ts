/**
 * The kinds that kustomize knows to be cluster-scoped (kyaml 0.20, `precomputedIsNamespaceScoped`). It gives every other
 * kind a namespace, newer built-in ones included; the API server then says what it makes of that.
 */
const clusterScopedKinds: Readonly<Record<string, readonly string[]>> = {
  "admissionregistration.k8s.io/v1": ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
  "admissionregistration.k8s.io/v1beta1": ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
  "apiextensions.k8s.io/v1": ["CustomResourceDefinition"],
  "apiextensions.k8s.io/v1beta1": ["CustomResourceDefinition"],
  "apiregistration.k8s.io/v1": ["APIService"],
  "apiregistration.k8s.io/v1beta1": ["APIService"],
  "certificates.k8s.io/v1": ["CertificateSigningRequest"],
  "certificates.k8s.io/v1beta1": ["CertificateSigningRequest"],
  "flowcontrol.apiserver.k8s.io/v1beta1": ["FlowSchema", "PriorityLevelConfiguration"],
  "networking.k8s.io/v1": ["IngressClass"],
  "networking.k8s.io/v1beta1": ["IngressClass"],
  "node.k8s.io/v1": ["RuntimeClass"],
  "node.k8s.io/v1beta1": ["RuntimeClass"],
  "policy/v1beta1": ["PodSecurityPolicy"],
  "rbac.authorization.k8s.io/v1": ["ClusterRole", "ClusterRoleBinding"],
  "rbac.authorization.k8s.io/v1beta1": ["ClusterRole", "ClusterRoleBinding"],
  "scheduling.k8s.io/v1": ["PriorityClass"],
  "scheduling.k8s.io/v1beta1": ["PriorityClass"],
  "storage.k8s.io/v1": ["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
  "storage.k8s.io/v1beta1": ["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
  v1: ["ComponentStatus", "Namespace", "Node", "NodeProxyOptions", "PersistentVolume"],
};

/** Whether kustomize leaves an object of this kind without a namespace. */
export function isClusterScoped(apiVersion: string, kind: string): boolean {
  return clusterScopedKinds[apiVersion]?.includes(kind) ?? false;
}
