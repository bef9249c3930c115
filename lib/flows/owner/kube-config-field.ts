import { z } from "zod";
import type { LiveObject } from "../../core/manifest.ts";

const SecretReference = z.object({ name: z.string(), key: z.string().default("") });
export type SecretReference = z.output<typeof SecretReference>;

const KubeConfig = z.union([
  z.object({ secretRef: SecretReference, configMapRef: z.undefined().optional() }),
  z.object({ configMapRef: z.object({ name: z.string() }), secretRef: z.undefined().optional() }),
]);

/** Whether the object names another cluster to apply to. Reads the raw object, since the deletion of an invalid one needs it too. */
export function hasKubeConfig({ spec }: LiveObject): boolean {
  const parsed = z.object({ kubeConfig: z.unknown() }).safeParse(spec);
  return parsed.success && parsed.data.kubeConfig !== undefined && parsed.data.kubeConfig !== null;
}

/** The reference, as one text: the same for two objects of a namespace that name the same Secret or ConfigMap. */
export function kubeConfigText({ spec, metadata }: LiveObject): string {
  return JSON.stringify([metadata.namespace, KubeConfigOf.safeParse(spec).data?.kubeConfig]);
}

/** A spec that names another cluster, by a Secret or by a ConfigMap. */
export const KubeConfigOf = z.object({ kubeConfig: KubeConfig });
