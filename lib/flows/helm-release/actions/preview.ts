import type { HelmReleaseSpec } from "../../../api/helm-release-spec.ts";
import { dryRunMessage } from "../../../apply/refusals.ts";
import { formatEntryId } from "../../../apply/set/entry-id.ts";
import { mapLimit } from "../../../core/concurrency.ts";
import { isJsonObject, type JsonObject, toJsonObject } from "../../../core/json.ts";
import { type Manifest, refOf } from "../../../core/manifest.ts";
import type { VersionedRef } from "../../../core/object-ref.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import type { EngineLimits } from "../../../core/ports/engine.ts";
import type { HelmEngine, Hook, HookEvent, ObservedRelease } from "../../../core/ports/helm-engine.ts";
import type { TargetCluster } from "../../../core/ports/home-and-target.ts";
import { noTenant } from "../../../core/tenant.ts";
import type { ReleaseValues } from "../../../helm/read-values.ts";
import { type Hide, withoutSecrets } from "../../../helm/release-secrets.ts";
import { releaseNames } from "../../../helm/release-names.ts";
import { secretReleaseStore } from "../../../helm/secret-release-store.ts";
import { definitionsToApply } from "./definitions.ts";
import { type FieldChange, fieldChanges } from "./field-changes.ts";
import { hidingIn } from "./hide-secrets.ts";
import { releaseManager } from "./hook-object.ts";
import { releaseObjects } from "./release-objects.ts";
import { postRenderOf, renderRelease } from "./render.ts";

/** A HelmRelease to preview. */
export interface ReleaseToPreview {
  readonly name: string;
  readonly namespace: string;
  readonly spec: HelmReleaseSpec;
  /** The packaged chart. */
  readonly chart: Uint8Array;
  readonly values: ReleaseValues;
}

/** The outside services of a preview. It writes nothing. */
export interface PreviewDeps {
  readonly target: TargetCluster;
  readonly helm: Pick<HelmEngine, "observe" | "prepare" | "render">;
  readonly clock: Pick<Clock, "now">;
  /** Requests to the API server at the same time. */
  readonly concurrency: number;
}

export type PreviewedChange =
  | { readonly kind: "created" | "deleted" | "unchanged" }
  | { readonly kind: "changed"; readonly fields: readonly FieldChange[] }
  /** The API server refuses it, or cannot be asked yet. */
  | { readonly kind: "refused"; readonly message: string };

export interface PreviewedObject {
  readonly ref: VersionedRef;
  readonly change: PreviewedChange;
}

/** The effects of an install or upgrade. */
export interface Preview {
  readonly action: "install" | "upgrade";
  /** Definitions of `crds/` first, then the objects of the manifest, then what is deleted. */
  readonly objects: readonly PreviewedObject[];
  /** The hooks that would run, with when they do. They are not compared: each is created again. */
  readonly hooks: readonly { readonly ref: VersionedRef; readonly events: readonly HookEvent[] }[];
}

/**
 * Finds out what the next action of a release would do, by rendering it and by dry runs, and writes nothing. Objects are deleted if
 * only the deployed revision's manifest has them, unless their manifest says that they are kept.
 *
 * @throws HelmEngineError if the chart cannot be rendered; ApiError if the API server could not be asked
 */
export async function previewRelease(
  { chart, name, namespace, spec, values }: ReleaseToPreview,
  { clock, concurrency, helm, target }: PreviewDeps,
  signal: AbortSignal,
): Promise<Preview> {
  const names = releaseNames(spec, { name, namespace });
  const run = { key: noTenant, signal };
  const ctx = { deps: { helm, concurrency }, namespace, release: { spec }, run, target };
  const store = secretReleaseStore(names, { cluster: target, helm, clock, tenant: noTenant });
  const heads = await store.heads(signal);
  const [latest] = heads;
  const head = heads.find(({ status }) => status === "deployed") ?? latest;
  const deployed = head && (await store.read(head.version, "", signal));
  const action = latest === undefined ? "install" : "upgrade";
  const former = spec.upgrade?.preserveValues === true ? deployed : undefined;
  const rendering = {
    ctx,
    chart: {
      bytes: async () => chart,
      versionSuffix: await suffixOf(deployed?.observed, { chart, values }, helm, signal),
    },
    names,
    postRender: postRenderOf(spec, { name, namespace }),
    ...values,
  };
  const { crds, observed } = await renderRelease(action, (latest?.version ?? 0) + 1, rendering, former);
  const policy = spec[action]?.crds ?? "Create";
  const definitions = definitionsToApply(crds, policy, { name, namespace });
  const wanted = (await releaseObjects(observed, ctx)).map(({ manifest }) => manifest);
  const change = async (manifest: Manifest, stop: AbortSignal): Promise<PreviewedObject> => ({
    ref: refOf(manifest),
    change: await changeOf(manifest, target, stop),
  });
  const objects = await mapLimit([...definitions, ...wanted], concurrency, change, signal);
  const hide = await hidingIn(rendering, deployed === undefined ? [observed] : [observed, deployed.observed]);
  const applied = objects.map((object) => withoutSecretsIn(object, hide));
  const kept = new Set(applied.map(({ ref }) => formatEntryId(ref)));
  const gone = deployed === undefined ? [] : await deletedOf(deployed.observed, kept, ctx);
  const hooks = spec[action]?.disableHooks === true ? [] : hooksOf(observed, action);
  return { action, objects: [...applied, ...gone], hooks };
}

