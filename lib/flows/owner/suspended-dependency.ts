import { isJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { ObjectRef } from "../../core/object-ref.ts";

/** The command-line words for kinds that other objects wait for. */
const words = { HelmRelease: "hr", Kustomization: "ks" } as const;

/**
 * The addition to Flux's text if the object waited for is suspended: Flux does not say so, and the wait lasts until it is resumed.
 * Empty for one that is not suspended.
 */
export function suspendedText(
  { kind, name, namespace }: Pick<ObjectRef, "name" | "namespace"> & { readonly kind: keyof typeof words },
  { spec }: LiveObject,
): string {
  if (!isJsonObject(spec) || spec["suspend"] !== true) return "";
  return `: it is suspended, resume it with sluice resume ${words[kind]} ${name} -n ${namespace}`;
}
