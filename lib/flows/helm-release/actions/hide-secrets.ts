import { isJsonList, isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { Manifest } from "../../../core/manifest.ts";
import type { EngineLimits } from "../../../core/ports/engine.ts";
import type { HelmEngine, ObservedRelease, ValuesToCompose } from "../../../core/ports/helm-engine.ts";
import type { ReleaseValues } from "../../../helm/read-values.ts";
import { type Hide, hidingSecrets } from "../../../helm/release-secrets.ts";
import { type NamedLayer, valuesLayers } from "../../../helm/values-layers.ts";
import type { ActionEnd } from "../attempt/action.ts";

/** To load a chart and compose values. */
const composeLimits: EngineLimits = { maxCpuMs: 30_000, maxWallMs: 120_000, maxOutputBytes: 32 * 1024 * 1024 };

/** The parts of an attempt by which a value that came from a Secret is known. */
export interface HidingFor extends ReleaseValues {
  readonly ctx: {
    readonly deps: { readonly helm: Pick<HelmEngine, "prepare"> };
    readonly namespace: string;
    readonly run: { readonly key: { readonly cluster: string }; readonly signal: AbortSignal };
  };
  readonly chart: { readonly bytes: (signal: AbortSignal) => Promise<Uint8Array> };
}

/** A revision whose values and objects a text may quote. */
export type QuotedRevision = Pick<ObservedRelease, "hooks" | "objects" | "values">;

/**
 * A function that hides the values of Secrets in texts about a release ({@link hidingSecrets}). It calls the engine once for each
 * reference to values, so call it only after a failure.
 *
 * @param revisions also those whose values or objects the texts may quote
 */
export async function hidingIn(attempt: HidingFor, revisions: readonly QuotedRevision[]): Promise<Hide> {
  const { references, values } = attempt;
  const texts = references.flatMap((reference, place) => {
    const text = values.from[place]?.text;
    return text === undefined ? [] : [{ text, reference }];
  });
  const hasSecrets = references.some(({ kind }) => kind === "Secret");
  const isAsked = hasSecrets || revisions.length > 0;
  const layers = isAsked ? await layersOf(attempt) : [];
  return hidingSecrets({ texts, layers, ...quotedBy(revisions, lookedUp.get(attempt.ctx) ?? []) });
}

/** By the context of a run: the Secrets that its templates have looked up. A value of one may be in any object that they render. */
const lookedUp = new WeakMap<object, Manifest[]>();

/** Has the texts about this run hide the Secrets in the answer of a lookup. */
export function hideLookedUp(answer: JsonObject | undefined, ctx: HidingFor["ctx"]): void {
  lookedUp.set(ctx, [...(lookedUp.get(ctx) ?? []), ...secretsIn(answer)]);
}

function quotedBy(revisions: readonly QuotedRevision[], found: readonly Manifest[]) {
  const objects = revisions.flatMap(({ hooks, objects: applied }) => [...hooks, ...applied]);
  return {
    stored: revisions.map(({ values }) => values),
    objects: [...objects.map(({ manifest }) => manifest), ...found],
  };
}

/** Undefined if the values cannot be composed: a text about that may quote them too. */
async function layersOf({ chart, ctx, references, values }: HidingFor): Promise<readonly NamedLayer[] | undefined> {
  const { deps, namespace, run } = ctx;
  const tenant = { cluster: run.key.cluster, namespace };
  try {
    let bytes: Promise<Uint8Array> | undefined;
    const compose = async (composed: ValuesToCompose): Promise<JsonObject> => {
      bytes ??= chart.bytes(run.signal);
      const input = { tenant, chart: await bytes, versionSuffix: "", values: composed };
      return (await deps.helm.prepare(input, composeLimits, run.signal)).values;
    };
    return await valuesLayers({ references, values }, compose);
  } catch {
    // Whatever is wrong with the chart or the engine: the failure that is shown came first.
    run.signal.throwIfAborted();
    return undefined;
  }
}

type FailedAction = Extract<ActionEnd, { kind: "failed" }>;

/** A failed action without the values of Secrets in its texts. */
export async function hidingEnd(end: FailedAction, attempt: HidingFor): Promise<FailedAction> {
  return shownBy(await hidingIn(attempt, observedIn(end)), end);
}

/** The same without values and chart, as for a deletion: only `spec.values` is known not to come from a Secret. */
export function hidingStored(end: FailedAction, inline: unknown): FailedAction {
  const layers = isJsonObject(inline) ? [{ values: inline, reference: undefined }] : [];
  return shownBy(hidingSecrets({ texts: [], layers, ...quotedBy(observedIn(end), []) }), end);
}

function observedIn({ written }: FailedAction): readonly QuotedRevision[] {
  return written.map(({ record }) => record.observed);
}

function shownBy(hide: (text: string) => string, end: FailedAction): FailedAction {
  return { ...end, message: hide(end.message), log: end.log.map(hide) };
}

/** The Secrets in the answer of a lookup: the object itself, or the items of a list. */
function secretsIn(answer: JsonObject | undefined): readonly Manifest[] {
  if (answer === undefined) return [];
  const { items: listed } = answer;
  const items = listed !== undefined && isJsonList(listed) ? listed.filter(isJsonObject) : [answer];
  return items.map(({ data, stringData }) => ({
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "" } },
    ...(data === undefined ? {} : { data }),
    ...(stringData === undefined ? {} : { stringData }),
  }));
}
