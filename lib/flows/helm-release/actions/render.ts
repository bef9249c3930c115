import type { EngineLimits } from "../../../core/ports/engine.ts";
import type { Rendered, RenderedObject } from "../../../core/ports/helm-engine.ts";
import type { StoredRevision } from "../../../helm/release-store.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { lookupIn } from "./lookup.ts";

/** To render a chart: one of 333 objects takes two seconds. */
export const renderLimits: EngineLimits = { maxCpuMs: 60_000, maxWallMs: 240_000, maxOutputBytes: 32 * 1024 * 1024 };

/** To load a chart and read `crds/`. */
const definitionLimits: EngineLimits = { maxCpuMs: 30_000, maxWallMs: 120_000, maxOutputBytes: 32 * 1024 * 1024 };

/** What lies in `crds/` of the chart of the release that is wanted. It is applied before the release is rendered, whose templates may look it up. */
export async function releaseDefinitions(
  attempt: ReleaseAttempt,
  former?: StoredRevision,
): Promise<readonly RenderedObject[]> {
  const { deps, run } = attempt.ctx;
  return deps.helm.definitions(await chartInput(attempt, former), definitionLimits, run.signal);
}

async function chartInput({ chart, ctx, values }: ReleaseAttempt, former: StoredRevision | undefined) {
  const { namespace, run } = ctx;
  return {
    tenant: { cluster: run.key.cluster, namespace },
    chart: await chart.bytes(run.signal),
    versionSuffix: chart.versionSuffix,
    values,
    former: former?.bytes,
  };
}

/** Renders the release that is wanted, as this revision. `former`: the revision whose values are kept. */
export async function renderRelease(
  action: "install" | "upgrade",
  revision: number,
  attempt: ReleaseAttempt,
  former?: StoredRevision,
): Promise<Rendered> {
  const { ctx, names, postRender } = attempt;
  const { deps, release, run, target } = ctx;
  const input = {
    ...(await chartInput(attempt, former)),
    release: { name: names.name, namespace: names.namespace, revision },
    action,
    postRender,
    ...(await capabilitiesOf(target, run.signal)),
    skipsSchemaValidation: release.spec[action]?.disableSchemaValidation === true,
  };
  return deps.helm.render(input, lookupIn(target), renderLimits, run.signal);
}
