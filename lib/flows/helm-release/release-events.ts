import type { ReleaseSnapshot } from "../../api/helm-release-status.ts";
import type { EventToRecord } from "../record-event.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";

const prefix = "helm.toolkit.fluxcd.io";

/** The metadata of an event about a release (reference helmrelease 15). */
export interface EventMetadata {
  /** The version of the chart. */
  readonly revision: string;
  /** The digest of the values. */
  readonly token: string;
  readonly appVersion: string;
  readonly ociDigest: string;
}

/** That of a revision. */
export function metadataOf({
  appVersion = "",
  chartVersion,
  configDigest,
  ociDigest = "",
}: ReleaseSnapshot): EventMetadata {
  return { revision: chartVersion, token: configDigest, appVersion, ociDigest };
}

/** Records an event about a release. `log`: lines of Helm's log that follow the message. */
export function recordRelease(
  ctx: HelmReleaseContext,
  { type, reason, message }: Pick<EventToRecord, "message" | "reason" | "type">,
  { appVersion, ociDigest, revision, token }: EventMetadata,
  log: readonly string[] = [],
): void {
  const annotations = {
    [`${prefix}/revision`]: revision,
    [`${prefix}/token`]: token,
    ...(appVersion === "" ? {} : { [`${prefix}/app-version`]: appVersion }),
    ...(ociDigest === "" ? {} : { [`${prefix}/oci-digest`]: ociDigest }),
  };
  const text = log.length === 0 ? message : `${message}\n\nLast Helm logs:\n\n${log.join("\n")}`;
  ctx.record({ type, reason, message: text, annotations });
}
