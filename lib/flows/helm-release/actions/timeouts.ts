import { parseDuration } from "../../../core/duration.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";

/** How long one operation of Kubernetes may take in an action: its own timeout, else that of the spec, else five minutes. */
export function timeoutMsOf(
  action: "install" | "rollback" | "test" | "uninstall" | "upgrade",
  { release: { spec } }: Pick<HelmReleaseContext, "release">,
): number {
  return parseDuration(spec[action]?.timeout ?? spec.timeout ?? "5m");
}
