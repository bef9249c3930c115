import { isJsonObject } from "../core/json.ts";
import type { Manifest } from "../core/manifest.ts";

/** Whether the object goes by itself once it has ended well: a Job with `spec.ttlSecondsAfterFinished` (reference 3.17). */
export function mayVanish({ kind, ...manifest }: Manifest): boolean {
  const spec: unknown = manifest["spec"];
  return kind === "Job" && isJsonObject(spec) && spec["ttlSecondsAfterFinished"] !== undefined;
}
