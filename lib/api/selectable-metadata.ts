import { digestOf } from "../core/digest.ts";
import { canonicalJson } from "../core/json.ts";
import type { Metadata } from "../core/manifest.ts";
import { requestedAtAnnotation } from "./names.ts";

/** Annotations that cannot select an object: a time that changes with every request, and a copy of its manifest. */
const volatile: ReadonlySet<string> = new Set([
  requestedAtAnnotation,
  "kubectl.kubernetes.io/last-applied-configuration",
]);

/** The annotations that filters of a Receiver see. */
export function withoutVolatile(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !volatile.has(key)));
}

/** Sixteen hexadecimal digits that change with the labels and annotations by which Receivers select an object. */
export function selectionDigest({ labels = {}, annotations = {} }: Metadata): string {
  return digestOf(canonicalJson([labels, withoutVolatile(annotations)])).slice("sha256:".length, "sha256:".length + 16);
}
