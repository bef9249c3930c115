import { isJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { ObjectRef } from "../../core/object-ref.ts";

/** The words of the command line for the kinds that others wait for. */
const words = { HelmRelease: "hr", Kustomization: "ks" } as const;

/**
 * What follows Flux's text about an object that others wait for, if it is suspended: Flux does not say so, and it waits until the object
 * is resumed. Empty for one that is not suspended.
 */
export function suspendedText(
  { kind, name, namespace }: Pick<ObjectRef, "name" | "namespace"> & { readonly kind: keyof typeof words },
  { spec }: LiveObject,
): string {
  if (!isJsonObject(spec) || spec["suspend"] !== true) return "";
  return `: it is suspended, resume it with sluice resume ${words[kind]} ${name} -n ${namespace}`;
}
