import type { FlowResult } from "../../core/ports/run.ts";
import { secretReleaseStore } from "../../helm/secret-release-store.ts";
import { fullReleaseName, versionedChart } from "../../helm/snapshot.ts";
import { withoutFailures } from "./action-end.ts";
import { hidingEnd } from "./actions/hide-secrets.ts";
import { releaseActions } from "./actions/release-actions.ts";
import { alreadyDeleted, releaseNotFound } from "./actions/uninstall.ts";
import type { ReleaseAttempt } from "./attempt/attempt.ts";
import { type Carried, toCarried } from "./carried.ts";
import { metadataOf, recordRelease } from "./release-events.ts";
import { withConditions } from "./release-status.ts";
import { reportBackoff } from "./report.ts";
import { takeReset } from "./requests.ts";

/**
 * Uninstalls the release where its name or place is another by now (reference helmrelease 5). Undefined where nothing has changed; else the
 * next run installs it.
 */
export async function changedTarget(attempt: ReleaseAttempt, carried: Carried): Promise<FlowResult | undefined> {
  const { chart, ctx, healthRules, names } = attempt;
  const { history = [], storageNamespace } = ctx.status();
  const [latest] = history;
  if (storageNamespace === undefined || latest === undefined) return undefined;
  const inPlace = ctx.release.spec.upgrade?.chartNameChangeStrategy === "InPlaceUpdate";
  const isSame =
    storageNamespace === names.storageNamespace &&
    latest.namespace === names.namespace &&
    latest.name === names.name &&
    (inPlace || latest.chartName === chart.metadata.name);
  if (isSame) return undefined;
  const tenant = { cluster: ctx.run.key.cluster, namespace: ctx.namespace };
  const { clock, helm } = ctx.deps;
  const store = secretReleaseStore(
    { name: latest.name, storageNamespace },
    { cluster: ctx.target, helm, clock, tenant },
  );
  const release = { releaseName: latest.name, releaseNamespace: latest.namespace };
  const order = { ctx, store, ...release, reason: "target-changed", healthRules } as const;
  const outcome = await releaseActions.uninstall(order, carried.pass?.wait);
  if (outcome.kind === "waiting") {
    const pass = { token: attempt.token, generation: ctx.generation, ran: [], wait: { ...outcome.wait } };
    return { outcome: "waiting", dueInMs: outcome.dueInMs, carried: toCarried({ ...carried, pass }) };
  }
  const about = `release ${fullReleaseName(latest)} with chart ${versionedChart(latest)}`;
  const isGone =
    outcome.kind === "succeeded" ||
    outcome.message === releaseNotFound ||
    outcome.message === alreadyDeleted(latest.name);
  if (!isGone) {
    const end = await hidingEnd(outcome, attempt);
    const message = `Helm uninstall failed for ${about}: ${end.message.trim()}`;
    recordRelease(ctx, { type: "Warning", reason: "UninstallFailed", message }, metadataOf(latest), end.log);
    const said = { status: "False", reason: "UninstallFailed", message } as const;
    const failed = { ...ctx.status(), failures: (ctx.status().failures ?? 0) + 1 };
    const status = withConditions(failed, ctx, { type: "Released", ...said }, { type: "Ready", ...said });
    return reportBackoff(status, carried, attempt);
  }
  const message =
    outcome.kind === "succeeded"
      ? `Helm uninstall succeeded for ${about}`
      : `Release ${fullReleaseName(latest)} was not found, assuming it is uninstalled`;
  if (outcome.kind === "succeeded") {
    recordRelease(ctx, { type: "Normal", reason: "UninstallSucceeded", message }, metadataOf(latest));
  }
  const {
    history: _history,
    inventory: _inventory,
    storageNamespace: _storage,
    ...rest
  } = withoutFailures(ctx.status());
  const said = { status: "False", reason: "UninstallSucceeded", message } as const;
  await ctx.write(withConditions(rest, ctx, { type: "Released", ...said }, { type: "Ready", ...said }));
  const { pass: _pass, ...next } = carried;
  return { outcome: "applied", dueInMs: 0, carried: toCarried(next) };
}

/** Notes what is attempted, and resets the counters where it is something else than before (reference helmrelease 8.4). */
export function noteAttempt(attempt: ReleaseAttempt): void {
  const { chart, configDigest, ctx, names } = attempt;
  const before = ctx.status();
  const isOther =
    before.lastAttemptedGeneration !== ctx.generation ||
    before.lastAttemptedRevision !== chart.metadata.version ||
    before.lastAttemptedConfigDigest !== configDigest;
  const reset = takeReset(isOther ? withoutFailures(before) : before, ctx);
  const { lastAttemptedRevisionDigest: _former, ...rest } = reset;
  const status = {
    ...rest,
    storageNamespace: names.storageNamespace,
    lastAttemptedGeneration: ctx.generation,
    lastAttemptedRevision: chart.metadata.version,
    ...(chart.ociDigest === "" ? {} : { lastAttemptedRevisionDigest: chart.ociDigest }),
    lastAttemptedConfigDigest: configDigest,
  };
  ctx.note(status);
}
