import type { HelmReleaseSpec } from "../../../lib/api/helm-release-spec.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { HelmEngine, ReleaseRecord } from "../../../lib/core/ports/helm-engine.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { recordLimits } from "../../../lib/flows/helm-release/actions/revise.ts";
import type { ReleaseAttempt } from "../../../lib/flows/helm-release/attempt/attempt.ts";
import { releaseNames } from "../../../lib/helm/release-names.ts";
import type { ReleaseStore } from "../../../lib/helm/release-store.ts";
import { partOf } from "../../doubles/part-of.ts";
import { type Files, packed } from "../../unit/sources/helm/charts.ts";
import type { ActionScene } from "./action-scene.ts";

/** Of no values, as Helm and Flux write it. */
const noValues = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

export interface ChartOptions {
  readonly spec?: Partial<HelmReleaseSpec>;
  readonly token?: string;
  /** Of the chart. */
  readonly version?: string;
  /** Files of the chart besides its templates. */
  readonly files?: Files;
  /** Inline. */
  readonly values?: JsonObject;
  /** In place of that of the scene. */
  readonly store?: ReleaseStore;
}

/** The attempt to release a chart `app` with these templates as HelmRelease `app` of the scene, rendered by this engine. */
export async function chartAttempt(
  scene: ActionScene,
  helm: HelmEngine,
  templates: Files,
  {
    spec = {},
    token = "t",
    version = "1.0.0",
    files: others = {},
    values = {},
    store = scene.store,
  }: ChartOptions = {},
): Promise<ReleaseAttempt> {
  const ctx = await scene.context({ spec });
  const { namespace } = scene;
  const files = Object.fromEntries(Object.entries(templates).map(([name, text]) => [`templates/${name}.yaml`, text]));
  const chart = await packed({ "Chart.yaml": `apiVersion: v2\nname: app\nversion: ${version}\n`, ...files, ...others });
  const originLabels = { "helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": namespace };
  return partOf<ReleaseAttempt>({
    ctx,
    names: releaseNames(spec, { name: "app", namespace }),
    chart: { bytes: async () => chart, versionSuffix: "", ociDigest: "", metadata: { name: "app", version } },
    ...{ values: { from: [], inline: values }, references: [] },
    configDigest: noValues,
    postRender: { renderers: [], originLabels, strategy: "combined" },
    ...{ postRenderersDigest: "", commonMetadataDigest: "", token },
    healthRules: { ruleOf: () => undefined, isUnreconciled: () => false },
    store,
    observe: (record: ReleaseRecord, ociDigest: string) =>
      helm.observe(record.bytes, { tenant: noTenant, ociDigest }, recordLimits, ctx.run.signal),
  });
}
