import type { HelmReleaseSpec } from "../../../api/helm-release-spec.ts";
import { effectivePatches } from "../../../api/kustomization.ts";
import { helmGroup, ownerLabels } from "../../../api/names.ts";
import { toJsonObject } from "../../../core/json.ts";
import type { EngineLimits } from "../../../core/ports/engine.ts";
import {
  type HelmEngine,
  HelmEngineError,
  type Lookup,
  type PostRender,
  type Rendered,
  type RenderedObject,
  type ValuesToCompose,
} from "../../../core/ports/helm-engine.ts";
import type { TargetCluster } from "../../../core/ports/home-and-target.ts";
import type { ReleaseValues } from "../../../helm/read-values.ts";
import type { ReleaseNames } from "../../../helm/release-names.ts";
import type { StoredRevision } from "../../../helm/release-store.ts";
import { explainSchemaFault, isSchemaFault } from "../../../helm/schema-fault.ts";
import { valuesLayers } from "../../../helm/values-layers.ts";
import type { ReleaseAttempt, ReleaseChart } from "../attempt/attempt.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { hideLookedUp, hidingIn } from "./hide-secrets.ts";
import { lookupIn } from "./lookup.ts";

/** To render a chart: one of 333 objects takes two seconds. */
export const renderLimits: EngineLimits = { maxCpuMs: 60_000, maxWallMs: 240_000, maxOutputBytes: 32 * 1024 * 1024 };

/** To load a chart and read `crds/`. */
const definitionLimits: EngineLimits = { maxCpuMs: 30_000, maxWallMs: 120_000, maxOutputBytes: 32 * 1024 * 1024 };

/** The parts of an attempt that decide about the rendered objects. */
export interface Rendering {
  readonly ctx: {
    readonly deps: { readonly helm: Pick<HelmEngine, "prepare" | "render"> };
    readonly namespace: string;
    readonly release: { readonly spec: Pick<HelmReleaseSpec, "install" | "upgrade"> };
    readonly run: { readonly key: { readonly cluster: string }; readonly signal: AbortSignal };
    readonly target: TargetCluster;
  };
  readonly chart: Pick<ReleaseChart, "bytes" | "versionSuffix">;
  readonly names: Pick<ReleaseNames, "name" | "namespace">;
  readonly postRender: PostRender;
  readonly values: ValuesToCompose;
  /** The entries of `spec.valuesFrom` that gave `values.from`, in their order. */
  readonly references: ReleaseValues["references"];
}

/** The content of `crds/` in the wanted release's chart. It is applied before the release is rendered, since templates may look it up. */
export async function releaseDefinitions(
  attempt: ReleaseAttempt,
  former?: StoredRevision,
): Promise<readonly RenderedObject[]> {
  const { deps, run } = attempt.ctx;
  return deps.helm.definitions(await chartInput(attempt, former), definitionLimits, run.signal);
}

async function chartInput({ chart, ctx, values }: Rendering, former: StoredRevision | undefined) {
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
  rendering: Rendering,
  former?: StoredRevision,
): Promise<Rendered> {
  const { ctx, names, postRender } = rendering;
  const { deps, release, run, target } = ctx;
  const input = {
    ...(await chartInput(rendering, former)),
    release: { name: names.name, namespace: names.namespace, revision },
    action,
    postRender,
    ...(await capabilitiesOf(target, run.signal)),
    skipsSchemaValidation: release.spec[action]?.disableSchemaValidation === true,
  };
  const lookup = lookupIn(target);
  const looking: Lookup = async (query, signal) => {
    const found = await lookup(query, signal);
    if (query.kind === "Secret") hideLookedUp(found, ctx);
    return found;
  };
  try {
    return await deps.helm.render(input, looking, renderLimits, run.signal);
  } catch (error) {
    if (!(error instanceof HelmEngineError)) throw error;
    if (isSchemaFault(error.message)) throw await schemaFault(error, input, rendering);
    const hide = await hidingIn(rendering, former === undefined ? [] : [former.observed]);
    throw withoutSecretsOf(error, hide);
  }
}

/** The error without the values of Secrets. If it had any, it has no cause, since that would still show them. */
function withoutSecretsOf(error: HelmEngineError, hide: (text: string) => string): HelmEngineError {
  const message = hide(error.message);
  return message === error.message ? error : new HelmEngineError(error.reason, message);
}

/**
 * Helm's error, with where each value comes from. The values are composed again, since the message names only their paths. It has no
 * cause: Helm's message may quote a Secret.
 */
async function schemaFault(
  { message, reason }: HelmEngineError,
  { chart, former, tenant }: Awaited<ReturnType<typeof chartInput>>,
  { ctx, references, values }: Rendering,
): Promise<HelmEngineError> {
  const { deps, namespace, run } = ctx;
  const compose = (composed: ValuesToCompose) =>
    deps.helm.prepare({ tenant, chart, versionSuffix: "", values: composed }, definitionLimits, run.signal);
  const whole = await compose(values);
  const layers = await valuesLayers({ references, values }, async (each) => (await compose(each)).values);
  const { name } = whole.chart;
  const keepsFormer = former !== undefined;
  const refused = { chart: name, namespace, merged: whole.values, layers, keepsFormer };
  return new HelmEngineError(reason, explainSchemaFault(message, refused));
}

/** The further processing of the rendered templates, by the spec of a HelmRelease. */
export function postRenderOf(
  { commonMetadata, postRenderers = [], postRenderStrategy = "combined" }: HelmReleaseSpec,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): PostRender {
  return {
    renderers: postRenderers.map((renderer) => toJsonObject(inPresentForm(renderer))),
    ...(commonMetadata === undefined ? {} : { commonMetadata }),
    originLabels: ownerLabels({ name, namespace, labelGroup: helmGroup }),
    strategy: postRenderStrategy,
  };
}

/** Fields of former API versions as the present one has them. */
function inPresentForm({ kustomize }: NonNullable<HelmReleaseSpec["postRenderers"]>[number]) {
  if (kustomize === undefined) return {};
  const { images, ...patches } = kustomize;
  const all = effectivePatches(patches);
  return {
    kustomize: { ...(images === undefined ? {} : { images }), ...(all.length === 0 ? {} : { patches: all }) },
  };
}