function withoutSecretsIn({ change, ref }: PreviewedObject, hide: Hide): PreviewedObject {
  if (change.kind === "refused") return { ref, change: { kind: "refused", message: hide(change.message) } };
  if (change.kind !== "changed") return { ref, change };
  const fields = change.fields.map(({ after, before, path }) => ({
    path,
    before: before === undefined ? undefined : withoutSecrets(before, hide.whole),
    after: after === undefined ? undefined : withoutSecrets(after, hide.whole),
  }));
  return { ref, change: { kind: "changed", fields } };
}

/**
 * The chart of an OCI artifact is marked in its version with the artifact's digest, which a chart that was not pushed does not have.
 * Under the deployed version it gets the same mark, so that the mark alone makes no difference.
 */
async function suffixOf(
  deployed: ObservedRelease | undefined,
  { chart, values }: Pick<ReleaseToPreview, "chart" | "values">,
  helm: Pick<HelmEngine, "prepare">,
  signal: AbortSignal,
): Promise<string> {
  const [, version, mark] = /^([^+]*)(\+[0-9a-f]{12})$/.exec(deployed?.chart.version ?? "") ?? [];
  if (version === undefined || mark === undefined) return "";
  const input = { tenant: noTenant, chart, versionSuffix: "", values: values.values };
  return (await helm.prepare(input, prepareLimits, signal)).chart.version === version ? mark : "";
}

const prepareLimits: EngineLimits = { maxCpuMs: 30_000, maxWallMs: 120_000, maxOutputBytes: 32 * 1024 * 1024 };

/** By a dry run of its apply, as an action sends it. */
async function changeOf(manifest: Manifest, target: TargetCluster, signal: AbortSignal): Promise<PreviewedChange> {
  const ref = refOf(manifest);
  try {
    const live = await target.get(ref, signal);
    const options = { manager: releaseManager, force: true, dryRun: true } as const;
    const { created, object } = await target.apply(manifest, options, signal);
    if (live === undefined || created) return { kind: "created" };
    const fields = fieldChanges(comparedOf(toJsonObject(live)), comparedOf(toJsonObject(object)));
    return fields.length === 0 ? { kind: "unchanged" } : { kind: "changed", fields };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: "refused", message: dryRunMessage({ ref }, error) };
  }
}

/** The fields that an apply may change: not the status, and not the API server's own metadata. */
function comparedOf({ metadata, status: _status, ...content }: JsonObject): JsonObject {
  const { annotations, labels } = isJsonObject(metadata) ? metadata : {};
  return {
    ...content,
    metadata: { ...(annotations === undefined ? {} : { annotations }), ...(labels === undefined ? {} : { labels }) },
  };
}

const keepAnnotation = "helm.sh/resource-policy";

async function deletedOf(
  former: ObservedRelease,
  kept: ReadonlySet<string>,
  ctx: Parameters<typeof releaseObjects>[1] & { readonly target: TargetCluster },
): Promise<readonly PreviewedObject[]> {
  const stale = (await releaseObjects(former, ctx)).filter(
    ({ manifest, ref }) =>
      !kept.has(formatEntryId(ref)) && manifest.metadata.annotations?.[keepAnnotation]?.toLowerCase() !== "keep",
  );
  const found = await mapLimit(
    stale,
    ctx.deps.concurrency,
    async ({ ref, resource }, stop) =>
      resource === undefined || (await ctx.target.get(ref, stop)) === undefined ? undefined : ref,
    ctx.run.signal,
  );
  return found.flatMap((ref) => (ref === undefined ? [] : [{ ref, change: { kind: "deleted" } as const }]));
}

function hooksOf({ hooks, namespace }: ObservedRelease, action: "install" | "upgrade"): Preview["hooks"] {
  const mine = (event: HookEvent): boolean => event === `pre-${action}` || event === `post-${action}`;
  return hooks.flatMap((hook: Hook) => {
    const events = hook.events.filter(mine);
    if (events.length === 0) return [];
    const ref = refOf(hook.manifest);
    return [{ ref: { ...ref, namespace: ref.namespace === "" ? namespace : ref.namespace }, events }];
  });
}
