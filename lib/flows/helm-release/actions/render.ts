import type { EngineLimits } from "../../../core/ports/engine.ts";
import type { Rendered } from "../../../core/ports/helm-engine.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { lookupIn } from "./lookup.ts";

/** To render a chart: one of 333 objects takes two seconds. */
export const renderLimits: EngineLimits = { maxCpuMs: 60_000, maxWallMs: 240_000, maxOutputBytes: 32 * 1024 * 1024 };

/** Renders the release that is wanted, as this revision. */
export async function renderRelease(
  action: "install" | "upgrade",
  revision: number,
  { chart, ctx, names, postRender, values }: ReleaseAttempt,
): Promise<Rendered> {
  const { deps, release, run, target } = ctx;
  const input = {
    tenant: { cluster: run.key.cluster, namespace: ctx.namespace },
    chart: await chart.bytes(run.signal),
    versionSuffix: chart.versionSuffix,
    values,
    release: { name: names.name, namespace: names.namespace, revision },
    action,
    postRender,
    ...(await capabilitiesOf(target, run.signal)),
    skipsSchemaValidation: release.spec[action]?.disableSchemaValidation === true,
  };
  return deps.helm.render(input, lookupIn(target), renderLimits, run.signal);
}
