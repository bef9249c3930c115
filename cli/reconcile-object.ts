import { hasFluxStatus, type KindDeclaration, servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredImagePolicy } from "../lib/api/kinds/image-policy.ts";
import { declaredImageRepository } from "../lib/api/kinds/image-repository.ts";
import { declaredImageUpdateAutomation } from "../lib/api/kinds/image-update-automation.ts";
import { forceAtAnnotation, requestedAtAnnotation, resetAtAnnotation } from "../lib/api/names.ts";
import { type LiveObject, refOf } from "../lib/core/manifest.ts";
import type { VersionedRef } from "../lib/core/object-ref.ts";
import type { Patch } from "../lib/core/ports/cluster.ts";
import { hintElsewhere, withHint } from "./hint-elsewhere.ts";
import { generatedChartOf, sourceOf } from "./object-source.ts";
import { conditionOf, countAt, isSuspended, revisionOf, textAt } from "./objects/read-object.ts";
import { warnIfPaused } from "./pause-cluster.ts";
import { failureOf, progressOf, waitFor } from "./progress.ts";
import type { Session } from "./session.ts";

/** The field manager of the flux command: each of the two commands may change the fields that the other has set. */
export const manager = "flux";

/** How an object is reconciled. */
export interface Reconciling {
  /** The kinds of sources, if the object's source is to be reconciled first. */
  readonly withSource?: readonly KindDeclaration[];
  /** For a HelmRelease: whether it is installed or upgraded even if nothing has changed. */
  readonly force?: boolean;
  /** For a HelmRelease: whether its failure counts are reset. */
  readonly reset?: boolean;
}

/** `reconcile`: requests a reconciliation and waits until it has succeeded. Throws as soon as the requested run has failed. */
export async function reconcileObject(
  kind: KindDeclaration,
  name: string,
  how: Reconciling,
  session: Session,
): Promise<void> {
  const { cluster, terminal, namespace, signal } = session;
  const object = await loadObject(kind, name, session);
  if (kind.isStatic?.(object["spec"]) === true) {
    terminal.success("reconciliation not supported by the object");
    return;
  }
  if (isSuspended(kind, object)) throw new Error("resource is suspended");
  if (how.withSource !== undefined) await reconcileSource(kind, object, how.withSource, session);

  await warnIfPaused(session);
  terminal.action(`annotating ${kind.kind} ${name} in ${namespace} namespace`);
  const ref = { ...refOf(object), version: kind.versions[0] };
  const before = textAt(object, "status", "lastHandledReconcileAt");
  const patch: Patch = { type: "merge", body: { metadata: { annotations: annotationsOf(how) } } };
  await cluster.patch(ref, patch, { manager }, signal);
  terminal.success(`${kind.kind} annotated`);
  if (!hasFluxStatus(kind)) {
    terminal.success("a run is requested; its outcome is in the events of the object");
    return;
  }
  await awaitRequest(kind, ref, before, session);
}

/**
 * Waits until the run that was requested has succeeded, and says what it has done. Throws as soon as it has failed.
 *
 * @param before the request that was handled last before that
 */
export async function awaitRequest(
  kind: KindDeclaration,
  ref: VersionedRef,
  before: string,
  session: Session,
): Promise<void> {
  const { terminal } = session;
  terminal.waiting(`waiting for ${kind.kind} reconciliation`);
  const isHandled = (seen: LiveObject) => textAt(seen, "status", "lastHandledReconcileAt") !== before;
  const handled = await waitFor(
    ref,
    (seen) => {
      if (isHandled(seen) && isCurrent(seen)) return true;
      const failure = isLastRequestHandled(seen) ? failureOf(seen) : undefined;
      if (failure !== undefined) throw failedText(kind, failure);
      return false;
    },
    session,
  );
  terminal.success(doneText(kind, handled));
}

/** One value for all of them: a request to force or to reset belongs to the run that is requested with it. */
function annotationsOf({ force = false, reset = false }: Reconciling): Readonly<Record<string, string>> {
  const at = requestTime();
  return {
    [requestedAtAnnotation]: at,
    ...(force ? { [forceAtAnnotation]: at } : {}),
    ...(reset ? { [resetAtAnnotation]: at } : {}),
  };
}

/** Ours, or one that came after it: an earlier request may be handled while ours waits. */
function isLastRequestHandled(object: LiveObject): boolean {
  return textAt(object, "status", "lastHandledReconcileAt") === object.metadata.annotations?.[requestedAtAnnotation];
}

function failedText({ kind }: KindDeclaration, message: string): Error {
  return new Error(`${kind} reconciliation failed: '${message}'`);
}

/** Whether the object is reconciled; throws if it will not be without a change. */
export function isCurrent(object: LiveObject): boolean {
  const progress = progressOf(object);
  switch (progress.kind) {
    case "current":
      return true;
    case "in progress":
      return false;
    case "failed":
      throw new Error(progress.message);
  }
}

/** The text for an object that is reconciled; throws unless its Ready condition is True. */
export function doneText(kind: KindDeclaration, object: LiveObject): string {
  const ready = conditionOf(object, "Ready");
  if (ready === undefined) throw new Error("status can't be determined");
  if (ready.status !== "True") throw failedText(kind, ready.message);
  return imageDoneText(kind, object, ready.message) ?? `${kind.words.done} revision ${revisionOf(kind, object)}`;
}

/** As flux says it of the kinds of image automation; undefined for every other kind. */
function imageDoneText({ kind }: KindDeclaration, object: LiveObject, ready: string): string | undefined {
  switch (kind) {
    case declaredImageRepository.kind:
      return `scan fetched ${countAt(object, "status", "lastScanResult", "tagCount")} tags`;
    case declaredImagePolicy.kind: {
      const part = (name: string): string => textAt(object, "status", "latestRef", name);
      return `selected ref ${part("name")}:${part("tag")}${part("digest") === "" ? "" : `@${part("digest")}`}`;
    }
    case declaredImageUpdateAutomation.kind:
      return ready;
    default:
      return undefined;
  }
}

/** The object; throws a text that names the namespaces in which there is one. */
export async function loadObject(kind: KindDeclaration, name: string, session: Session): Promise<LiveObject> {
  const { cluster, namespace, signal } = session;
  const object = await cluster.get({ ...servedKind(kind), namespace, name }, signal);
  if (object !== undefined) return object;
  const absent = `${kind.kind} object '${name}' not found in "${namespace}" namespace`;
  throw new Error(withHint(absent, await hintElsewhere(kind, name, session)));
}

/** The source first; of a chart, before it, the source that the chart is made from, as flux does it for HelmReleases. */
async function reconcileSource(
  kind: KindDeclaration,
  object: LiveObject,
  sources: readonly KindDeclaration[],
  session: Session,
): Promise<void> {
  const wanted = generatedChartOf(kind, object) ?? sourceOf(kind, object);
  if (wanted === undefined) throw new Error(`${kind.kind} ${object.metadata.name} names no source`);
  const source = sources.find((each) => each.kind === wanted.kind);
  if (source === undefined)
    throw new Error(`sources of kind ${wanted.kind} are not supported yet: leave out --with-source`);
  const within = { ...session, namespace: wanted.namespace, isNamespaceGiven: true };
  const how = source.sourceRefs === undefined ? {} : { withSource: sources };
  await reconcileObject(source, wanted.name, how, within);
}

/** A value that no earlier request had. Two machines at the same moment get different last digits. */
export function requestTime(): string {
  const nanos = String(process.hrtime.bigint() % 1_000_000n).padStart(6, "0");
  return new Date().toISOString().replace("Z", `${nanos}Z`);
}
