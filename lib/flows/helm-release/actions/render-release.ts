import type { Json, JsonObject } from "../../../core/json.ts";
import { toJsonObject } from "../../../core/json.ts";
import { formatApiVersion, parseApiVersion } from "../../../core/object-ref.ts";
import type { EngineLimits } from "../../../core/ports/engine.ts";
import type { Lookup, Rendered } from "../../../core/ports/helm-engine.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";

/** To render a chart with its post-renderers. */
export const renderLimits: EngineLimits = { maxCpuMs: 60_000, maxWallMs: 120_000, maxOutputBytes: 64 * 2 ** 20 };

/** What a server says if it tells no version: Helm's own default is as new. */
const unknownVersion = "v1.35.0";

/** Renders the chart as a revision. `former`: the values of the last release that the new ones are laid over. */
export async function renderRelease(
  { chart, ctx, names, postRender, values }: ReleaseAttempt,
  action: "install" | "upgrade",
  revision: number,
  former: JsonObject | undefined,
): Promise<Rendered> {
  const { deps, namespace, release, run, target } = ctx;
  const { signal } = run;
  const input = {
    tenant: { cluster: run.key.cluster, namespace },
    chart: await chart.bytes(signal),
    versionSuffix: chart.versionSuffix,
    values: { ...values, ...(former === undefined ? {} : { former }) },
    release: { name: names.name, namespace: names.namespace, revision },
    action,
    postRender,
    kubeVersion: (await target.serverVersion?.(signal)) || unknownVersion,
    apiVersions: await apiVersionsOf(ctx),
    skipsSchemaValidation: release.spec[action]?.disableSchemaValidation === true,
  };
  return deps.helm.render(input, lookupIn(ctx), renderLimits, signal);
}

/** As Helm's capabilities: every group and version, and every kind in it. */
async function apiVersionsOf({ run, target }: HelmReleaseContext): Promise<readonly string[]> {
  const { resources } = await target.served(run.signal);
  const all = resources.flatMap(({ group, kind, version }) => {
    const apiVersion = formatApiVersion({ group, version });
    return [apiVersion, `${apiVersion}/${kind}`];
  });
  return [...new Set(["v1", ...all])].toSorted();
}

/** With the rights of the release's own account. */
function lookupIn({ target }: HelmReleaseContext): Lookup {
  return async ({ apiVersion, kind, name, namespace }, signal) => {
    const { group, version } = parseApiVersion(apiVersion);
    if ((await target.resource({ group, version, kind }, signal)) === undefined) {
      throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
    }
    if (name !== "") {
      const live = await target.get({ group, version, kind, namespace, name }, signal);
      return live === undefined ? undefined : toJsonObject(live);
    }
    const within = namespace === "" ? {} : { namespace };
    const items = await target.list({ group, version, kind, ...within }, signal);
    return { apiVersion, kind: `${kind}List`, items: items.map((item): Json => toJsonObject(item)) };
  };
}
