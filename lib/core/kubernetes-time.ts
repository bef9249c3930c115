/** UTC in whole seconds, as every `metav1.Time` is written. */
export function kubernetesTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
