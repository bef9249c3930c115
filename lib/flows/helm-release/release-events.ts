import type { ReleaseSnapshot } from "../../api/helm-release-status.ts";
import type { EventRelation } from "../../core/event-relation.ts";
import type { EventToRecord } from "../record-event.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { chartSourceKey } from "./chart-source.ts";
import { dependencyKeys } from "./dependencies.ts";
import { isReady } from "./release-status.ts";

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
  const relation = relationOf(reason, ctx);
  const text = log.length === 0 ? message : `${message}\n\nLast Helm logs:\n\n${log.join("\n")}`;
  ctx.record({ type, reason, message: text, annotations, relation });
}

const failures: ReadonlySet<string> = new Set(["InstallFailed", "UpgradeFailed", "TestFailed", "RollbackFailed"]);
const successes: ReadonlySet<string> = new Set(["InstallSucceeded", "UpgradeSucceeded", "TestSucceeded"]);

/** With the end of an action the release is ready, or is not; a rollback or an uninstall that succeeds mends nothing. */
function relationOf(reason: string, ctx: HelmReleaseContext): EventRelation | undefined {
  if (failures.has(reason)) return { kind: "failed" };
  if (!successes.has(reason) || isReady(ctx.release.status)) return undefined;
  return { kind: "recovered", from: [chartSourceKey(ctx), ...dependencyKeys(ctx)] };
}
