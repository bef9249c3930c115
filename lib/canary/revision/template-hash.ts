import type { JsonObject } from "../../core/json.ts";
import { goDump } from "./go-dump.ts";
import { spewHash } from "./spew-hash.ts";

/**
 * Flagger's hash of a pod template as the API server answers it, with its defaults: the value of `status.lastAppliedSpec` and
 * `status.lastPromotedSpec` (reference canary 3). It distinguishes `nodeSelector: {}` from none, as Flagger's does: that of a DaemonSet is
 * hashed without `flagger.app/scale-to-zero`, and with an empty map if it is unset. Fields newer than Kubernetes 1.36 do not count. Pure.
 */
export function templateHash(template: JsonObject): string {
  return spewHash(goDump("v1.PodTemplateSpec", template));
}

/** Flagger's hash of a Service that is the target of a Canary: of its whole `spec`. Pure. */
export function serviceSpecHash(spec: JsonObject): string {
  return spewHash(goDump("v1.ServiceSpec", spec));
}
