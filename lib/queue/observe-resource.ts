import { z } from "zod";
import { isPausedBy, type KindDeclaration, kindOf } from "../api/kinds/declaration.ts";
import { declaredKinds } from "../api/kinds/declared-kinds.ts";
import { followedMark } from "../api/kinds/followed-mark.ts";
import { finalizer, requestedAtAnnotation } from "../api/names.ts";
import { selectionDigest } from "../api/selectable-metadata.ts";
import type { Metadata } from "../core/manifest.ts";
import type { NotReady, ObservedResources } from "../core/ports/observed-resources.ts";
import type { ReconcileRequests } from "../core/ports/reconcile-requests.ts";
import type { Subscriptions } from "../core/ports/subscriptions.ts";
import { selectionTopic, specTopic } from "../core/topics.ts";
import { formatWorkKey, type WorkKey } from "../core/work-key.ts";

export interface ObserveDeps {
  readonly observed: Omit<ObservedResources, "markNotReady" | "markReady">;
  readonly requests: ReconcileRequests;
  /** The parts of an object whose change counts; by default those of a custom resource that ask for a run. */
  readonly summaryOf?: (metadata: Metadata) => string;
  /** Where Receivers subscribe to the custom resources that they select. */
  readonly subscriptions: Pick<Subscriptions, "subscribers">;
}

/** An object as a watch or a list shows it. */
export interface WatchedResource {
  readonly key: WorkKey;
  readonly metadata: Metadata;
}

/**
 * Asks for a run of a custom resource that is new, or whose spec, requested time, pause or deletion is new. Answers whether it asked.
 * Wakes the Receivers that may select it if it is new, or if its labels or annotations are. The summary is stored last, so that a
 * crash in between costs a run and loses none.
 */
export async function observeResource(
  resource: WatchedResource,
  deps: ObserveDeps,
  signal: AbortSignal,
): Promise<boolean> {
  return observe(resource, await deps.observed.get(resource.key, signal), deps, signal);
}

async function observe(
  { key, metadata }: WatchedResource,
  before: string | undefined,
  deps: ObserveDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const own = deps.summaryOf?.(metadata) ?? summaryOfResource(key, metadata);
  const selection = isSelectable(deps) ? selectionDigest(metadata) : "";
  const summary = `${selection}${own}`;
  if (before === summary) return false;
  const isRun = !isSelectable(deps) || before === undefined || !(before.endsWith(own) || isOnlyUnasked(before, own));
  if (isRun) await deps.requests.request(key, "resource changed", signal);
  if (before === undefined || !before.startsWith(selection)) await announceSelection(key, deps, signal);
  if (isSpecFollowed(key, deps) && isSpecNew(before, own)) await announceSpec(key, deps, signal);
  await deps.observed.put(key, summary, signal);
  return isRun;
}

/** Receivers select among custom resources only. */
function isSelectable({ summaryOf }: ObserveDeps): boolean {
  return summaryOf === undefined;
}

async function announceSelection(key: WorkKey, deps: ObserveDeps, signal: AbortSignal): Promise<void> {
  if (!isSelectable(deps)) return;
  const { requests, subscriptions } = deps;
  for (const receiver of await subscriptions.subscribers(selectionTopic(key), signal)) {
    await requests.request(receiver, "what it selects changed", signal);
  }
}

function isSpecFollowed(key: WorkKey, deps: ObserveDeps): boolean {
  const kind: KindDeclaration | undefined = kindOf(key, declaredKinds);
  return isSelectable(deps) && kind?.isSpecFollowed === true;
}

async function announceSpec(
  key: WorkKey,
  { requests, subscriptions }: ObserveDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const follower of await subscriptions.subscribers(specTopic(key), signal)) {
    await requests.request(follower, `spec of ${key.kind}/${key.namespace}/${key.name} changed`, signal);
  }
}

/** Asks for a last run of a custom resource that was deleted, so that its flow can end its subscriptions, and wakes what uses its spec. */
export async function observeGone(key: WorkKey, deps: ObserveDeps, signal: AbortSignal): Promise<void> {
  await deps.requests.request(key, "resource gone", signal);
  await announceSelection(key, deps, signal);
  if (isSpecFollowed(key, deps)) await announceSpec(key, deps, signal);
  await deps.observed.remove(key, signal);
}

/** The result of a list of all resources of a kind. */
export interface Observed {
  /** How many runs were asked for. */
  readonly asked: number;
  /** The objects that are there and marked. */
  readonly notReady: readonly MarkedResource[];
}

/** An object whose last run left it not Ready. */
export interface MarkedResource extends NotReady {
  readonly key: WorkKey;
}

/** Compares the list of all resources of a kind in a cluster with the stored summaries, and asks for runs of what differs. */
export async function observeAll(
  kind: Pick<WorkKey, "cluster" | "group" | "kind">,
  present: readonly WatchedResource[],
  deps: ObserveDeps,
  signal: AbortSignal,
): Promise<Observed> {
  const seen = await deps.observed.list(kind, signal);
  const before = new Map(seen.map(({ key, summary }) => [formatWorkKey(key), summary]));
  let asked = 0;
  for (const resource of present) {
    if (await observe(resource, before.get(formatWorkKey(resource.key)), deps, signal)) asked += 1;
  }
  const there = new Set(present.map(({ key }) => formatWorkKey(key)));
  for (const { key } of seen) {
    if (there.has(formatWorkKey(key))) continue;
    await observeGone(key, deps, signal);
    asked += 1;
  }
  const notReady = seen.flatMap(({ key, notReady: mark }) =>
    mark !== undefined && there.has(formatWorkKey(key)) ? [{ key, ...mark }] : [],
  );
  return { asked, notReady };
}

/** Whether nothing but the requested time is gone. In Flux too that is not a request. */
function isOnlyUnasked(before: string, own: string): boolean {
  const read = summaryIn(before);
  if (read === undefined) return false;
  const [uid, generation, , ...rest] = read;
  return own === JSON.stringify([uid, generation, null, ...rest]);
}

/** Whether the object is new, or its generation is. */
function isSpecNew(before: string | undefined, own: string): boolean {
  const read = before === undefined ? undefined : summaryIn(before);
  const now = summaryIn(own);
  return read?.[0] !== now?.[0] || read?.[1] !== now?.[1];
}

const pausedMark = "paused";
const finalizerMark = "finalizer";
const Summary = z.tuple([z.string(), z.number(), z.string().nullable(), z.boolean()]).rest(z.string());

/** What a stored summary says, behind the digest of what Receivers select by; undefined for one of another form. */
function summaryIn(stored: string): z.output<typeof Summary> | undefined {
  return Summary.safeParse(JSON.parse(stored.slice(stored.indexOf("[")))).data;
}

/** The parts of a resource whose change asks for a run: its identity and the fields of Flux's predicates. */
function summaryOfResource(key: WorkKey, metadata: Metadata): string {
  const { uid = "", generation = 0, annotations = {}, deletionTimestamp, finalizers = [] } = metadata;
  const kind: KindDeclaration | undefined = kindOf(key, declaredKinds);
  // Only of a paused object, so that the summaries that earlier releases have stored of all others still hold.
  const pause = isPausedBy(kind?.pausedBy, annotations) ? [pausedMark] : [];
  const hold = kind?.isFinalizerFollowed === true && finalizers.includes(finalizer) ? [finalizerMark] : [];
  const requestedAt = annotations[requestedAtAnnotation] ?? null;
  const mark = kind === undefined ? [] : followedMark(kind, annotations);
  return JSON.stringify([uid, generation, requestedAt, deletionTimestamp !== undefined, ...pause, ...hold, ...mark]);
}
